#include "lexer/subset_construction.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pdacon {

namespace {

// A bounded pass is given up when a pushback has kLongPushback bytes or, once there are more states than
// positions in the patterns, kShortPushback. (Long lists of words have as many states as positions without
// any pushback.) It is also given up when states are found much faster than they are explored, since an
// unbounded wait can have very many pushbacks before one of them is long.
constexpr std::int32_t kLongPushback = 16, kShortPushback = 4;
constexpr std::size_t kFewStates = 1'000;

}  // namespace

SubsetConstruction::SubsetConstruction(const LexerSpec& spec, const ByteClasses& bytes, Relexing& relexing,
                                       LookaheadCycles* cycles, Budget& budget)
    : spec_(spec),
      bytes_(bytes),
      relexing_(relexing),
      cycles_(cycles),
      budget_(budget),
      columns_(column_rules(bytes.class_of, spec.lines(), spec.tab_width)),
      closure_(spec.nfa),
      transitions_(bytes.count),
      fallback_rows_(static_cast<std::size_t>(spec.num_terminals()) + 3) {
    for (std::size_t context = 0; context < spec.contexts.size(); ++context)
        contexts_.push_back(static_cast<std::int32_t>(context));
}

LexingTables SubsetConstruction::tables() && {
    describe_states();
    made_.delta = std::move(transitions_).take();
    made_.num_classes = bytes_.count;
    made_.byte_class = bytes_.class_of;
    return std::move(made_);
}

// What reports say about the states.
void SubsetConstruction::describe_states() {
    made_.states_by_terminal.assign(static_cast<std::size_t>(spec_.num_terminals()), 0);
    if (made_.lookahead > 0) made_.waiting_lengths.assign(reached_.size(), 0);
    if (ignored_label() <= std::numeric_limits<std::int16_t>::max())
        made_.waiting_labels = Packed(Flat<std::int16_t>(described<std::int16_t>()));
    else
        made_.waiting_labels = Packed(described<std::int32_t>());
}

// Counts the states and measures their pushbacks. Returns the labels of the longest.
template <class Label>
std::vector<Label> SubsetConstruction::described() {
    std::vector<std::int32_t> last_seen(made_.states_by_terminal.size(), -1);
    std::vector<Label> labels(reached_.size());
    for (std::size_t at = 0; at < reached_.size(); ++at) {
        if (is_plain(reached_[at])) {
            const auto [position, matched] = plain_state(reached_[at]);
            labels[at] = static_cast<Label>(matched ? label_at(position) : LexingAutomaton::kDead);
            ++made_.states_by_terminal[spec_.nfa.owner[position]];
            continue;
        }
        const auto& state = states_[reached_[at]];
        const Match* longest = &state.fallback;
        for (const auto& thread : state.threads) {
            if (length_of(thread.match) > length_of(*longest)) longest = &thread.match;
            const auto owner = static_cast<std::size_t>(spec_.nfa.owner[thread.position]);
            if (std::exchange(last_seen[owner], static_cast<std::int32_t>(at)) !=
                static_cast<std::int32_t>(at))
                ++made_.states_by_terminal[owner];
        }
        labels[at] = static_cast<Label>(std::max(longest->label, LexingAutomaton::kDead));
        if (!made_.waiting_lengths.empty()) made_.waiting_lengths[at] = length_of(*longest);
    }
    return labels;
}

bool SubsetConstruction::run(Pass pass) {
    pass_ = pass;
    if (pass != Pass::kSurvey)
        pushbacks_.emplace(static_cast<Pushbacks::Lexer&>(*this), bytes_.count, budget_);
    made_.entries.assign(spec_.contexts.size() * static_cast<std::size_t>(num_look_behind()),
                         LexingAutomaton::kDead);
    entries_ = made_.entries;
    made_.matched.assign(static_cast<std::size_t>(spec_.num_terminals()), 0);
    const auto positions = spec_.nfa.kind.size();
    const auto& nfa = spec_.nfa;
    if (pass == Pass::kBounded && nfa.num_look_behind() == 1 && nfa.wanted.empty() && spec_.newline < 0 &&
        positions < kPlain / 2) {
        plain_number_.assign(2 * positions, LexingAutomaton::kDead);
        is_laid_out_.assign(static_cast<std::size_t>(spec_.num_terminals()), false);
    }
    for (const auto context : spec_.starts) enter(context, 0);
    for (std::size_t at = 0; at < reached_.size(); ++at) {
        const auto state = reached_[at];
        if (is_plain(state)) {
            const auto plain = plain_state(state);
            step_plain(state, plain);
            auto& end = fallback_row(plain.matched ? label_at(plain.position) : Match::kNone).end;
            if (end == Step::kUnknown)
                end = plain.matched ? reach(commit({label_at(plain.position)})) : LexingAutomaton::kDead;
            made_.end.push_back(end);
            continue;
        }
        for (const auto slot : waiting_slots(states_[state])) {
            const auto length = length_of(match_in(states_[state], slot));
            const bool lengthens = length > (num_states() > positions ? kShortPushback : kLongPushback);
            const bool swells = num_states() > std::max(kFewStates, positions) && num_states() > 2 * at;
            if (pass == Pass::kBounded && (lengthens || swells)) return false;
            made_.lookahead = std::max(made_.lookahead, length);
        }
        step_all(state);
        made_.end.push_back(at_end(states_[state]));
        if (spec_.newline >= 0) made_.keeps.push_back(states_[state].keeps);
    }
    if (pass == Pass::kSurvey) survey_matches();
    return true;
}

// Tells `cycles_` of all matches that end at their state: each begins to wait there.
void SubsetConstruction::survey_matches() {
    for (const auto& state : states_)
        for (Slot slot = kFallback; slot < static_cast<Slot>(state.threads.size()); ++slot)
            if (const auto& match = match_in(state, slot); match.label >= 0 && !match.waits())
                cycles_->add_match(cycles_->add_wait(wait_of(state, slot)), match.look_behind,
                                   path_to(state));
}

// Called for what a text leads to: the number, in the automaton, of a state, a commit or kDead.
std::int32_t SubsetConstruction::reach(std::int32_t target) {
    if (target == LexingAutomaton::kDead) return target;
    if (target >= 0) {
        auto& number = number_of(target);
        if (number == LexingAutomaton::kDead) {
            number = static_cast<std::int32_t>(reached_.size());
            reached_.push_back(target);
            if (is_plain(target)) ++num_plain_;
            budget_.check_states(num_states());
        }
        return number;
    }
    const auto id = LexingAutomaton::commit_number(target);
    auto& number = commit_number_[id];
    if (number == LexingAutomaton::kDead) {
        const auto& match = commits_[id];
        number = LexingAutomaton::commit_with(static_cast<std::int32_t>(reached_commits_.size()));
        reached_commits_.push_back(target);
        const auto text = pushbacks_ ? pushbacks_->text(match.pushback) : std::vector<std::int32_t>{};
        made_.commits.push_back({match.label, match.look_behind, made_.pushbacks.intern(text)});
        for (const auto context : contexts_after(match.label)) enter(context, match.look_behind);
    }
    return number;
}

// Called where, in some text, a lexeme of the context begins.
void SubsetConstruction::enter(std::int32_t context, std::int32_t look_behind) {
    made_.entries[context * num_look_behind() + look_behind] = reach(entry(context, look_behind));
    const auto& terminals = spec_.contexts[context].alternation;
    if (has_plain_states() && terminals.size() == 1 && is_large_and_alone(terminals[0]))
        number_plain_states(terminals[0]);
}

// The state at the start of a lexeme.
std::int32_t SubsetConstruction::entry(std::int32_t context, std::int32_t look_behind) {
    const auto place = static_cast<std::size_t>(context * num_look_behind() + look_behind);
    if (entries_[place] != LexingAutomaton::kDead) return entries_[place];
    State state;
    state.at_start = true;
    state.look_behind = look_behind;
    std::vector<std::int32_t> positions;
    closure_.begin();
    for (const auto terminal : spec_.contexts[context].alternation) {
        const auto start = spec_.nfa.entry_of(terminal, look_behind);
        if (start >= 0 && closure_.until_match(start, positions))
            throw std::invalid_argument("lexer: a terminal matches the empty text");
    }
    for (const auto position : positions) {
        if (spec_.nfa.is_pending(position))
            throw std::invalid_argument("lexer: a terminal matches the empty text");
        state.threads.push_back({position, {}});
    }
    for (const auto& rename : spec_.contexts[context].renames) {
        for (const auto keyword : rename.keywords) {
            const auto start = spec_.nfa.entry_of(keyword, look_behind);
            if (start < 0) continue;
            positions.clear();
            closure_.begin();
            closure_.until_match(start, positions);
            for (const auto position : positions) state.keywords.push_back({rename.regex, keyword, position});
        }
    }
    return entries_[place] = intern(std::move(state));
}

void SubsetConstruction::step_all(std::int32_t from) {
    auto row = std::move(steps_[from]);
    complete(from, row);
    const auto made = transitions_.add_row(LexingAutomaton::kDead);
    transitions_.add_state(made);
    std::size_t at = 0;
    for (const auto& [target, matched] : row) {
        if (target != LexingAutomaton::kDead) transitions_.row(made)[at] = reach(target);
        if (matched >= 0) note_match(matched);
        ++at;
    }
}

// Computes the steps of a state that are not known yet. All byte classes of one part of the partition lead to
// the same state, unless a match reads the byte: then pushbacks may tell them apart.
void SubsetConstruction::complete(std::int32_t from, std::vector<Step>& row) {
    const auto partition = this->partition(states_[from]);
    const auto fallback = states_[from].fallback;
    std::vector<Step> results(static_cast<std::size_t>(partition.last) + 1);
    row.resize(static_cast<std::size_t>(bytes_.count));
    const auto lead = [&](std::size_t cls) {
        auto& found = row[cls];
        if (found.target != Step::kUnknown) return;
        budget_.tick();
        auto& same = results[partition.of[cls]];
        if (same.target != Step::kUnknown) {
            found = same;
            return;
        }
        has_read_on_ = false;
        found = step(from, static_cast<std::int32_t>(cls));
        if (!has_read_on_) same = found;
    };
    if (fallback.label < 0) {  // few classes lead on, as in most states of long lists of words
        for (const auto cls : partition.leading()) lead(cls);
        for (auto& step : row)
            if (step.target == Step::kUnknown) step.target = LexingAutomaton::kDead;
        return;
    }
    for (std::size_t cls = 0; cls < row.size(); ++cls)
        if (partition.of[cls] != Partition::kNoThread)
            lead(cls);
        else if (row[cls].target == Step::kUnknown)
            row[cls].target = without_threads(from, fallback, static_cast<std::int32_t>(cls));
}

// Partition refinement: the targets of each thread, the look-behind state and the escape that has been begun
// split the parts one after another.
SubsetConstruction::Partition SubsetConstruction::partition(const State& state) {
    const auto& nfa = spec_.nfa;
    Partition partition;
    const auto split = [&](std::uint8_t cls, std::int32_t target) {
        auto& part = partition.of[cls];
        if (part == Partition::kNoThread) partition.classes[partition.num_classes++] = cls;
        const auto known = std::ranges::find_if(
            splits_, [&](const Split& other) { return other.part == part && other.target == target; });
        const auto into = known == splits_.end() ? ++partition.last : known->into;
        if (known == splits_.end()) splits_.push_back({part, target, into});
        part = into;
    };
    const auto split_all = [&](std::int32_t position) {
        splits_.clear();
        for (const auto edge : nfa.edges(position))
            for (std::size_t byte = nfa.low[edge]; byte <= nfa.high[edge]; ++byte)
                if (const auto cls = bytes_.class_of[byte]; bytes_.representative[cls] == byte)
                    split(cls, nfa.target[edge]);
    };
    for (const auto& thread : state.threads) split_all(thread.position);
    for (const auto& keyword_thread : state.keywords) split_all(keyword_thread.position);
    std::sort(partition.classes.begin(), partition.classes.begin() + partition.num_classes);
    splits_.clear();
    for (const auto cls : partition.leading())
        split(cls, nfa.look_behind_after(state.look_behind, bytes_.representative[cls]));
    if (columns_.lines != Lines::kEscaped) return partition;
    splits_.clear();
    for (const auto cls : partition.leading()) split(cls, columns_.escape_after(state.keeps, cls));
    return partition;
}

// Whether no wanted text (Nfa::wanted) begins with what has been read and the byte class. Then nothing that
// is matched, or lexed again, matters.
bool SubsetConstruction::leads_outside(std::int32_t from, std::int32_t cls) const {
    const auto& nfa = spec_.nfa;
    return nfa.is_outside(nfa.look_behind_after(states_[from].look_behind, representative(cls)));
}

// The target of a byte class on which no thread goes on.
std::int32_t SubsetConstruction::without_threads(std::int32_t from, const Match& fallback, std::int32_t cls) {
    if (leads_outside(from, cls)) return LexingAutomaton::kDead;
    const auto match = read_on(fallback, cls);
    return match.label < 0 ? LexingAutomaton::kDead : commit(match);
}

SubsetConstruction::Step SubsetConstruction::step(std::int32_t from, std::int32_t cls) {
    if (leads_outside(from, cls)) return {LexingAutomaton::kDead, -1};
    State state;
    state.parent = from;
    state.via = cls;
    state.escape = columns_.escape_after(states_[from].keeps, cls);
    moved_matches_.clear();
    // Pushbacks may ask for other states while it answers, so it is asked before the scratch space is used.
    const auto pending = read_pending(from, cls);
    std::int32_t matched = -1;
    if (move(states_[from], cls, pending, state, matched)) {
        state.fallback = read_on(states_[from].fallback, cls);
        if (state.fallback.label < 0) state.fallback = {};
    }
    const auto next = finish(std::move(state));
    if (pass_ == Pass::kSurvey && next >= 0) survey_step(from, cls, next);
    return {next, matched};
}

// The matches of the pending threads that go on, after one more byte.
std::vector<SubsetConstruction::Match> SubsetConstruction::read_pending(std::int32_t from, std::int32_t cls) {
    std::vector<Match> pending;
    for (std::size_t slot = 0; slot < states_[from].threads.size(); ++slot) {
        const auto& thread = states_[from].threads[slot];
        if (!spec_.nfa.is_pending(thread.position)) continue;
        pending.resize(slot + 1);
        if (closure_.step(thread.position, representative(cls)) >= 0)
            pending[slot] = read_on(thread.match, cls);
    }
    return pending;
}

// Tells `cycles_` of each match that goes on waiting in the step at hand.
void SubsetConstruction::survey_step(std::int32_t from, std::int32_t cls, std::int32_t next) {
    for (const auto& [before, after] : moved_matches_) {
        const auto wait = cycles_->add_wait(wait_of(states_[from], before));
        const auto to = cycles_->add_wait(wait_of(states_[next], after));
        cycles_->add_step(wait, cls, to);
    }
}

// Moves all threads, in order, until one has matched for certain; the threads after it are cut. Returns
// whether the fallback stays, and so reads the byte.
bool SubsetConstruction::move(const State& from, std::int32_t cls, const std::vector<Match>& pending,
                              State& to, std::int32_t& matched_terminal) {
    const auto& nfa = spec_.nfa;
    const auto byte = representative(cls);
    to.look_behind = nfa.look_behind_after(from.look_behind, byte);
    std::int32_t matched = -1, match_look_behind = to.look_behind;
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
                matched = nfa.owner[target];
                matched_terminal = matched;
                match_look_behind = nfa.look_behind_of_match(target, to.look_behind);
            }
            continue;
        }
        const auto& match = pending[slot];
        const auto before = static_cast<Slot>(slot);
        if (nfa.kind_of(target) == NfaKind::kMatch) {
            matched_terminal = nfa.owner[thread.position];
            to.fallback = match;
            certain = true;
            moved_matches_.emplace_back(before, kFallback);
        } else if (closure_.first(target)) {
            moved_matches_.emplace_back(before, static_cast<Slot>(to.threads.size()));
            to.threads.push_back({target, match});
        }
    }
    const auto names = step_keywords(from, byte, to);
    const auto match_of = [&](std::int32_t terminal, std::int32_t look_behind) {
        const auto name = std::find_if(names.begin(), names.end(),
                                       [&](const auto& renamed) { return renamed.first == terminal; });
        const bool ignored = spec_.ignored[terminal];
        return Match{ignored ? ignored_label() : name != names.end() ? name->second : terminal, look_behind};
    };
    for (auto& thread : to.threads)
        if (nfa.is_pending(thread.position) && thread.match.label == Match::kNone)
            thread.match = match_of(nfa.owner[thread.position], to.look_behind);
    if (matched >= 0) to.fallback = match_of(matched, match_look_behind);
    if (to.fallback.label < 0) to.fallback = {};
    if (certain || from.fallback.label < 0) return false;
    moved_matches_.emplace_back(kFallback, kFallback);
    return true;
}

// Moves the keyword threads. Returns pairs of a regex and the keyword that renames its match, if it matches
// here.
std::vector<std::pair<std::int32_t, std::int32_t>> SubsetConstruction::step_keywords(const State& from,
                                                                                     std::uint8_t byte,
                                                                                     State& to) {
    std::vector<std::pair<std::int32_t, std::int32_t>> names;
    for (const auto& keyword_thread : from.keywords) {
        const auto target = closure_.step(keyword_thread.position, byte);
        if (target < 0) continue;
        positions_.clear();
        closure_.begin();
        if (closure_.until_match(target, positions_))
            names.emplace_back(keyword_thread.regex, keyword_thread.keyword);
        if (std::none_of(to.threads.begin(), to.threads.end(), [&](const Thread& thread) {
                return spec_.nfa.owner[thread.position] == keyword_thread.regex;
            }))
            continue;  // no thread of the regex is left, so it cannot match any more
        for (const auto position : positions_) {
            const KeywordThread next{keyword_thread.regex, keyword_thread.keyword, position};
            if (std::find(to.keywords.begin(), to.keywords.end(), next) == to.keywords.end())
                to.keywords.push_back(next);
        }
    }
    return names;
}

// The match after one more byte of its pushback.
SubsetConstruction::Match SubsetConstruction::read_on(Match match, std::int32_t cls) {
    if (pass_ == Pass::kSurvey) {
        match.pushback = 0;
    } else if (match.waits()) {
        match.relexing = relexing_.step(match.relexing, representative(cls));
        match.pushback =
            relexing_.viable(match.relexing) ? pushbacks_->after(match.pushback, cls) : Pushbacks::kNone;
        if (!match.waits()) match = {Match::kFailed};
    } else if (match.label >= 0) {
        match.relexing = relexing_.step(relexing_.after(match.label, match.look_behind), representative(cls));
        if (relexing_.viable(match.relexing))
            match.pushback = pushbacks_->after_match(match.label, match.look_behind, cls);
        if (!match.waits()) match = {Match::kFailed};
    }
    has_read_on_ = true;  // set last: Pushbacks may have made other steps meanwhile
    return match;
}

// Whether the fallback can never be used: threads ahead of it are at every position at which the lexer can be
// in the pushback, so they stay alive as long as the pushback does, and match when it would.
bool SubsetConstruction::is_redundant(const State& state) const {
    if (!state.fallback.waits()) return false;
    const auto positions = relexing_.positions(state.fallback.relexing);
    return std::all_of(positions.begin(), positions.end(), [&](std::int32_t position) {
        return std::any_of(state.threads.begin(), state.threads.end(),
                           [&](const Thread& thread) { return thread.position == position; });
    });
}

std::int32_t SubsetConstruction::finish(State&& state) {
    if (pass_ != Pass::kSurvey && !state.threads.empty() && is_redundant(state)) state.fallback = {};
    if (pass_ == Pass::kCut) cut_cycles(state);
    auto& threads = state.threads;
    if (state.fallback.label < 0)  // a failed thread matters only if a lower one can still match
        while (!threads.empty() && threads.back().match.label == Match::kFailed) threads.pop_back();
    if (!threads.empty()) return intern(std::move(state));
    return state.fallback.label < 0 ? LexingAutomaton::kDead : commit(state.fallback);
}

// Gives up the matches that wait in a cycle: a pending one fails, and without its fallback the threads win.
void SubsetConstruction::cut_cycles(State& state) {
    if (state.threads.empty()) return;
    for (const auto slot : waiting_slots(state)) {
        if (!cycles_->contains(wait_of(state, slot), match_in(state, slot).relexing)) continue;
        if (slot == kFallback)
            state.fallback = {};
        else
            state.threads[slot].match = {Match::kFailed};
    }
}

std::vector<SubsetConstruction::Slot> SubsetConstruction::waiting_slots(const State& state) {
    std::vector<Slot> slots;
    for (std::size_t slot = 0; slot < state.threads.size(); ++slot)
        if (state.threads[slot].match.waits()) slots.push_back(static_cast<Slot>(slot));
    if (state.fallback.waits()) slots.push_back(kFallback);
    return slots;
}

std::uint8_t SubsetConstruction::columns_kept(const State& state) const {
    int keeps = 0;
    if (std::any_of(state.threads.begin(), state.threads.end(),
                    [&](const Thread& thread) { return spec_.nfa.owner[thread.position] == spec_.newline; }))
        keeps |= kCounting | state.escape << kEscapeShift;
    if (state.fallback.label == spec_.newline) keeps |= state.fallback.waits() ? kOldMatch : kFreshMatch;
    return static_cast<std::uint8_t>(keeps);
}

// What the end of the text makes of a state: kBoundary, or the commit of the first match that it decides, or
// kDead.
std::int32_t SubsetConstruction::at_end(const State& state) {
    if (!spec_.nfa.may_end(state.look_behind)) return LexingAutomaton::kDead;
    if (state.at_start) return LexingAutomaton::kBoundary;
    auto match = state.fallback;
    for (const auto& thread : state.threads) {
        if (spec_.nfa.kind_of(thread.position) != NfaKind::kPendingOrEnd) continue;
        match = thread.match;
        note_match(spec_.nfa.owner[thread.position]);
        break;
    }
    return reach(match.label < 0 ? LexingAutomaton::kDead : commit(match));
}

// A text that leads from the start of a lexeme to the state.
std::string SubsetConstruction::path_to(const State& state) const {
    std::string text;
    for (const auto* at = &state; at->parent >= 0; at = &states_[at->parent])
        text.push_back(static_cast<char>(representative(at->via)));
    std::reverse(text.begin(), text.end());
    return text;
}

std::int32_t SubsetConstruction::commit(const Match& match) {
    const std::int32_t key[] = {match.label, match.look_behind, match.pushback};
    const auto id = commit_ids_.intern(key);
    if (static_cast<std::size_t>(id) == commits_.size()) {
        commits_.push_back(match);
        commit_number_.push_back(LexingAutomaton::kDead);
    }
    return LexingAutomaton::commit_with(id);
}

std::int32_t SubsetConstruction::intern(State&& state) {
    if (is_plain(state)) return plain_id(state.threads[0].position, state.fallback.label >= 0);
    if (spec_.newline >= 0) state.keeps = columns_kept(state);
    note_key(state);
    const auto id = state_ids_.intern(key_);
    if (static_cast<std::size_t>(id) == states_.size()) {
        states_.push_back(std::move(state));
        steps_.emplace_back();
        number_.push_back(LexingAutomaton::kDead);
        budget_.check_states(num_states());
    }
    return id;
}

// Writes what tells states apart into `key_`.
void SubsetConstruction::note_key(const State& state) {
    key_.assign({state.at_start, state.look_behind, static_cast<std::int32_t>(state.threads.size())});
    const auto add = [&](const Match& match) {
        key_.push_back(match.label);
        if (match.label >= 0) key_.insert(key_.end(), {match.look_behind, match.pushback, match.relexing});
    };
    for (const auto& thread : state.threads) {
        key_.push_back(thread.position);
        if (spec_.nfa.is_pending(thread.position)) add(thread.match);
    }
    key_.push_back(static_cast<std::int32_t>(state.keywords.size()));
    for (const auto& keyword_thread : state.keywords)
        key_.insert(key_.end(), {keyword_thread.regex, keyword_thread.keyword, keyword_thread.position});
    add(state.fallback);
    if (columns_.lines == Lines::kEscaped) key_.push_back(state.keeps);
}

// What a match and the threads ahead of it are to LookaheadCycles: see its add_wait.
std::vector<std::int32_t> SubsetConstruction::wait_of(const State& state, Slot slot) {
    std::vector<std::int32_t> wait{slot == kFallback, match_in(state, slot).label, state.look_behind};
    const auto ahead = slot == kFallback ? state.threads.size() : static_cast<std::size_t>(slot) + 1;
    for (std::size_t at = 0; at < ahead; ++at) wait.push_back(state.threads[at].position);
    return wait;
}

}  // namespace pdacon
