// The productions of objects and arrays: texts that are read from left to right, member by member.
//
// In: a machine, which is a vector of formulas about objects or about arrays that exclude one another, and
// the terminals between their parts. Out: productions. A nonterminal stands for what is left of the formulas:
// `after` a member, `before` the next one, and `skipped` where a name that was to come next is left out. What
// a member's value is asked is a family of questions, which are nonterminals of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "frontends/derivatives.hpp"
#include "frontends/member_order.hpp"
#include "frontends/productions.hpp"

namespace pdacon {

// The kinds of nonterminals, the first numbers of their keys.
enum class Kind : std::int32_t {
    kValue,
    kObject,
    kBefore,
    kAfter,
    kSkipped,
    kArray,
    kBeforeItem,
    kAfterItem,
    kPart
};

// What stands around members or items.
struct Signs {
    Vector empty;    // in place of an object or an array without any
    Vector between;  // after a name
    std::int32_t opening, closing, comma;
};

// What is asked while members are read; what is read is a place in the list of names, or after them a class
// of the other ones.
class AboutMembers : public AboutFacts {
  public:
    // The terminal of the names that are read, if there are any.
    virtual std::optional<std::int32_t> terminal(std::int32_t read) = 0;
};

struct Container {
    Vector machine;
    std::int32_t depth;  // of the text around, and that of what lies within
    std::int32_t depth_within;
    bool is_deepest;  // whether nothing lies within
    Signs signs;
};

// Adds the productions of an object; `start` is its machine, in the facts that members are read with. Returns
// the families of the members' values, each once.
std::vector<Vector> write_object(Productions& out, Formulas& formulas, AboutMembers& about,
                                 const Container& object, const Vector& start, const MemberOrder& order);

// Adds the productions of an array; `start` is its machine, in the facts that items are read with.
std::vector<Vector> write_array(Productions& out, Formulas& formulas, AboutMembers& about,
                                const Container& array, const Vector& start);

}  // namespace pdacon
