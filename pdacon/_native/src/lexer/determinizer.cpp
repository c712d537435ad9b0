#include "lexer/determinizer.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pdacon {

namespace {

// A pushback of so many bytes calls for a survey, a shorter one where more states have come up than the
// patterns have positions (as many come up anyway, where those are long lists of words), and so do pushbacks
// where states come up faster than they are explored: in an unbounded wait they can be very many before one
// is long.
constexpr std::int32_t kLongResidual = 16, kShortResidual = 4;
constexpr std::size_t kFewStates = 1'000;

}  // namespace

Determinizer::Determinizer(const LexerSpec& spec, LexingAutomaton& out, Budget& budget)
    : spec_(spec),
      out_(out),
      budget_(budget),
      closure_(spec.nfa),
      relexing_(spec),
      loops_(spec, relexing_, representative_, budget) {
    out_.num_terminals_ = spec.num_terminals();
    out_.num_look_behind_ = spec.nfa.num_look_behind();
    out_.num_classes_ = byte_classes(spec.nfa, spec.newline >= 0, out_.byte_class_);
    representative_ = most_legible(out_.byte_class_, out_.num_classes_);
}

void Determinizer::run() {
    if (!explore(Pass::kPlain)) {
        explore(Pass::kSurvey);
        for (const auto& state : states_)
            for (Slot slot = kFallback; slot < static_cast<Slot>(state.threads.size()); ++slot)
                if (const auto& match = match_in(state, slot); match.label >= 0 && !match.waits())
                    loops_.add_match(loops_.add_line(line_of(state, slot)), match.look_behind,
                                     path_to(state));
        out_.unbounded_ = loops_.find();
        explore(Pass::kCut);
    }
    describe_states();
    out_.delta_ = std::move(made_.delta);
    out_.end_ = std::move(made_.end);
    out_.keeps_ = std::move(made_.keeps);
    out_.entries_ = std::move(made_.entries);
    out_.commits_ = std::move(made_.commits);
    out_.pushbacks_ = Rows<std::int32_t>::of(made_.pushbacks);
}

// What reports tell about the states that are left.
void Determinizer::describe_states() {
    std::vector<std::int32_t> last_seen(static_cast<std::size_t>(spec_.num_terminals()), -1);
    out_.states_by_terminal_.assign(last_seen.size(), 0);
    out_.waiting_.clear();
    for (std::size_t at = 0; at < reached_.size(); ++at) {
        const auto& state = states_[static_cast<std::size_t>(reached_[at])];
        const Match* longest = &state.fallback;
        for (const auto& thread : state.threads) {
            if (length_of(thread.match) > length_of(*longest)) longest = &thread.match;
            const auto owner =
                static_cast<std::size_t>(spec_.nfa.owner[static_cast<std::size_t>(thread.position)]);
            if (std::exchange(last_seen[owner], static_cast<std::int32_t>(at)) !=
                static_cast<std::int32_t>(at))
                ++out_.states_by_terminal_[owner];
        }
        out_.waiting_.push_back(std::max(longest->label, LexingAutomaton::kDead));
        out_.waiting_.push_back(length_of(*longest));
    }
}

// All states from the start of a text on. False: given up, because a pushback grew.
bool Determinizer::explore(Pass pass) {
    pass_ = pass;
    pushbacks_.reset();
    if (pass != Pass::kSurvey)
        pushbacks_.emplace(static_cast<Pushbacks::Lexer&>(*this), out_.num_classes_, budget_);
    state_ids_ = commit_ids_ = Interner();
    states_.clear();
    commits_.clear();
    steps_.clear();
    first_.clear();
    for (auto* numbers : {&reached_, &reached_commits_, &number_, &commit_number_}) numbers->clear();
    made_ = {};
    made_.entries.assign(spec_.contexts.size() * static_cast<std::size_t>(out_.num_look_behind_),
                         LexingAutomaton::kDead);
    entries_ = made_.entries;
    out_.lookahead_ = 0;
    out_.matched_.assign(static_cast<std::size_t>(spec_.num_terminals()), 0);
    for (const auto context : spec_.starts) enter(context, 0);
    const auto positions = spec_.nfa.kind.size();
    for (std::size_t at = 0; at < reached_.size(); ++at) {
        const auto state = reached_[at];
        for (const auto slot : waiting_slots(states_[static_cast<std::size_t>(state)])) {
            const auto length = length_of(match_in(states_[static_cast<std::size_t>(state)], slot));
            const bool lengthens = length > (states_.size() > positions ? kShortResidual : kLongResidual);
            const bool swells = states_.size() > std::max(kFewStates, positions) && states_.size() > 2 * at;
            if (pass == Pass::kPlain && (lengthens || swells)) return false;
            out_.lookahead_ = std::max(out_.lookahead_, length);
        }
        step_all(state);
        made_.end.push_back(at_end(states_[static_cast<std::size_t>(state)]));
        if (spec_.newline >= 0) made_.keeps.push_back(columns_kept(states_[static_cast<std::size_t>(state)]));
    }
    return true;
}

// Some text leads there: what a state, a commit or kDead is called in the automaton.
std::int32_t Determinizer::reach(std::int32_t target) {
    if (target == LexingAutomaton::kDead) return target;
    if (target >= 0) {
        auto& number = number_[static_cast<std::size_t>(target)];
        if (number == LexingAutomaton::kDead) {
            number = static_cast<std::int32_t>(reached_.size());
            reached_.push_back(target);
        }
        return number;
    }
    const auto id = LexingAutomaton::kDead - 1 - target;
    auto& number = commit_number_[static_cast<std::size_t>(id)];
    if (number == LexingAutomaton::kDead) {
        const auto& match = commits_[static_cast<std::size_t>(id)];
        number = LexingAutomaton::kDead - 1 - static_cast<std::int32_t>(reached_commits_.size());
        reached_commits_.push_back(target);
        const auto text = pushbacks_ ? pushbacks_->text(match.pushback) : std::vector<std::int32_t>{};
        made_.commits.push_back({match.label, match.look_behind, made_.pushbacks.intern(text)});
        for (const auto context : out_.contexts_after(match.label)) enter(context, match.look_behind);
    }
    return number;
}

// A lexeme of the context begins there in some text.
void Determinizer::enter(std::int32_t context, std::int32_t look_behind) {
    made_.entries[static_cast<std::size_t>(context * out_.num_look_behind_ + look_behind)] =
        reach(entry(context, look_behind));
}

// The start of a lexeme.
std::int32_t Determinizer::entry(std::int32_t context, std::int32_t look_behind) {
    const auto place = static_cast<std::size_t>(context * out_.num_look_behind_ + look_behind);
    if (entries_[place] != LexingAutomaton::kDead) return entries_[place];
    State state;
    state.fresh = true;
    state.look_behind = look_behind;
    std::vector<std::int32_t> positions;
    closure_.begin();
    for (const auto terminal : spec_.contexts[static_cast<std::size_t>(context)].alternation) {
        const auto start = spec_.nfa.entry_of(terminal, look_behind);
        if (start >= 0 && closure_.until_match(start, positions))
            throw std::invalid_argument("lexer: a terminal matches the empty text");
    }
    for (const auto position : positions) {
        if (spec_.nfa.is_pending(position))
            throw std::invalid_argument("lexer: a terminal matches the empty text");
        state.threads.push_back({position, {}});
    }
    for (const auto& rename : spec_.contexts[static_cast<std::size_t>(context)].renames) {
        for (const auto keyword : rename.keywords) {
            const auto start = spec_.nfa.entry_of(keyword, look_behind);
            if (start < 0) continue;
            positions.clear();
            closure_.begin();
            closure_.until_match(start, positions);
            for (const auto position : positions) state.shadows.push_back({rename.regex, keyword, position});
        }
    }
    return entries_[place] = intern(std::move(state));
}

void Determinizer::step_all(std::int32_t from) {
    auto row = std::move(steps_[static_cast<std::size_t>(from)]);
    complete(from, row);
    auto at = made_.delta.size();
    made_.delta.resize(at + row.size(), LexingAutomaton::kDead);
    for (const auto& [target, matched] : row) {
        if (target != LexingAutomaton::kDead) made_.delta[at] = reach(target);
        if (matched >= 0) note_match(matched);
        ++at;
    }
}

// Finds the steps of a state that are not known. Byte classes that lead the threads to the same places lead
// to the same state, unless a match reads them on.
void Determinizer::complete(std::int32_t from, std::vector<Step>& row) {
    const auto parts = parts_of(states_[static_cast<std::size_t>(from)]);
    const auto fallback = states_[static_cast<std::size_t>(from)].fallback;
    std::vector<Step> results(static_cast<std::size_t>(parts.last) + 1);
    row.resize(static_cast<std::size_t>(out_.num_classes_));
    const auto lead = [&](std::size_t cls) {
        auto& found = row[cls];
        if (found.target != Step::kUnknown) return;
        budget_.tick();
        auto& same = results[static_cast<std::size_t>(parts.of[cls])];
        if (same.target != Step::kUnknown) {
            found = same;
            return;
        }
        has_read_on_ = false;
        found = step(from, static_cast<std::int32_t>(cls));
        if (!has_read_on_) same = found;
    };
    if (fallback.label < 0) {  // most states of long lists of words, where few classes lead on
        for (const auto cls : parts.leading()) lead(cls);
        for (auto& step : row)
            if (step.target == Step::kUnknown) step.target = LexingAutomaton::kDead;
        return;
    }
    for (std::size_t cls = 0; cls < row.size(); ++cls)
        if (parts.of[cls] != Parts::kNoThread)
            lead(cls);
        else if (row[cls].target == Step::kUnknown)
            row[cls].target = without_threads(fallback, static_cast<std::int32_t>(cls));
}

// Parts are told apart by where each thread goes on, and by what lies behind: each in turn splits those that
// there are.
Determinizer::Parts Determinizer::parts_of(const State& state) {
    const auto& nfa = spec_.nfa;
    Parts parts;
    const auto split = [&](std::uint8_t cls, std::int32_t target) {
        auto& part = parts.of[cls];
        if (part == Parts::kNoThread) parts.classes[parts.num_classes++] = cls;
        const auto known = std::ranges::find_if(
            splits_, [&](const Split& other) { return other.part == part && other.target == target; });
        const auto into = known == splits_.end() ? ++parts.last : known->into;
        if (known == splits_.end()) splits_.push_back({part, target, into});
        part = into;
    };
    const auto split_all = [&](std::int32_t position) {
        const auto at = static_cast<std::size_t>(position);
        splits_.clear();
        for (auto edge = static_cast<std::size_t>(nfa.offset[at]);
             edge < static_cast<std::size_t>(nfa.offset[at + 1]); ++edge)
            for (std::size_t byte = nfa.low[edge]; byte <= nfa.high[edge]; ++byte)
                if (const auto cls = out_.byte_class_[byte]; representative_[cls] == byte)
                    split(cls, nfa.target[edge]);
    };
    for (const auto& thread : state.threads) split_all(thread.position);
    for (const auto& shadow : state.shadows) split_all(shadow.position);
    std::sort(parts.classes.begin(), parts.classes.begin() + parts.num_classes);
    splits_.clear();
    for (const auto cls : parts.leading())
        split(cls, nfa.look_behind_after(state.look_behind, representative_[cls]));
    return parts;
}

// Where a byte class leads to on which no thread goes on.
std::int32_t Determinizer::without_threads(const Match& fallback, std::int32_t cls) {
    const auto match = read_on(fallback, cls);
    return match.label < 0 ? LexingAutomaton::kDead : commit(match);
}

Determinizer::Step Determinizer::step(std::int32_t from, std::int32_t cls) {
    State state;
    state.parent = from;
    state.via = cls;
    carried_.clear();
    // What is asked of pushbacks can make states, and takes the scratch space.
    const auto pending = read_pending(from, cls);
    std::int32_t matched = -1;
    if (move(states_[static_cast<std::size_t>(from)], cls, pending, state, matched)) {
        state.fallback = read_on(states_[static_cast<std::size_t>(from)].fallback, cls);
        if (state.fallback.label < 0) state.fallback = {};
    }
    const auto next = finish(std::move(state));
    if (pass_ == Pass::kSurvey && next >= 0) survey_step(from, cls, next);
    return {next, matched};
}

// The pending matches of the threads that go on, after one more byte.
std::vector<Determinizer::Match> Determinizer::read_pending(std::int32_t from, std::int32_t cls) {
    std::vector<Match> pending;
    for (std::size_t slot = 0; slot < states_[static_cast<std::size_t>(from)].threads.size(); ++slot) {
        const auto& thread = states_[static_cast<std::size_t>(from)].threads[slot];
        if (!spec_.nfa.is_pending(thread.position)) continue;
        pending.resize(slot + 1);
        if (closure_.step(thread.position, representative(cls)) >= 0)
            pending[slot] = read_on(thread.match, cls);
    }
    return pending;
}

// In a survey: each match that waits on in the step at hand.
void Determinizer::survey_step(std::int32_t from, std::int32_t cls, std::int32_t next) {
    for (const auto& [before, after] : carried_) {
        const auto line = loops_.add_line(line_of(states_[static_cast<std::size_t>(from)], before));
        const auto to = loops_.add_line(line_of(states_[static_cast<std::size_t>(next)], after));
        loops_.add_step(line, cls, to);
    }
}

// Moves all threads, in order, until one has matched for certain; what is behind that is cut. Returns whether
// the fallback reads on.
bool Determinizer::move(const State& from, std::int32_t cls, const std::vector<Match>& pending, State& to,
                        std::int32_t& matched_terminal) {
    const auto& nfa = spec_.nfa;
    const auto byte = representative(cls);
    to.look_behind = nfa.look_behind_after(from.look_behind, byte);
    std::int32_t matched = -1;
    bool certain = false;
    closure_.begin();
    for (std::size_t slot = 0; slot < from.threads.size() && !certain; ++slot) {
        const auto& thread = from.threads[slot];
        const auto target = closure_.step(thread.position, byte);
        if (target < 0) continue;
        if (!nfa.is_pending(thread.position)) {
            positions_.clear();
            certain = closure_.until_match(target, positions_);
            for (const auto position : positions_) to.threads.push_back({position, {}});
            if (certain) {
                matched = nfa.owner[static_cast<std::size_t>(target)];
                matched_terminal = matched;
            }
            continue;
        }
        const auto& match = pending[slot];
        const auto before = static_cast<Slot>(slot);
        if (nfa.kind_of(target) == NfaKind::kMatch) {
            matched_terminal = nfa.owner[static_cast<std::size_t>(thread.position)];
            to.fallback = match;
            certain = true;
            carried_.emplace_back(before, kFallback);
        } else if (closure_.first(target)) {
            carried_.emplace_back(before, static_cast<Slot>(to.threads.size()));
            to.threads.push_back({target, match});
        }
    }
    const auto names = step_shadows(from, byte, to);
    const auto match_of = [&](std::int32_t terminal) {
        const auto name = std::find_if(names.begin(), names.end(),
                                       [&](const auto& renamed) { return renamed.first == terminal; });
        const bool ignored = spec_.ignored[static_cast<std::size_t>(terminal)];
        return Match{ignored               ? out_.ignored_label()
                     : name != names.end() ? name->second
                                           : terminal,
                     to.look_behind};
    };
    for (auto& thread : to.threads)
        if (nfa.is_pending(thread.position) && thread.match.label == Match::kNone)
            thread.match = match_of(nfa.owner[static_cast<std::size_t>(thread.position)]);
    if (matched >= 0) to.fallback = match_of(matched);
    if (to.fallback.label < 0) to.fallback = {};
    if (certain || from.fallback.label < 0) return false;
    carried_.emplace_back(kFallback, kFallback);
    return true;
}

// Moves the keyword threads on; returns the names of lexemes that end here, by the regex that matched.
std::vector<std::pair<std::int32_t, std::int32_t>> Determinizer::step_shadows(const State& from,
                                                                              std::uint8_t byte, State& to) {
    std::vector<std::pair<std::int32_t, std::int32_t>> names;
    for (const auto& shadow : from.shadows) {
        const auto target = closure_.step(shadow.position, byte);
        if (target < 0) continue;
        positions_.clear();
        closure_.begin();
        if (closure_.until_match(target, positions_)) names.emplace_back(shadow.regex, shadow.keyword);
        if (std::none_of(to.threads.begin(), to.threads.end(), [&](const Thread& thread) {
                return spec_.nfa.owner[static_cast<std::size_t>(thread.position)] == shadow.regex;
            }))
            continue;  // the regex cannot match any more
        for (const auto position : positions_) {
            const Shadow next{shadow.regex, shadow.keyword, position};
            if (std::find(to.shadows.begin(), to.shadows.end(), next) == to.shadows.end())
                to.shadows.push_back(next);
        }
    }
    return names;
}

// The match after one more byte of its pushback.
Determinizer::Match Determinizer::read_on(Match match, std::int32_t cls) {
    if (pass_ == Pass::kSurvey) {
        match.pushback = 0;
    } else if (match.waits()) {
        match.relexing = relexing_.step(match.relexing, representative(cls));
        match.pushback =
            relexing_.viable(match.relexing) ? pushbacks_->after(match.pushback, cls) : Pushbacks::kNone;
        if (!match.waits()) match = {Match::kFailed};
    } else if (match.label >= 0) {
        match = read_first(match, cls);
    }
    has_read_on_ = true;  // also if what was asked of pushbacks has made steps of its own
    return match;
}

// The same for the first byte of a pushback: every state where such a match has just been made asks for it.
Determinizer::Match Determinizer::read_first(Match match, std::int32_t cls) {
    const auto row = static_cast<std::size_t>(match.label * out_.num_look_behind_ + match.look_behind);
    if (row >= first_.size()) first_.resize(row + 1);
    const auto at = static_cast<std::size_t>(cls);
    if (first_[row].empty()) first_[row].resize(static_cast<std::size_t>(out_.num_classes_));
    if (first_[row][at].label != Match::kNone) return first_[row][at];
    match.relexing = relexing_.step(relexing_.after(match.label, match.look_behind), representative(cls));
    if (relexing_.viable(match.relexing))  // what is asked there can come back here
        match.pushback = pushbacks_->after_match(match.label, match.look_behind, cls);
    if (!match.waits()) match = {Match::kFailed};
    return first_[row][at] = match;
}

// Whether all that the pushback can be read as is being read by threads ahead of the fallback, in step: they
// stay alive as long, and match when it would.
bool Determinizer::is_outrun(const State& state) const {
    if (!state.fallback.waits()) return false;
    const auto positions = relexing_.positions(state.fallback.relexing);
    return std::all_of(positions.begin(), positions.end(), [&](std::int32_t position) {
        return std::any_of(state.threads.begin(), state.threads.end(),
                           [&](const Thread& thread) { return thread.position == position; });
    });
}

std::int32_t Determinizer::finish(State&& state) {
    if (pass_ != Pass::kSurvey && !state.threads.empty() && is_outrun(state)) state.fallback = {};
    if (pass_ == Pass::kCut) cut_loops(state);
    auto& threads = state.threads;
    if (state.fallback.label < 0)  // what cannot lead on matters only before what can
        while (!threads.empty() && threads.back().match.label == Match::kFailed) threads.pop_back();
    if (!threads.empty()) return intern(std::move(state));
    return state.fallback.label < 0 ? LexingAutomaton::kDead : commit(state.fallback);
}

// Gives up the matches that wait in a loop. A pending one fails; without the fallback the threads win.
void Determinizer::cut_loops(State& state) {
    if (state.threads.empty()) return;
    for (const auto slot : waiting_slots(state)) {
        if (!loops_.contains(line_of(state, slot), match_in(state, slot).relexing)) continue;
        if (slot == kFallback)
            state.fallback = {};
        else
            state.threads[static_cast<std::size_t>(slot)].match = {Match::kFailed};
    }
}

std::vector<Determinizer::Slot> Determinizer::waiting_slots(const State& state) {
    std::vector<Slot> slots;
    for (std::size_t slot = 0; slot < state.threads.size(); ++slot)
        if (state.threads[slot].match.waits()) slots.push_back(static_cast<Slot>(slot));
    if (state.fallback.waits()) slots.push_back(kFallback);
    return slots;
}

std::uint8_t Determinizer::columns_kept(const State& state) const {
    int keeps = 0;
    if (std::any_of(state.threads.begin(), state.threads.end(), [&](const Thread& thread) {
            return spec_.nfa.owner[static_cast<std::size_t>(thread.position)] == spec_.newline;
        }))
        keeps |= LexingAutomaton::kCounting;
    if (state.fallback.label == spec_.newline)
        keeps |= state.fallback.waits() ? LexingAutomaton::kOldMatch : LexingAutomaton::kFreshMatch;
    return static_cast<std::uint8_t>(keeps);
}

// What the end of the text makes of a state: the first match that it decides.
std::int32_t Determinizer::at_end(const State& state) {
    if (state.fresh) return LexingAutomaton::kBoundary;
    auto match = state.fallback;
    for (const auto& thread : state.threads) {
        if (spec_.nfa.kind_of(thread.position) != NfaKind::kPendingOrEnd) continue;
        match = thread.match;
        note_match(spec_.nfa.owner[static_cast<std::size_t>(thread.position)]);
        break;
    }
    return reach(match.label < 0 ? LexingAutomaton::kDead : commit(match));
}

// A text that leads from the start of a lexeme to the state.
std::string Determinizer::path_to(const State& state) const {
    std::string text;
    for (const auto* at = &state; at->parent >= 0; at = &states_[static_cast<std::size_t>(at->parent)])
        text.push_back(static_cast<char>(representative(at->via)));
    std::reverse(text.begin(), text.end());
    return text;
}

std::int32_t Determinizer::commit(const Match& match) {
    const std::int32_t key[] = {match.label, match.look_behind, match.pushback};
    const auto id = commit_ids_.intern(key);
    if (static_cast<std::size_t>(id) == commits_.size()) {
        commits_.push_back(match);
        commit_number_.push_back(LexingAutomaton::kDead);
    }
    return LexingAutomaton::kDead - 1 - id;
}

std::int32_t Determinizer::intern(State&& state) {
    note_key(state);
    const auto id = state_ids_.intern(key_);
    if (static_cast<std::size_t>(id) == states_.size()) {
        if (spec_.newline >= 0) state.keeps = columns_kept(state);
        states_.push_back(std::move(state));
        steps_.emplace_back();
        number_.push_back(LexingAutomaton::kDead);
        budget_.check_states(states_.size());
    }
    return id;
}

// What tells states apart, in `key_`.
void Determinizer::note_key(const State& state) {
    key_.assign({state.fresh, state.look_behind, static_cast<std::int32_t>(state.threads.size())});
    const auto add = [&](const Match& match) {
        key_.push_back(match.label);
        if (match.label >= 0) key_.insert(key_.end(), {match.look_behind, match.pushback, match.relexing});
    };
    for (const auto& thread : state.threads) {
        key_.push_back(thread.position);
        if (spec_.nfa.is_pending(thread.position)) add(thread.match);
    }
    key_.push_back(static_cast<std::int32_t>(state.shadows.size()));
    for (const auto& shadow : state.shadows)
        key_.insert(key_.end(), {shadow.regex, shadow.keyword, shadow.position});
    add(state.fallback);
}

std::vector<std::int32_t> Determinizer::entries_after(std::int32_t label, std::int32_t look_behind) {
    std::vector<std::int32_t> entries;
    for (const auto context : out_.contexts_after(label)) {
        const auto found = entry(context, look_behind);
        if (std::ranges::find(entries, found) == entries.end()) entries.push_back(found);
    }
    return entries;
}

std::int32_t Determinizer::next(std::int32_t state, std::int32_t cls) {
    const auto number = number_[static_cast<std::size_t>(state)];
    if (number >= 0 && static_cast<std::size_t>(number) < made_.end.size()) {
        const auto target =
            made_.delta[static_cast<std::size_t>(number) * static_cast<std::size_t>(out_.num_classes_) +
                        static_cast<std::size_t>(cls)];
        if (target == LexingAutomaton::kDead) return target;
        return target >= 0 ? reached_[static_cast<std::size_t>(target)]
                           : reached_commits_[static_cast<std::size_t>(LexingAutomaton::kDead - 1 - target)];
    }
    const auto at = static_cast<std::size_t>(state);
    if (steps_[at].empty()) {
        std::vector<Step> row(static_cast<std::size_t>(out_.num_classes_));
        if (states_[at].fresh) complete(state, row);  // all of it will be asked for
        steps_[at] = std::move(row);
    }
    auto found = steps_[at][static_cast<std::size_t>(cls)];
    if (found.target == Step::kUnknown) {
        found = step(state, cls);
        steps_[at][static_cast<std::size_t>(cls)] = found;
    }
    return found.target;
}

std::vector<std::int32_t> Determinizer::carried(std::int32_t state) const {
    std::vector<std::int32_t> found;
    const auto& of = states_[static_cast<std::size_t>(state)];
    for (const auto slot : waiting_slots(of)) found.push_back(match_in(of, slot).pushback);
    return found;
}

void Determinizer::move(LexerConfiguration& lexing, std::int32_t next, std::int32_t cls) const {
    out_.move_columns(lexing, states_[static_cast<std::size_t>(next)].keeps, cls);
}

Pushbacks::Committed Determinizer::committed(std::int32_t commit, const LexerConfiguration& lexing,
                                             std::int32_t cls) {
    const auto& match = commits_[static_cast<std::size_t>(LexingAutomaton::kDead - 1 - commit)];
    Column column;
    if (match.label == spec_.newline)
        column = match.waits() ? lexing.matched : out_.column_after(lexing.now, cls);
    return {match.label, match.look_behind, match.pushback, column};
}

// What decides how long a match waits: its line, see LookaheadCycles.
std::vector<std::int32_t> Determinizer::line_of(const State& state, Slot slot) {
    std::vector<std::int32_t> line{slot == kFallback, match_in(state, slot).label, state.look_behind};
    const auto ahead = slot == kFallback ? state.threads.size() : static_cast<std::size_t>(slot) + 1;
    for (std::size_t at = 0; at < ahead; ++at) line.push_back(state.threads[at].position);
    return line;
}

}  // namespace pdacon
