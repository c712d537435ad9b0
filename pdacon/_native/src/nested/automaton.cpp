#include "nested/automaton.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/budget.hpp"
#include "nested/room.hpp"

namespace pdacon {

namespace {

constexpr auto kFalse = Formulas::kFalse, kTrue = Formulas::kTrue;
constexpr std::size_t kMostNested = 400;  // questions whose values are looked for within one another

}  // namespace

NestedAutomaton::NestedAutomaton(std::unique_ptr<NestedSchemas> schemas, std::int32_t question,
                                 std::int64_t max_places)
    : schemas_(std::move(schemas)), max_places_(max_places) {
    place({kIsEnd});
    if (question < 0)
        start_ = place({kOuter, 0});
    else if (possible(question))
        start_ = place({kValue, 0}, Vector{question, kEnd});
}

std::int32_t NestedAutomaton::place(std::initializer_list<std::int32_t> head,
                                    std::span<const std::int32_t> tail) {
    key_.assign(head);
    key_.insert(key_.end(), tail.begin(), tail.end());
    return place_of_key();
}

std::int32_t NestedAutomaton::place_of_key() {
    if (const auto known = places_.find(key_); known >= 0 && std::cmp_less(known, moves_.size()))
        return known;
    require_room(kRoomOfState);
    const auto number = places_.intern(key_);
    if (max_places_ > 0 && number >= max_places_)
        throw LimitExceeded("states", number, static_cast<double>(max_places_));
    moves_.resize(places_.size());
    return number;
}

std::int32_t NestedAutomaton::place_of(Kind kind, const State& state) {
    key_.assign({kind, state.container});
    for (const auto* part : {&state.at, &state.left, &state.passed})
        key_.insert(key_.end(), part->begin(), part->end());
    return place_of_key();
}

NestedAutomaton::State NestedAutomaton::state_of(std::int32_t place) const {
    const auto key = places_[place];
    const auto& holder = *holders_[static_cast<std::size_t>(key[1])];
    const auto left = key.begin() + 2 + static_cast<std::ptrdiff_t>(holder.words);
    const auto passed = left + static_cast<std::ptrdiff_t>(holder.width);
    return {{Vector(key.begin() + 2, left), Vector(left, passed), Vector(passed, key.end())}, key[1]};
}

const std::vector<NestedAutomaton::Move>& NestedAutomaton::moves(std::int32_t place) {
    if (!moves_[static_cast<std::size_t>(place)]) {
        auto all = made(place);
        all.shrink_to_fit();
        auto found = std::make_unique<const std::vector<Move>>(std::move(all));
        moves_[static_cast<std::size_t>(place)] = std::move(found);
    }
    return *moves_[static_cast<std::size_t>(place)];
}

std::vector<NestedAutomaton::Move> NestedAutomaton::made(std::int32_t number) {
    std::array<std::int32_t, 3> key{};
    const auto view = places_[number];
    std::ranges::copy(view.first(std::min(view.size(), key.size())), key.begin());
    std::vector<Move> moves;
    switch (static_cast<Kind>(key[0])) {
        case kIsEnd:
            break;
        case kValue:
            add_value(number, 0, moves);
            break;
        case kPart:
            add_value(key[1], key[2], moves);
            break;
        case kSign:
            moves.push_back({key[1], Act::kGo, false, key[2]});
            break;
        case kStart: {
            const auto start = start_of(key[1]);
            if (!of(key[1]).is_array())
                add_members(start, moves);
            else if (const auto items = value_place(start, 0); items >= 0)
                moves = this->moves(items);
            if (const auto& empty = of(key[1]).own.container.signs.empty; empty.size() > 1)
                add_closing(start, empty.back(), moves);
            break;
        }
        case kBefore:
            add_members(state_of(number), moves);
            break;
        case kAfter: {
            const auto state = state_of(number);
            const auto& signs = of(state.container).own.container.signs;
            if (of(state.container).is_array()) {
                if (const auto items = value_place(state, 0); items >= 0)
                    moves.push_back({signs.comma, Act::kGo, false, items});
            } else if (leads_on(state, true)) {
                moves.push_back({signs.comma, Act::kGo, false, place_of(kBefore, state)});
            }
            add_closing(state, signs.closing, moves);
            break;
        }
        case kOuter: {
            const auto& around = outer(key[1]);
            for (const auto& edge : around.edges)
                moves.push_back({edge.terminal, Act::kGo, true, place({kOuter, edge.to})});
            if (around.question >= 0) {
                const auto behind = place({kOuter, around.behind});
                add_value(place({kValue, 0}, Vector{around.question, behind}), 0, moves);
            }
            break;
        }
    }
    return moves;
}

const OuterPlace& NestedAutomaton::outer(std::int32_t number) {
    const auto known = outer_.find(number);
    if (known != outer_.end()) return known->second;
    auto found = schemas_->outer(number);
    return outer_.emplace(number, std::move(found)).first->second;
}

bool NestedAutomaton::may_end(std::int32_t place) {
    const auto key = places_[place];
    return place == kEnd || (key[0] == kOuter && outer(key[1]).may_end);
}

void NestedAutomaton::add_value(std::int32_t number, std::int32_t local, std::vector<Move>& moves) {
    const auto view = places_[number];
    const auto depth = view[1];
    const Vector outcomes(view.begin() + 2, view.end());
    Vector questions;
    for (std::size_t k = 0; k < outcomes.size(); k += 2) questions.push_back(outcomes[k]);
    const auto place_after = [&](std::int32_t question) {
        for (std::size_t k = 0; k < outcomes.size(); k += 2)
            if (outcomes[k] == question) return outcomes[k + 1];
        throw NeedsWhole("a value satisfies a question that was not asked");
    };
    const auto& asked = family(questions);
    for (const auto& edge : asked.scalars) {
        if (edge.from != local) continue;
        const auto to = edge.to < 0 ? place_after(edge.question) : place({kPart, number, edge.to});
        moves.push_back({edge.terminal, Act::kGo, true, to});
    }
    if (local != 0) return;
    for (const auto& [text, question] : asked.listed)
        moves.push_back({number_of(text), Act::kGo, true, place_after(question)});
    for (const auto& machine : asked.machines) {
        Vector frame;
        for (const auto question : machine.questions) frame.push_back(place_after(question));
        add_container(machine, depth, frame, moves);
    }
}

void NestedAutomaton::add_container(const FamilyMachine& machine, std::int32_t depth,
                                    std::span<const std::int32_t> frame, std::vector<Move>& moves) {
    const auto number = holder(machine.is_array, machine.formulas, depth);
    const auto start = start_of(number);
    const auto& own = of(number).own.container;
    const bool one_sign = own.signs.empty.size() == 1;
    if (one_sign)
        for (std::size_t k = 0; k < frame.size(); ++k)
            if (ends(start, k)) moves.push_back({own.signs.empty[0], Act::kGo, true, frame[k]});
    if (own.is_deepest || !(leads_on(start, true) || (!one_sign && may_end(start)))) return;
    openings_.push_back({frames_.intern(frame), place({kStart, number})});
    moves.push_back({own.signs.opening, Act::kOpen, true, static_cast<std::int32_t>(openings_.size()) - 1});
}

void NestedAutomaton::add_closing(const State& state, std::int32_t terminal, std::vector<Move>& moves) {
    for (std::size_t k = 0; k < of(state.container).own.container.machine.size(); ++k)
        if (ends(state, k)) moves.push_back({terminal, Act::kClose, false, static_cast<std::int32_t>(k)});
}

void NestedAutomaton::add_members(const State& state, std::vector<Move>& moves) {
    auto& own = of(state.container);
    const auto names = own.own.order.names;
    const auto way = own.ways ? own.ways->way(state) : std::nullopt;
    add_listed(state, way, moves);
    const auto listed = moves.size();
    for (auto read = names; read < names + own.own.order.classes; ++read) {
        if (!(way && own.ways->leaves_open(*way, read)) && !has_outcome(state, read)) continue;
        const auto terminal = name(state.container, read);
        if (!terminal) continue;
        members_.push_back({state.container, place_of(kBefore, state), read, true});
        moves.push_back({*terminal, Act::kMember, false, static_cast<std::int32_t>(members_.size()) - 1});
    }
    if (moves.size() == listed || !own.own.others_are_free) return;
    std::vector<bool> offered(static_cast<std::size_t>(names));
    for (std::size_t move = 0; move < listed; ++move)
        offered[static_cast<std::size_t>(members_[static_cast<std::size_t>(moves[move].target)].read)] = true;
    for (std::int32_t read = 0; read < names; ++read)  // each comes in its turn only
        if (!offered[static_cast<std::size_t>(read)])
            if (const auto terminal = name(state.container, read))
                moves.push_back({*terminal, Act::kNone, true, -1});
}

void NestedAutomaton::add_listed(const State& state, const std::optional<PlainWays::Way>& way,
                                 std::vector<Move>& moves) {
    auto& own = of(state.container);
    const auto leaves_open = [&](std::int32_t read) { return way && own.ways->leaves_open(*way, read); };
    const auto add = [&](std::int32_t from, std::int32_t read, bool is_in_turn) {
        const auto terminal = name(state.container, read);
        if (!terminal) return;
        members_.push_back({state.container, from, read, is_in_turn});
        moves.push_back({*terminal, Act::kMember, true, static_cast<std::int32_t>(members_.size()) - 1});
    };
    if (!own.own.order.is_total || !way || !way->is_only) {
        for (const auto& [from, read] : listed_reads(state))
            if (leaves_open(read) || has_outcome(from, read)) add(place_of(kBefore, from), read, true);
        return;
    }
    const auto end = way->needed.empty() ? own.own.order.names : way->needed.front() + 1;
    const auto here = place_of(kBefore, state);
    for (auto read = state.at[0]; read < end; ++read)
        if (leaves_open(read) || has_outcome({own.members->in_turn(state, read), state.container}, read))
            add(here, read, false);
}

std::int32_t NestedAutomaton::place_of_member(std::int32_t number) {
    const auto member = members_[static_cast<std::size_t>(number)];
    if (member.place >= 0) return member.place;
    auto& own = of(member.container);
    auto state = state_of(member.state);
    if (!member.is_in_turn) state = {own.members->in_turn(state, member.read), member.container};
    auto to = value_place(state, member.read);
    const auto& between = own.own.container.signs.between;
    for (auto sign = between.rbegin(); sign != between.rend(); ++sign) to = place({kSign, *sign, to});
    return members_[static_cast<std::size_t>(number)].place = to;
}

std::int32_t NestedAutomaton::value_place(const State& state, std::int32_t read) {
    Vector tail;
    auto found = outcomes(state, read);
    std::ranges::sort(found, {}, [](const auto& outcome) { return outcome.first; });
    for (const auto& [question, behind] : found) {
        tail.push_back(question);
        tail.push_back(place_of(kAfter, behind));
    }
    return tail.empty() ? -1 : place({kValue, depth_within(state.container)}, tail);
}

std::int32_t NestedAutomaton::number_of(const std::string& text) {
    const auto [known, is_new] =
        texts_.emplace(text, kLastOfSchemas - 1 - static_cast<std::int32_t>(texts_.size()));
    if (is_new) text_of_.push_back(&known->first);
    return known->second;
}

std::optional<std::int32_t> NestedAutomaton::name(std::int32_t container, std::int32_t read) {
    auto& holder = of(container);
    const auto& own = holder.own;
    if (std::cmp_less(read, own.texts.size())) {
        holder.terminals.resize(own.texts.size());
        auto& terminal = holder.terminals[static_cast<std::size_t>(read)];
        if (!terminal) terminal = number_of(own.texts[static_cast<std::size_t>(read)]);
        return terminal;
    }
    const auto known = names_.find({container, read});
    if (known != names_.end()) return known->second;
    const auto found = own.about->terminal(read);
    return names_.emplace(std::pair{container, read}, found).first->second;
}

const ValueFamily& NestedAutomaton::family(const Vector& questions) {
    const auto known = families_.find(questions);
    if (known != families_.end()) return known->second;
    auto found = schemas_->family(questions);
    return families_.emplace(questions, std::move(found)).first->second;
}

std::int32_t NestedAutomaton::holder(bool is_array, const Vector& machine, std::int32_t depth) {
    const auto known = containers_.find({is_array, depth, machine});
    if (known != containers_.end()) return known->second;
    auto made = std::make_unique<Holder>();
    made->own = schemas_->container(is_array, machine, depth);
    made->derivatives = std::make_unique<Derivatives>(schemas_->formulas(), *made->own.about);
    made->width = made->own.start.size();
    if (!is_array) {
        made->members =
            std::make_unique<MemberStates>(made->own.order, schemas_->formulas(), *made->derivatives);
        made->words = made->members->words();
        made->width = made->members->width(made->width);
        if (PlainWays::are_for(made->own.order))
            made->ways =
                std::make_unique<PlainWays>(made->own.order, schemas_->formulas(), *made->derivatives,
                                            [this, within = made->own.container.depth_within](auto question) {
                                                return possible(question, within);
                                            });
    }
    const auto number = static_cast<std::int32_t>(holders_.size());
    holders_.push_back(std::move(made));
    containers_.emplace(std::tuple{is_array, depth, machine}, number);
    return number;
}

NestedAutomaton::State NestedAutomaton::start_of(std::int32_t container) {
    const auto& own = of(container);
    if (own.is_array()) return {{{}, own.own.start, {}}, container};
    return {own.members->start(own.own.start), container};
}

bool NestedAutomaton::ends(const State& state, std::size_t side) {
    auto& own = of(state.container);
    if (!own.is_array()) return own.members->ends(state.left, side);
    return state.left[side] != kFalse && own.derivatives->at_end(state.left[side]);
}

bool NestedAutomaton::may_end(const State& state) {
    for (std::size_t k = 0; k < of(state.container).own.container.machine.size(); ++k)
        if (ends(state, k)) return true;
    return false;
}

std::optional<NestedAutomaton::State> NestedAutomaton::behind(const State& state, std::int32_t read,
                                                              const Vector& left) {
    auto& own = of(state.container);
    if (own.is_array()) return State{{{}, left, {}}, state.container};
    auto next = own.members->behind(state, read, left);
    if (!next) return std::nullopt;
    return State{std::move(*next), state.container};
}

std::vector<std::pair<std::int32_t, NestedAutomaton::State>> NestedAutomaton::outcomes(const State& state,
                                                                                       std::int32_t read) {
    std::vector<std::pair<std::int32_t, State>> found;
    for (const auto& [left, question] : of(state.container).derivatives->outcomes(state.left, read)) {
        if (!possible(question, depth_within(state.container))) continue;
        auto next = behind(state, read, left);
        if (next && leads_on(*next, false)) found.emplace_back(question, std::move(*next));
    }
    return found;
}

bool NestedAutomaton::has_outcome(const State& state, std::int32_t read) {
    return std::ranges::any_of(of(state.container).derivatives->outcomes(state.left, read),
                               [&](const auto& outcome) {
                                   if (!possible(outcome.question, depth_within(state.container)))
                                       return false;
                                   const auto next = behind(state, read, outcome.left);
                                   return next && leads_on(*next, false);
                               });
}

bool NestedAutomaton::possible(std::int32_t question, std::int32_t depth) {
    if (question <= kTrue) return question == kTrue;
    const Asked asked_at{question, depth};
    if (const auto known = possible_.find(asked_at); known != possible_.end()) return known->second;
    if (schemas_->plainly_possible(question)) return possible_[asked_at] = true;
    if (const auto asking = asking_.find(asked_at); asking != asking_.end()) {
        // A least value has no value within it that satisfies the same question at the same depth.
        if (!std::exchange(asking->second, true)) ++assumed_;
        return false;
    }
    if (asking_.size() >= kMostNested) {
        forget_questions();
        throw NeedsWhole("whether some value satisfies a schema is not plain");
    }
    asking_.emplace(asked_at, false);
    const auto& asked = family({question});
    const auto starts = [&](const auto& leads) {
        return std::ranges::any_of(asked.machines, [&](const auto& machine) {
            return leads(start_of(holder(machine.is_array, machine.formulas, depth)));
        });
    };
    const bool found = !asked.listed.empty() ||
                       std::ranges::any_of(asked.scalars, [](const auto& edge) { return edge.to < 0; }) ||
                       starts([&](const State& start) { return may_end(start); }) ||
                       starts([&](const State& start) {
                           return !of(start.container).own.container.is_deepest && leads_on(start, true);
                       });
    settle(asked_at, found);
    return found;
}

// While a question is taken for false within itself, every other one that is found to be false is so only for
// the time being: if the question turns out to be true, these are forgotten.
void NestedAutomaton::settle(const Asked& asked, bool found) {
    const auto asking = asking_.extract(asked);
    const bool was_assumed = !asking.empty() && asking.mapped();
    possible_[asked] = found;
    if (!found && assumed_ > 0) doubtful_questions_.push_back(asked);
    if (!was_assumed) return;
    --assumed_;
    if (found) forget_doubtful();
    if (assumed_ > 0) return;
    doubtful_questions_.clear();
    doubtful_states_.clear();
}

void NestedAutomaton::forget_doubtful() {
    for (const auto& asked : doubtful_questions_) possible_.erase(asked);
    for (const auto& asked : doubtful_states_) leads_on_.erase(asked);
    doubtful_questions_.clear();
    doubtful_states_.clear();
}

void NestedAutomaton::forget_questions() {
    forget_doubtful();
    asking_.clear();
    assumed_ = 0;
}

// Records that no text leads on.
bool NestedAutomaton::leads_nowhere(const std::pair<bool, std::int32_t>& asked) {
    if (assumed_ > 0) doubtful_states_.push_back(asked);
    return leads_on_[asked] = false;
}

// Of the names in order the last is tried first, since one that must not be left out comes after all those
// that may be; of others those that are asked for.
NestedAutomaton::Tried NestedAutomaton::to_try(std::int32_t number, const State& state) {
    auto& own = of(state.container);
    Tried tried{number, state, {}, {}};
    if (own.is_array()) {
        tried.reads.emplace_back(state, 0);
        return tried;
    }
    if (!own.own.order.is_total) {
        tried.names = own.members->names_left(state);
        if (const auto name = own.members->must_come(state, tried.names)) {
            tried.names = {*name};
            return tried;
        }
    }
    for (auto read = own.own.order.names + own.own.order.classes; read-- > own.own.order.names;)
        tried.reads.emplace_back(state, read);
    if (own.own.order.is_total)
        for (auto& read : listed_reads(state)) tried.reads.push_back(std::move(read));
    return tried;
}

std::optional<std::pair<NestedAutomaton::State, std::int32_t>> NestedAutomaton::next_read(Tried& tried) {
    while (!tried.names.empty()) {
        const auto name = tried.names.back();
        tried.names.pop_back();
        if (auto from = of(tried.state.container).members->turn(tried.state, name))
            return std::pair{State{std::move(*from), tried.state.container}, name};
    }
    if (tried.reads.empty()) return std::nullopt;
    auto read = std::move(tried.reads.back());
    tried.reads.pop_back();
    return read;
}

std::vector<std::pair<NestedAutomaton::State, std::int32_t>> NestedAutomaton::listed_reads(
    const State& state) {
    std::vector<std::pair<State, std::int32_t>> reads;
    for (auto& [from, read] : of(state.container).members->next(state))
        reads.emplace_back(State{std::move(from), state.container}, read);
    return reads;
}

bool NestedAutomaton::leads_on_plainly(const State& state, bool must_go_on) {
    auto& own = of(state.container);
    if (!own.ways) return false;
    const auto way = own.ways->way(state);
    if (!way) return false;
    if (!must_go_on || !way->needed.empty()) return true;
    const auto& order = own.own.order;
    for (auto read = order.names + order.classes; read-- > 0;)
        if ((read >= order.names || own.ways->may_come(state, read)) && own.ways->leaves_open(*way, read))
            return true;
    return false;
}

bool NestedAutomaton::leads_on(const State& state, bool must_go_on) {
    if (!must_go_on && may_end(state)) return true;
    if (leads_on_plainly(state, must_go_on)) return true;
    const std::pair asked{must_go_on, place_of(kAfter, state)};
    if (const auto known = leads_on_.find(asked); known != leads_on_.end()) return known->second;
    std::set<std::int32_t> seen;
    std::vector<Tried> open;
    open.push_back(to_try(asked.second, state));
    while (!open.empty()) {
        const auto next_one = next_read(open.back());
        if (!next_one) {
            open.pop_back();
            continue;
        }
        const auto& [from, read] = *next_one;
        for (const auto& [left, question] : of(from.container).derivatives->outcomes(from.left, read)) {
            const auto next = behind(from, read, left);
            if (!next) continue;
            const bool plain = leads_on_plainly(*next, false);
            const auto number = place_of(kAfter, *next);
            const auto known = leads_on_.find({false, number});
            if (known != leads_on_.end() ? !known->second : seen.contains(number)) continue;
            if (!possible(question, depth_within(from.container))) continue;
            if (known != leads_on_.end() || plain || may_end(*next)) {
                for (std::size_t k = 1; k < open.size(); ++k) leads_on_[{false, open[k].number}] = true;
                return leads_on_[asked] = true;
            }
            seen.insert(number);
            open.back().reads.emplace_back(from, read);  // what else it leads to comes after this
            open.push_back(to_try(number, *next));
            break;
        }
    }
    for (const auto number : seen) leads_nowhere({false, number});
    return leads_nowhere(asked);
}

}  // namespace pdacon
