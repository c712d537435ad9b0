// The matchers of a step, found out once for as long as the same ones come in the same order.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/batches.hpp"
#include "matching/mask_arena.hpp"
#include "matching/matcher.hpp"

namespace pdacon {

// A matcher, null for None, and where an arena has the rows of its masks.
struct StepMember {
    Matcher* matcher;
    const void* owner = nullptr;  // whose entries these are: a matcher may go over to another owner
    const MaskArena::Entries* entries = nullptr;
};

class StepMembers {
  public:
    // Throws for what is no matcher, or one whose masks have more than `words` words.
    StepMembers(nanobind::handle matchers, std::size_t words) : kept_(matchers, true) {
        namespace nb = nanobind;
        const void* known = nullptr;  // an owner of matchers, whose masks are not too long
        Matcher::Uses uses(kept_.all().size());
        members_.reserve(kept_.all().size());
        for (std::size_t at = 0; at < kept_.all().size(); ++at) {
            auto* const matcher = kept_.all()[at];
            members_.push_back({matcher});
            if (matcher == nullptr) continue;
            if (matcher->owner() != known && matcher->tokens().words() > words)
                throw nb::value_error((place_in_batch(at) + " has masks of " +
                                       std::to_string(matcher->tokens().words()) +
                                       " words, the table rows of " + std::to_string(words) +
                                       ": they are for another vocabulary")
                                          .c_str());
            known = matcher->owner();
            // One that is in use here has come before, or another thread has it.
            if (!repeated_ && !uses.add(*matcher) && is_among(kept_.all(), at)) repeated_ = at;
        }
    }

    bool are(nanobind::handle matchers) const { return kept_.are(matchers); }
    std::span<StepMember> all() { return members_; }
    // `times_forgotten`: of the arena, whose entries are gone if that has changed.
    void begin_step(std::uint64_t times_forgotten) {
        if (std::exchange(times_forgotten_, times_forgotten) == times_forgotten) return;
        for (auto& member : members_) member.entries = nullptr;
    }
    // The first that has come before.
    const std::optional<std::size_t>& repeated() const { return repeated_; }

  private:
    static bool is_among(std::span<Matcher* const> matchers, std::size_t at) {
        const auto before = matchers.first(at);
        return std::ranges::find(before, matchers[at]) != before.end();
    }

    KeptMatchers kept_;
    std::vector<StepMember> members_;
    std::uint64_t times_forgotten_ = 0;
    std::optional<std::size_t> repeated_;
};

}  // namespace pdacon
