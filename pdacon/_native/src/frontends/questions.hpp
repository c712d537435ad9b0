// What questions say of values of each type, and whether any value might satisfy one.
//
// In: questions, which are formulas over schemas that a value satisfies or not; what a schema says of values
// of one type, which is asked for where it is not known. Out: formulas over facts about values of that type.
// A type is a number; where the types of a conjunction are known to be few, the others are not asked about.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "regular/formulas.hpp"

namespace pdacon {

// What is known of schemas, by the variable that says that a value satisfies one. Answers may make formulas.
class AboutSchemas {
  public:
    virtual ~AboutSchemas() = default;
    // The types of which its values plainly are, ascending.
    virtual std::vector<std::int32_t> types(std::int32_t variable) = 0;
    // What it says of the values of a type.
    virtual std::int32_t meaning(std::int32_t variable, std::int32_t type) = 0;
    // The values, as numbers, of a fact that says that a string or a number is one of them; ascending.
    virtual std::optional<std::vector<std::int32_t>> values(std::int32_t variable) = 0;
    // The values, as numbers, that a schema takes which lists them; ascending.
    virtual std::optional<std::vector<std::int32_t>> listed(std::int32_t variable) = 0;
    // Whether a formula about strings or about numbers holds for any: no only where that is plain.
    virtual bool holds_for_any(std::int32_t formula, std::int32_t type) = 0;
};

class Questions {
  public:
    // `scalar` says of each type whether its values are strings or numbers.
    Questions(Formulas& formulas, std::vector<std::uint8_t> scalar)
        : formulas_(formulas),
          scalar_(std::move(scalar)),
          meanings_(scalar_.size(), Substitution(formulas)) {}

    // The types of which a value may satisfy a question, as far as that is plain; ascending. Valid until the
    // object is gone.
    const std::vector<std::int32_t>& types(AboutSchemas& about, std::int32_t question);
    // A question as a formula over facts about values of one type. Throws std::out_of_range.
    std::int32_t meaning(AboutSchemas& about, std::int32_t question, std::int32_t type);
    // Whether any value might satisfy a question: no only where that is plain.
    bool possible(AboutSchemas& about, std::int32_t question);
    using Values = std::optional<std::vector<std::int32_t>>;
    // The values, as numbers, that satisfy a question, where schemas list them; ascending. Valid as above.
    const Values& listed(AboutSchemas& about, std::int32_t question);

  private:
    bool possible_as(AboutSchemas& about, std::int32_t question, std::int32_t type);
    // Whether a formula holds for any value, where it only says of which lists a value is one; else nothing.
    std::optional<bool> plainly_possible(AboutSchemas& about, std::int32_t formula);
    const std::vector<std::int32_t>& types_of_schema(AboutSchemas& about, std::int32_t variable);
    const Values& values(AboutSchemas& about, std::int32_t variable);

    Formulas& formulas_;
    std::vector<std::uint8_t> scalar_;
    std::vector<Substitution> meanings_;  // by type
    std::unordered_map<std::int32_t, std::vector<std::int32_t>> types_, types_of_schemas_;
    std::unordered_map<std::int32_t, Values> values_, listed_;
    std::unordered_map<std::int32_t, bool> possible_;
};

}  // namespace pdacon
