#include "liveness/futures.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/components.hpp"

namespace pdacon {

namespace {

// Sequences of different lengths, one after the other; the last one grows until it is closed.
struct Sequences {
    std::vector<std::int32_t> values;
    std::vector<std::size_t> ends;

    void close() { ends.push_back(values.size()); }
    std::size_t size() const { return ends.size(); }
    std::span<const std::int32_t> operator[](std::size_t at) const {
        const auto begin = at == 0 ? 0 : ends[at - 1];
        return {values.data() + begin, ends[at] - begin};
    }
};

void make_set(std::vector<std::int32_t>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

Futures::Futures(const LexingAutomaton& lexer, const VocabularyStar& speller, std::int32_t newline,
                 ColumnClasses classes, Budget& budget)
    : Futures(lexer, speller, newline, classes, budget, Unread()) {
    answer_alike_states();
}

Futures::Futures(const LexingAutomaton& lexer, const VocabularyStar& speller, std::int32_t newline,
                 ColumnClasses classes, Budget& budget, Unread)
    : lexer_(lexer),
      newline_(newline),
      classes_(classes),
      budget_(&budget),
      boundary_(speller.boundary),
      plain_nodes_(static_cast<std::size_t>(lexer.num_states()), kUnvisited),
      plain_commits_(static_cast<std::size_t>(lexer.num_commits()), kNone),
      plain_ends_(static_cast<std::size_t>(lexer.num_commits()), kNone),
      row_(static_cast<std::size_t>(lexer.num_classes())) {
    Interner seen;
    for (std::size_t state = 0; state < speller.edges.size(); ++state) {
        moves_.emplace_back();
        for (const auto& edge : speller.edges[state]) {
            const Move move{lexer.byte_class(edge.byte), edge.next};
            const std::int32_t key[] = {static_cast<std::int32_t>(state), move.byte_class,
                                        move.speller_state};
            const auto known = seen.size();
            if (static_cast<std::size_t>(seen.intern(key)) == known) moves_.back().push_back(move);
        }
    }
}

std::int32_t Futures::residue(std::int32_t speller_state, bool ended, std::int32_t look_behind,
                              std::span<const std::int32_t> bytes, std::span<const std::int32_t> more) {
    residue_key_.assign({speller_state, ended, look_behind});
    residue_key_.insert(residue_key_.end(), bytes.begin(), bytes.end());
    residue_key_.insert(residue_key_.end(), more.begin(), more.end());
    return residues_.intern(residue_key_);
}

// Appends the key of a scan result. Most results are told apart by one number, a state or an emission.
void Futures::add_result(const ScanResult& result, std::vector<std::int32_t>& key) {
    const auto& [emission, column, lexing, speller_state] = result;
    const bool columns = column.known() || lexing.now.known() || lexing.matched.known();
    if (!columns && speller_state == 0) {
        key.push_back(emission < 0 ? lexing.state : -2 - emission);
        return;
    }
    constexpr auto kLonger = std::numeric_limits<std::int32_t>::min();
    key.insert(key.end(), {kLonger, emission, column.value, lexing.state, lexing.now.value,
                           lexing.matched.value, speller_state});
}

std::int32_t Futures::raw_emission(std::int32_t label, std::int32_t residue, Column column) {
    const std::int32_t key[] = {label, residue, classes_.least(column).value};
    return raw_emissions_.find_or_make(key, [] { return kUnclassified; });
}

// A residue can hold several lexemes. Its class then depends on the emission of the first of them, whose own
// residue is shorter, so this ends. Those are classified with an explicit stack, which can become as deep as
// a terminal is long.
std::int32_t Futures::classify(std::int32_t raw) {
    if (raw_emissions_[raw] != kUnclassified) return raw_emissions_[raw];
    std::vector<std::int32_t> open{raw};
    while (!open.empty()) {
        const auto last = open.back();
        if (raw_emissions_[last] != kUnclassified || classify_or_defer(last, open)) open.pop_back();
    }
    return raw_emissions_[raw];
}

// Classifies a raw emission by what each context that can follow its label scans the residue to. Returns
// false where other raw emissions have to be classified first; these are pushed on `open`.
bool Futures::classify_or_defer(std::int32_t raw, std::vector<std::int32_t>& open) {
    budget_->tick();
    const auto key = raw_emissions_.key(raw);
    const std::int32_t label = key[0], residue = key[1], column = key[2];
    const auto before = open.size();
    std::vector<std::int32_t> results{label};
    std::vector<ScanResult> with_columns;
    bool dead = label != lexer_.end_label();
    if (dead) {
        const auto scanned = residues_[residue];
        const bool is_plain = scanned[0] == 0 && scanned[1] == 0;
        const auto look_behind = scanned[2];
        const std::vector<std::int32_t> bytes(scanned.begin() + 3, scanned.end());  // more are interned
        for (const auto context : lexer_.contexts_after(label)) {
            // Most contexts are told by where the lexer comes to; the rest says more, and costs more.
            const auto state = is_plain ? plain_scan(context, look_behind, bytes) : kCommits;
            if (state != kCommits) {
                dead = dead && state < 0;
                results.push_back(state < 0 ? -1 : state);
                continue;
            }
            const auto first = first_scan(context, residue);
            if (first.raw != kNone && raw_emissions_[first.raw] == kUnclassified) open.push_back(first.raw);
            if (open.size() > before) continue;
            const auto result = result_of(first);
            dead = dead && result.dead();
            if (result.column.known() || result.lexing.now.known() || result.lexing.matched.known())
                with_columns.push_back(result);
            add_result(result, results);
        }
    }
    if (open.size() > before) return false;
    results_with_columns_.insert(results_with_columns_.end(), with_columns.begin(), with_columns.end());
    std::int32_t emission = -1;
    if (!dead) {
        const std::int32_t emission_key[] = {num_loaded_classes_ + residue_classes_.intern(results), column};
        emission = emissions_.find_or_make(emission_key,
                                           [&] { return Emission{label, residue, column, emission_key[0]}; });
    }
    raw_emissions_[raw] = emission;
    return true;
}

std::int32_t Futures::commit_emission(std::int32_t next, const LexerConfiguration& lexing, const Move& move) {
    const auto& commit = lexer_.commit(next);
    if (move.speller_state == 0 && commit.label != newline_) return classify(plain_commit(next));
    const auto left =
        residue(move.speller_state, false, commit.look_behind, lexer_.pushback(commit.pushback));
    return classify(raw_emission(commit.label, left, column_of(commit, lexing, move.byte_class)));
}

// The raw emission of a commit that has no column and leaves no token under way.
std::int32_t Futures::plain_commit(std::int32_t next) {
    auto& plain = plain_commits_[LexingAutomaton::commit_number(next)];
    if (plain == kNone) {
        const auto& commit = lexer_.commit(next);
        const auto left = residue(0, false, commit.look_behind, lexer_.pushback(commit.pushback));
        plain = raw_emission(commit.label, left, {});
    }
    return plain;
}

// Where the bytes of a residue lead to from the start of a context, if that is a lexer state that keeps no
// columns: the state, or kDead; kCommits if it is not known without a closer look.
std::int32_t Futures::plain_scan(std::int32_t context, std::int32_t look_behind,
                                 std::span<const std::int32_t> bytes) const {
    auto state = lexer_.entry(context, look_behind);
    for (const auto byte : bytes) {
        if (state < 0) return LexingAutomaton::kDead;
        state = lexer_.next(state, byte);
        if (LexingAutomaton::is_commit(state) || (state >= 0 && lexer_.keeps_columns(state))) return kCommits;
    }
    return state < 0 ? LexingAutomaton::kDead : state;
}

std::int32_t Futures::end_emission(const LexerConfiguration& lexing) {
    const auto raw = raw_end_emission(lexing);
    return raw == kNone ? -1 : classify(raw);
}

std::int32_t Futures::raw_end_emission(const LexerConfiguration& lexing) {
    const auto end = lexer_.at_end(lexing.state);
    if (end == LexingAutomaton::kDead) return kNone;
    if (end == LexingAutomaton::kBoundary)
        return raw_emission(lexer_.end_label(), residue(0, true, 0, {}), {});
    const auto& commit = lexer_.commit(end);
    const auto make = [&](Column column) {
        const auto left = residue(0, true, commit.look_behind, lexer_.pushback(commit.pushback));
        return raw_emission(commit.label, left, column);
    };
    if (commit.label == newline_) return make(lexing.matched);
    const auto number = static_cast<std::size_t>(LexingAutomaton::commit_number(end));
    if (plain_ends_[number] == kNone) plain_ends_[number] = make({});
    return plain_ends_[number];
}

Futures::FirstScan Futures::first_scan(std::int32_t context, std::int32_t residue_id) {
    const auto key = residues_[residue_id];  // valid until another one is interned
    const auto bytes = key.subspan(3);
    const auto speller_state = key[0];
    const bool ended = key[1] != 0;
    LexerConfiguration lexing{lexer_.entry(context, key[2]), {}, {}};
    if (lexing.state < 0) return {};
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const auto next = lexer_.next(lexing.state, bytes[at]);
        if (next == LexingAutomaton::kDead) return {};
        if (next >= 0) {
            newline_ < 0 ? void(lexing.state = next) : lexer_.move(lexing, next, bytes[at]);
            continue;
        }
        const auto& commit = lexer_.commit(next);
        if (at + 1 == bytes.size() && speller_state == 0 && !ended && commit.label != newline_)
            return {{-1, {}}, plain_commit(next)};
        const auto column = column_of(commit, lexing, bytes[at]);
        const auto left = residue(speller_state, ended, commit.look_behind, lexer_.pushback(commit.pushback),
                                  bytes.subspan(at + 1));
        return {{-1, column}, raw_emission(commit.label, left, column)};
    }
    if (!ended) return {{-1, {}, lexing, speller_state}};
    const auto raw = raw_end_emission(lexing);
    const bool ends_line = raw != kNone && raw_emissions_.key(raw)[0] == newline_;
    return {{-1, ends_line ? lexing.matched : Column{}}, raw};
}

// The result of a scan whose raw emission has been classified.
Futures::ScanResult Futures::result_of(const FirstScan& first) const {
    if (first.raw == kNone) return first.result;
    const auto emission = raw_emissions_[first.raw];
    return emission < 0 ? ScanResult{} : ScanResult{emission, first.result.column};
}

Futures::ScanResult Futures::scan(std::int32_t context, std::int32_t residue) {
    const auto first = first_scan(context, residue);
    if (first.raw != kNone) classify(first.raw);
    return result_of(first);
}

std::vector<Emission> Futures::after(std::int32_t context, std::int32_t residue_id) {
    if (residue_id < 0 || static_cast<std::size_t>(residue_id) >= residues_.size())
        throw std::out_of_range("futures: no such residue");
    if (context < 0 || context >= lexer_.num_contexts()) throw std::out_of_range("futures: no such context");
    if (lexer_.entry(context, residues_[residue_id][2]) == LexingAutomaton::kDead) return {};
    const auto result = scan(context, residue_id);
    if (result.emission >= 0) return {emission(result.emission)};
    std::vector<Emission> found;
    if (result.lexing.state >= 0)
        for (const auto id : emissions(of(result.lexing, result.speller_state)))
            found.push_back(emission(id));
    return found;
}

std::int32_t Futures::node(const LexerConfiguration& lexing, std::int32_t speller_state) {
    if (speller_state == 0 && !lexing.now.known() && !lexing.matched.known()) {
        auto& plain = plain_nodes_[lexing.state];
        if (plain < 0) plain = add_node(lexing, speller_state);
        return plain;
    }
    const std::int32_t key[] = {lexing.state, speller_state, lexing.now.value, lexing.matched.value};
    return other_nodes_[other_nodes_.find_or_make(key, [&] { return add_node(lexing, speller_state); })];
}

std::int32_t Futures::add_node(const LexerConfiguration& lexing, std::int32_t speller_state) {
    budget_->check_states(nodes_.size() + 1);
    nodes_.push_back({lexing, speller_state});
    return static_cast<std::int32_t>(nodes_.size()) - 1;
}

// Appends the distinct successors of a node, and the emissions that its own edges make.
void Futures::expand(std::int32_t at, std::vector<std::int32_t>& successors, std::vector<std::int32_t>& sets,
                     std::vector<std::int32_t>& own) {
    budget_->tick();
    const auto lexing = node_at(at).lexing;  // copies: more nodes are made
    const auto speller_state = node_at(at).speller_state;
    const auto distinct = moves(speller_state);
    const bool most = 2 * distinct.size() > static_cast<std::size_t>(lexer_.num_classes());
    if (most) lexer_.copy_row(lexing.state, row_);
    for (const auto& move : distinct) {
        const auto next = most ? row_[move.byte_class] : lexer_.next(lexing.state, move.byte_class);
        if (next == LexingAutomaton::kDead) continue;
        if (next >= 0) {
            const auto after = moved(lexing, next, move.byte_class);
            if (const auto set = set_without_node(after, move.speller_state); set >= 0) {
                if (sets.empty() || sets.back() != set) sets.push_back(set);
                continue;
            }
            const auto to = node(after, move.speller_state);
            // Neighbours mostly lead to the same.
            if (successors.empty() || successors.back() != to) successors.push_back(to);
            continue;
        }
        const auto emission = commit_emission(next, lexing, move);
        if (emission >= 0) own.push_back(emission);
    }
    if (may_end(speller_state))
        if (const auto end = end_emission(lexing); end >= 0) own.push_back(end);
    make_set(successors);
}

std::int32_t Futures::of(const LexerConfiguration& lexing, std::int32_t speller_state) {
    const auto least = newline_ < 0 ? LexerConfiguration{lexing.state, {}, {}} : classes_.least(lexing);
    if (const auto set = set_without_node(least, speller_state); set >= 0) return set;
    const auto start = node(least, speller_state);
    if (node_at(start).set < 0) close_over(start);
    return node_at(start).set;
}

// Removes emissions that others cover. A newline without a line break is of use only where the parser skips
// newlines, and there every newline with the same residue class does the same.
void Futures::drop_covered(std::vector<std::int32_t>& emissions) const {
    std::vector<std::int32_t> covered;  // residue classes
    for (const auto id : emissions)
        if (emission(id).label == newline_ && emission(id).column >= 0)
            covered.push_back(emission(id).residue_class);
    if (covered.empty()) return;
    std::sort(covered.begin(), covered.end());
    std::erase_if(emissions, [&](std::int32_t id) {
        const auto& at = emission(id);
        return at.label == newline_ && at.column < 0 &&
               std::binary_search(covered.begin(), covered.end(), at.residue_class);
    });
}

// Computes the futures of all nodes that are reachable from one and have none yet. The nodes of a strongly
// connected component share theirs: the union of what their edges emit or lead to.
void Futures::close_over(std::int32_t start) {
    std::vector<std::int32_t> open{start}, successors;
    struct IndicesCleared {
        std::vector<Node>& nodes;
        const std::vector<std::int32_t>& open;
        ~IndicesCleared() {
            for (const auto at : open) nodes[at].index = -1;
        }
    };
    const IndicesCleared in_the_end{nodes_, open};  // where a limit is met, too
    node_at(start).index = 0;
    Sequences within, beyond, own;  // by open node: its open successors, the futures of others, own emissions
    for (std::size_t at = 0; at < open.size(); ++at) {
        successors.clear();
        expand(open[at], successors, beyond.values, own.values);
        for (const auto next : successors) {
            auto& node = node_at(next);
            if (node.set >= 0) {
                beyond.values.push_back(node.set);
                continue;
            }
            if (node.index < 0) {
                open.push_back(next);
                node.index = static_cast<std::int32_t>(open.size()) - 1;
            }
            within.values.push_back(node.index);
        }
        for (auto* sequences : {&within, &beyond, &own}) sequences->close();
    }
    const auto component = components(within);
    std::vector<std::size_t> ends(open.size() + 1);  // of each component, in `order`
    for (const auto at : component) ++ends[at + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<std::size_t> order(open.size());
    for (std::size_t at = 0; at < open.size(); ++at) order[ends[component[at]]++] = at;
    std::vector<std::int32_t> emissions, sets, answers;  // of each component so far: its future
    for (std::size_t group = 0, begin = 0; begin < order.size(); begin = ends[group++]) {  // successors first
        const auto members = std::span(order).subspan(begin, ends[group] - begin);
        emissions.clear();
        sets.clear();
        for (const auto at : members) {
            emissions.insert(emissions.end(), own[at].begin(), own[at].end());
            sets.insert(sets.end(), beyond[at].begin(), beyond[at].end());
            for (const auto next : within[at])
                if (const auto other = static_cast<std::size_t>(component[next]); other != group)
                    sets.push_back(answers[other]);
        }
        make_set(sets);
        const auto answer = emissions.empty() && sets.size() == 1 ? sets[0] : join(emissions, sets);
        answers.push_back(answer);
        for (const auto at : members) node_at(open[at]).set = answer;
    }
}

// The id of the union of some emissions and some sets of them. Where there are many, they are sorted through
// a bitset, which is linear. Its bits are 0 again in the end: `emissions` has room for what is left of it.
std::int32_t Futures::join(std::vector<std::int32_t>& emissions, std::span<const std::int32_t> sets) {
    for (const auto set : sets) emissions.insert(emissions.end(), sets_[set].begin(), sets_[set].end());
    marks_.resize(emissions_.size() / kBits + 1, 0);
    if (emissions.size() <= marks_.size()) {
        make_set(emissions);
    } else {
        for (const auto emission : emissions)
            marks_[static_cast<std::size_t>(emission) / kBits] |= std::uint64_t{1} << (emission % kBits);
        emissions.clear();
        for (std::size_t word = 0; word < marks_.size(); ++word)
            for (auto left = std::exchange(marks_[word], 0); left != 0; left &= left - 1)
                emissions.push_back(static_cast<std::int32_t>(word * kBits) + std::countr_zero(left));
    }
    if (newline_ >= 0) drop_covered(emissions);
    return sets_.intern(emissions);
}

}  // namespace pdacon
