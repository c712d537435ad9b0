// Room `nested`: a JSON Schema as an automaton over nested words that is made while texts are read.
//
// In: a schema's questions, answered when they are first asked (schemas.hpp). Out: places and the moves
// between them; over bytes and tokens (reading.hpp, nested_pda.hpp) masks. What no text has come to is never
// made. It does not know LALR tables: the constraint as a whole has those, and must allow the same.
//
// Texts may have values in them: what is around these is places, too, of terminals and of values
// (OuterPlace).
//
// A place is where a text stands between two terminals. A value's terminal leads to the place after it; an
// opening bracket pushes a frame, which says for each way in which the value may end where the text goes on
// then, and a closing bracket pops it. So the stack is as deep as brackets are open, and a text is read
// deterministically: a visibly pushdown automaton. Only moves from which some text goes on to the end are
// made, so that no place is a dead end.
//
// Source: R. Alur and P. Madhusudan, "Visibly Pushdown Languages", STOC 2004; J. Brzozowski, "Derivatives of
// Regular Expressions", Journal of the ACM 11(4), 1964, for what is left of a formula (derivatives.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/interner.hpp"
#include "frontends/derivatives.hpp"
#include "nested/plain_ways.hpp"
#include "nested/schemas.hpp"

namespace pdacon {

class NestedAutomaton {
  public:
    // kGo: to a place. kMember: to the place of a member's value, which is made when it is reached. kOpen:
    // pushes a frame and goes to the place within. kClose: pops a frame, with the number of an ending. kNone:
    // the terminal must not come, though another one matches its texts.
    enum class Act : std::uint8_t { kGo, kMember, kOpen, kClose, kNone };
    struct Move {
        std::int32_t terminal;
        Act act;
        bool is_listed;       // its terminal wins over one that is not
        std::int32_t target;  // a place, a member, an opening or an ending
    };
    struct Opening {
        std::int32_t frame, within;
    };
    static constexpr std::int32_t kEnd = 0;  // the place behind the text

    // Of the values that satisfy a question; -1: of texts with values in them. More than so many places throw
    // LimitExceeded("states").
    NestedAutomaton(std::unique_ptr<NestedSchemas> schemas, std::int32_t question, std::int64_t max_places);

    // The place where texts begin; -1: no value satisfies the question.
    std::int32_t start() const { return start_; }
    // Valid until the object is gone. Throws what schemas throw, and NeedsWhole; nothing has changed then.
    const std::vector<Move>& moves(std::int32_t place);
    std::int32_t place_of_member(std::int32_t member);
    Opening opening(std::int32_t number) const { return openings_[static_cast<std::size_t>(number)]; }
    // Where a text goes on after the value for which a frame was pushed ends in one of its ways.
    std::int32_t after(std::int32_t frame, std::int32_t ending) const {
        return frames_[frame][static_cast<std::size_t>(ending)];
    }
    // Whether the text may end at a place of which nothing has been read.
    bool may_end(std::int32_t place);
    // Whether a place is within a value: what follows a terminal there begins with a byte that no text of the
    // others goes on with behind the same text.
    bool is_within_value(std::int32_t place) const { return places_[place][0] != kOuter; }
    std::int64_t num_places() const { return static_cast<std::int64_t>(places_.size()); }
    // Terminals down to this one are those of schemas; the texts of names and of listed
    // values come below it.
    static constexpr std::int32_t kLastOfSchemas = -(1 << 24);
    CountedTerminal terminal(std::int32_t number) { return schemas_->terminal(number); }
    // Whether it is one of these texts, and that, which is valid until the object is gone.
    static bool is_text(std::int32_t terminal) { return terminal < kLastOfSchemas; }
    std::string_view text(std::int32_t number) const {
        return *text_of_[static_cast<std::size_t>(kLastOfSchemas - 1 - number)];
    }
    // Whether some value satisfies a question, at a depth, where the depth of arrays and objects is bounded.
    bool possible(std::int32_t question, std::int32_t depth = 0);
    // After a question that was not answered.
    void forget_questions();

  private:
    using Asked = std::pair<std::int32_t, std::int32_t>;  // a question and a depth
    enum Kind : std::int32_t { kIsEnd, kValue, kPart, kSign, kStart, kBefore, kAfter, kOuter };
    struct Member {
        std::int32_t container, state, read;
        bool is_in_turn;  // whether the state is that in which it is read; else one before names are left out
        std::int32_t place = -1;
    };
    struct Holder {
        NestedContainer own;
        std::unique_ptr<Derivatives> derivatives;
        std::unique_ptr<MemberStates> members;  // null in an array
        std::unique_ptr<PlainWays> ways;        // null where none are looked for
        std::size_t words = 0, width = 0;       // of a state: numbers that say what is decided, and formulas
        std::vector<std::optional<std::int32_t>> terminals;  // of listed names that have a text
        bool is_array() const { return members == nullptr; }
    };
    struct State : MemberState {  // of an array: without an order
        std::int32_t container;
    };

    std::int32_t place(std::initializer_list<std::int32_t> head, std::span<const std::int32_t> tail = {});
    std::int32_t place_of(Kind kind, const State& state);
    std::int32_t place_of_key();
    State state_of(std::int32_t place) const;
    std::vector<Move> made(std::int32_t place);
    const OuterPlace& outer(std::int32_t number);
    void add_value(std::int32_t place, std::int32_t local, std::vector<Move>& moves);
    void add_container(const FamilyMachine& machine, std::int32_t depth,
                       std::span<const std::int32_t> outcomes, std::vector<Move>& moves);
    void add_members(const State& state, std::vector<Move>& moves);
    void add_listed(const State& state, const std::optional<PlainWays::Way>& way, std::vector<Move>& moves);
    void add_closing(const State& state, std::int32_t terminal, std::vector<Move>& moves);
    const ValueFamily& family(const Vector& questions);
    std::int32_t holder(bool is_array, const Vector& machine, std::int32_t depth);
    std::int32_t depth_within(std::int32_t container) { return of(container).own.container.depth_within; }
    Holder& of(std::int32_t container) { return *holders_[static_cast<std::size_t>(container)]; }
    bool may_end(const State& state);
    bool ends(const State& state, std::size_t side);
    State start_of(std::int32_t container);
    // What a member or an item may lead to: states behind it, each with the question that it satisfies, and
    // only those that lead on.
    std::vector<std::pair<std::int32_t, State>> outcomes(const State& state, std::int32_t read);
    bool has_outcome(const State& state, std::int32_t read);
    std::optional<State> behind(const State& state, std::int32_t read, const Vector& left);
    std::int32_t value_place(const State& state, std::int32_t read);
    std::optional<std::int32_t> name(std::int32_t container, std::int32_t read);
    std::int32_t number_of(const std::string& text);
    // Whether some text leads on from behind a member or an item, or with `must_go_on`, from before one.
    bool leads_on(const State& state, bool must_go_on);
    bool leads_on_plainly(const State& state, bool must_go_on);
    bool leads_nowhere(const std::pair<bool, std::int32_t>& asked);
    void settle(const Asked& asked, bool found);
    void forget_doubtful();
    // What may be read at a place, the next one last, with the state that it is read in: `reads`, and before
    // them `names`, whose states are made when they are tried.
    struct Tried {
        std::int32_t number;  // of the place behind which it is read
        State state;
        Vector names;
        std::vector<std::pair<State, std::int32_t>> reads;
    };
    Tried to_try(std::int32_t number, const State& state);
    std::optional<std::pair<State, std::int32_t>> next_read(Tried& tried);
    // The listed names that may be read next, each with the state that it is read in.
    std::vector<std::pair<State, std::int32_t>> listed_reads(const State& state);

    std::unique_ptr<NestedSchemas> schemas_;
    std::int64_t max_places_;
    Interner places_;  // by what they are
    Vector key_;       // of the place that is looked for
    std::vector<std::unique_ptr<const std::vector<Move>>> moves_;
    Interner frames_;  // by ending, the place after it
    std::vector<Opening> openings_;
    std::vector<Member> members_;
    std::unordered_map<std::int32_t, OuterPlace> outer_;
    std::map<Vector, ValueFamily> families_;
    std::map<std::tuple<bool, std::int32_t, Vector>, std::int32_t> containers_;  // by depth, too
    std::vector<std::unique_ptr<Holder>> holders_;
    std::map<std::pair<std::int32_t, std::int32_t>, std::optional<std::int32_t>> names_;
    std::unordered_map<std::string, std::int32_t> texts_;  // of names: numbers
    std::vector<const std::string*> text_of_;
    std::map<Asked, bool> possible_;
    std::map<std::pair<bool, std::int32_t>, bool> leads_on_;  // by the place behind it
    // Questions whose values are being looked for; whether one was taken for false within itself. What was
    // found false while some are so is doubtful until these are settled.
    std::map<Asked, bool> asking_;
    std::size_t assumed_ = 0;
    std::vector<Asked> doubtful_questions_;
    std::vector<std::pair<bool, std::int32_t>> doubtful_states_;
    std::int32_t start_ = -1;
};

}  // namespace pdacon
