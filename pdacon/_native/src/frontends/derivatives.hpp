// What is left of formulas about an object or an array when a member or an item has been read.
//
// In: a vector of formulas about the same value, of which at most one holds, and what each fact becomes when
// something is read, which is asked for where it is not known. Out: vectors of formulas about the rest, each
// with the question that what was read then satisfies.
//
// Source: J. Brzozowski, "Derivatives of Regular Expressions", Journal of the ACM 11(4), 1964, for the idea:
// a formula about the whole becomes one about the rest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/interner.hpp"
#include "regular/formulas.hpp"

namespace pdacon {

using Vector = std::vector<std::int32_t>;

// What one fact becomes: `yes` if what was read satisfies the question, else `no`.
struct Step {
    std::int32_t question, yes, no;
    std::int32_t left_out;  // what it becomes where nothing of the kind is read any more
};

// What is known of the facts that formulas are about. Its answers may make formulas.
class AboutFacts {
  public:
    virtual ~AboutFacts() = default;
    // What a fact becomes when something is read: a member of a name, or an item.
    virtual Step step(std::int32_t variable, std::int32_t read) = 0;
    // What a fact speaks of, ascending: whatever else is read need not satisfy anything, and leaves the fact
    // as it is. Nothing: it speaks of all.
    virtual std::optional<Vector> concerns(std::int32_t variable) = 0;
    // Of a fact, ascending, what it is not the same behind, if it is left out; nothing: any of what it speaks
    // of.
    virtual std::optional<Vector> changes_without(std::int32_t) { return std::nullopt; }
    // Whether a fact holds if nothing more comes.
    virtual bool at_end(std::int32_t variable) = 0;
    // Whether any value might satisfy a question.
    virtual bool possible(std::int32_t question) = 0;
    // The values, as numbers, that satisfy a question which lists them; ascending. Nothing: it says more.
    virtual std::optional<Vector> listed(std::int32_t question) = 0;
    // Is called in every loop that input can make long, and may throw.
    virtual void look() = 0;
};

struct Outcome {
    Vector left;
    std::int32_t question;
};

// Answers are kept: it is for one object or array, in which what is read means the same everywhere.
class Derivatives {
  public:
    Derivatives(Formulas& formulas, AboutFacts& about) : formulas_(formulas), about_(about) {}

    // The vectors that reading something can lead to. The questions exclude one another, and a value that
    // satisfies none of them makes every formula false. Valid until the object is gone.
    const std::vector<Outcome>& outcomes(std::span<const std::int32_t> vector, std::int32_t read);
    // What is left if nothing of this kind is still to come.
    Vector without(std::span<const std::int32_t> vector, std::int32_t read);
    // The same of a range of what can be read, in turn.
    Vector without_range(std::span<const std::int32_t> vector, std::int32_t first, std::int32_t end);
    // Whether a formula holds if nothing more comes.
    bool at_end(std::int32_t formula);
    // What is asked of facts, which is remembered; see AboutFacts.
    bool holds_at_end(std::int32_t variable);
    const std::optional<Vector>& concerns(std::int32_t variable);
    // Whether a fact may change where something is read.
    bool is_concerned(std::int32_t variable, std::int32_t read);
    Step step(std::int32_t variable, std::int32_t read);
    // The variables of formulas; the last ones that were asked for are remembered.
    const Vector& support(std::span<const std::int32_t> formulas);

  private:
    // A question, and the variables that ask it.
    struct Asker {
        std::int32_t question;
        Vector variables;
    };
    // Some values: those for which the condition holds. `granted` are the questions that they satisfy of
    // those that list values, `denied` the others that they do not satisfy.
    struct Case {
        std::size_t at;
        std::int32_t condition;
        Vector left, granted;
        std::set<std::int32_t> denied;
    };
    // Askers whose questions list values, if there are several of them, and all others.
    struct Askers {
        std::vector<Asker> listed, others;
        std::vector<Vector> values;  // of `listed`
        Vector questions;            // of `listed`, ascending
    };
    std::vector<Outcome> found(Vector vector, std::int32_t read);
    // Variables that what is read decides, whatever its value, are true or false in the vector then.
    Askers askers(Vector& vector, std::int32_t read);
    std::vector<Case> cases_by_value(const Askers& asked, const Vector& vector, std::int32_t read);
    std::int32_t condition(const Askers& asked, const Vector& granted, std::span<const Vector> sets);
    void split(Case one, const Asker& asker, std::int32_t read, std::vector<Case>& pending);
    Vector refused(const Asker& asker, std::int32_t read);
    // What a case leaves when all that is asked has been answered.
    Vector answered(const Case& one, const Vector& listed, std::int32_t read);
    const std::optional<Vector>& changes_without(std::int32_t variable);
    // Formulas in which some variables are false.
    Vector without_all(std::span<const std::int32_t> formulas, std::span<const std::int32_t> lost);
    std::int32_t conjunction(std::int32_t one, std::int32_t other) {
        return formulas_.choice(one, other, Formulas::kFalse);
    }
    std::int32_t negation(std::int32_t one) {
        return formulas_.choice(one, Formulas::kFalse, Formulas::kTrue);
    }

    Formulas& formulas_;
    AboutFacts& about_;
    std::unordered_map<std::uint64_t, Step> steps_;                     // by variable and what is read
    std::unordered_map<std::int32_t, std::optional<Vector>> concerns_;  // by variable
    std::unordered_map<std::int32_t, std::optional<Vector>> changes_;   // the same
    std::unordered_map<std::int32_t, bool> at_end_;
    Vector supported_, support_;
    std::map<Vector, std::vector<Outcome>> outcomes_;  // by what is read and the vector
};

}  // namespace pdacon
