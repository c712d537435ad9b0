// Pending controls on the quotient of the lexer by its futures: a label with the set of all residues that it
// may leave, wherever its lexeme goes on from a future.
//
// Sets of residues in place of single ones keep the controls few: one for each label of a future, and for
// each class of columns of a newline. Nothing is lost, because only acceptance is asked for, and a control
// reaches it if any one of its residues does.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "liveness/pending_controls.hpp"

namespace pdacon {

class QuotientControls final : public PendingControls {
  public:
    using PendingControls::PendingControls;

    // The controls of a set of emissions: one for each label and class of columns.
    const std::vector<std::int32_t>& of_set(std::int32_t set);

  private:
    std::vector<Successor> lexed(std::int32_t context, std::span<const std::int32_t> residues) override;

    std::unordered_map<std::int32_t, std::vector<std::int32_t>> of_set_;
};

}  // namespace pdacon
