// What the members of an object and the items of an array are asked of which the facts are those of a usual
// schema (usual_schemas.hpp).
//
// In: what the schema says, as questions and variables. Out: its steps, without a call of Python.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "bindings/usual_schemas.hpp"

namespace pdacon {

// What the members of an object are asked of which the facts are those of a usual schema: that members of
// some names satisfy questions, and that some names are there.
class UsualMembers final : public AboutMembers {
  public:
    UsualMembers(Formulas& formulas, UsualSchemas::Possible possible)
        : formulas_(formulas), possible_(std::move(possible)) {}

    std::int32_t listing = -1;  // the variable of the members; -1: nothing is said of them
    Vector questions;           // of the listed names, then of the classes of others
    std::vector<std::optional<std::int32_t>> terminals;       // of these classes
    std::unordered_map<std::int32_t, std::int32_t> required;  // by variable, the name
    bool is_in_order = true;                                  // whether the names come in their order

    Step step(std::int32_t variable, std::int32_t read) override {
        if (variable != listing) return {Formulas::kTrue, Formulas::kTrue, Formulas::kTrue, Formulas::kFalse};
        const bool is_last =
            is_in_order && others_are_free() && read + 1 == static_cast<std::int32_t>(names());
        const auto same = is_last ? Formulas::kTrue : formulas_.variable(variable);
        return {questions[static_cast<std::size_t>(read)], same, Formulas::kFalse, same};
    }
    std::optional<Vector> concerns(std::int32_t variable) override {
        if (variable != listing) return Vector{required.at(variable)};
        if (!others_are_free() || names() == 0) return std::nullopt;
        Vector all(names());
        for (std::size_t name = 0; name < all.size(); ++name) all[name] = static_cast<std::int32_t>(name);
        return all;
    }
    std::optional<Vector> changes_without(std::int32_t variable) override {
        if (variable != listing) return Vector{required.at(variable)};
        if (!is_in_order || !others_are_free() || names() == 0) return Vector{};
        return Vector{static_cast<std::int32_t>(names()) - 1};
    }
    bool at_end(std::int32_t variable) override { return variable == listing; }
    std::optional<std::int32_t> terminal(std::int32_t read) override {
        return terminals[static_cast<std::size_t>(read) - names()];
    }
    bool possible(std::int32_t question) override { return possible_(question); }
    std::optional<Vector> listed(std::int32_t) override { return std::nullopt; }
    void look() override {}

  private:
    std::size_t names() const { return questions.size() - terminals.size(); }
    // Whether nothing is asked of members that are not listed.
    bool others_are_free() const {
        return std::all_of(questions.end() - static_cast<std::ptrdiff_t>(terminals.size()), questions.end(),
                           [](auto question) { return question == Formulas::kTrue; });
    }

    Formulas& formulas_;
    UsualSchemas::Possible possible_;
};

// The same of an array's items.
class UsualItems final : public AboutMembers {
  public:
    UsualItems(Formulas& formulas, UsualSchemas::Possible possible)
        : formulas_(formulas), possible_(std::move(possible)) {}

    std::int32_t rest = -1, question = Formulas::kTrue;  // the variable of the items
    Vector counts;                                       // variables: that there are more than so many

    Step step(std::int32_t variable, std::int32_t) override {
        const auto same = formulas_.variable(variable);
        if (variable == rest) return {question, same, Formulas::kFalse, same};
        const auto count = std::ranges::find(counts, variable);
        const auto less = count == counts.begin() ? Formulas::kTrue : formulas_.variable(*(count - 1));
        return {Formulas::kTrue, less, same, same};
    }
    std::optional<Vector> concerns(std::int32_t) override { return std::nullopt; }
    bool at_end(std::int32_t variable) override { return variable == rest; }
    std::optional<std::int32_t> terminal(std::int32_t) override { return std::nullopt; }
    bool possible(std::int32_t asked) override { return possible_(asked); }
    std::optional<Vector> listed(std::int32_t) override { return std::nullopt; }
    void look() override {}

  private:
    Formulas& formulas_;
    UsualSchemas::Possible possible_;
};

}  // namespace pdacon
