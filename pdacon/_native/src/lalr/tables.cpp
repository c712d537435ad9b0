#include "lalr/tables.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/memory.hpp"
#include "lalr/automaton.hpp"
#include "lalr/digraph.hpp"

namespace pdacon::lalr {
namespace {

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

std::span<const int32_t> rhs_of(const Productions& g, int32_t p) {
    return {g.rhs.data() + g.rhs_offset[p], g.rhs.data() + g.rhs_offset[p + 1]};
}

void validate(const Productions& g) {
    constexpr size_t most = INT32_MAX / 4;
    require(g.num_terminals >= 0 && g.num_nonterminals >= 0, "negative number of symbols");
    require(static_cast<size_t>(g.num_terminals) + static_cast<size_t>(g.num_nonterminals) < most,
            "too many symbols");
    require(g.lhs.size() + g.rhs.size() < most, "too many productions");
    require(g.rhs_offset.size() == g.lhs.size() + 1 && g.rhs_offset.front() == 0 &&
                static_cast<size_t>(g.rhs_offset.back()) == g.rhs.size() &&
                std::ranges::is_sorted(g.rhs_offset),
            "rhs_offset does not delimit rhs");
    require(g.priority.size() == g.lhs.size(), "one priority per production is needed");
    const auto is_nonterminal = [&](int32_t s) {
        return s > g.end() && g.nonterminal(s) < g.num_nonterminals;
    };
    const auto is_symbol = [&](int32_t s) { return (s >= 0 && g.is_terminal(s)) || is_nonterminal(s); };
    require(std::ranges::all_of(g.lhs, is_nonterminal), "a left-hand side is not a nonterminal");
    require(std::ranges::all_of(g.rhs, is_symbol), "a right-hand side has an unknown symbol");
    require(std::ranges::all_of(g.starts, is_nonterminal), "a start is not a nonterminal");
    auto starts = g.starts;
    std::ranges::sort(starts);
    require(std::ranges::adjacent_find(starts) == starts.end(), "a start is given twice");

    std::vector<int32_t> order(g.lhs.size());
    std::iota(order.begin(), order.end(), 0);
    const auto less = [&](int32_t a, int32_t b) {
        if (g.lhs[a] != g.lhs[b]) return g.lhs[a] < g.lhs[b];
        return std::ranges::lexicographical_compare(rhs_of(g, a), rhs_of(g, b));
    };
    std::ranges::sort(order, less);
    require(
        std::ranges::adjacent_find(order, [&](int32_t a, int32_t b) { return !less(a, b); }) == order.end(),
        "a production is given twice");
}

// The nonterminals that derive the empty string.
std::vector<uint8_t> find_nullable(const Productions& g, const Items& items) {
    std::vector<uint8_t> nullable(g.num_nonterminals, 0);
    std::vector<int32_t> missing(items.num_productions);  // symbols not yet known to be nullable
    std::vector<int32_t> found;
    const auto complete = [&](int32_t p) {
        if (!std::exchange(nullable[items.origin[p]], uint8_t{1})) found.push_back(items.origin[p]);
    };
    std::vector<Relation::Pair> uses;
    for (int32_t p = 0; p < items.num_productions; ++p) {
        missing[p] = items.length(p);
        if (missing[p] == 0) complete(p);
        for (const int32_t s : rhs_of(g, p)) {
            if (!g.is_terminal(s)) uses.emplace_back(g.nonterminal(s), p);
        }
    }
    const Relation used_in(nullable.size(), uses);
    for (size_t i = 0; i < found.size(); ++i) {
        for (int64_t u = used_in.offset[found[i]]; u < used_in.offset[found[i] + 1]; ++u) {
            if (--missing[used_in.target[u]] == 0) complete(used_in.target[u]);
        }
    }
    return nullable;
}

// The relations of the paper on nonterminal transitions, and the tables they lead to.
class Analysis {
  public:
    Analysis(const Productions& grammar, Budget& budget)
        : g_(grammar),
          budget_(budget),
          items_(grammar),
          nullable_(find_nullable(grammar, items_)),
          lr0_(build_automaton(grammar, items_, budget)) {
        number_transitions();
    }

    Tables run() {
        budget_.look();  // what each step makes at once can be large
        BitRows reads = compute_reads();
        budget_.look();
        compute_includes_and_lookback();
        budget_.look();
        BitRows lookaheads = compute_lookaheads(reads, includes_);
        budget_.look();
        fill_actions(lookaheads);
        if (!out_.conflicts.empty()) {
            compare_with_deremer_pennello(
                compute_lookaheads(std::move(reads), {includes_.data(), num_proper_includes_}));
        }
        budget_.look();
        finish();
        return std::move(out_);
    }

  private:
    int32_t& action(int32_t state, int32_t terminal) {
        return out_.action[static_cast<size_t>(state) * (g_.num_terminals + 1) + terminal];
    }
    // The number of a nonterminal transition; -1: there is none.
    int32_t transition(int32_t state, int32_t nonterminal) const {
        const auto begin = out_.goto_nonterminal.begin() + out_.goto_offset[state];
        const auto end = out_.goto_nonterminal.begin() + out_.goto_offset[state + 1];
        const auto found = std::lower_bound(begin, end, nonterminal);
        if (found == end || *found != nonterminal) return -1;
        return static_cast<int32_t>(found - out_.goto_nonterminal.begin());
    }
    size_t num_transitions() const { return source_.size(); }

    BitRows make_rows(size_t rows) { return {rows, g_.num_terminals + 1}; }

    // Enters shifts and numbers the nonterminal transitions by (state, nonterminal).
    void number_transitions() {
        const auto states = static_cast<size_t>(lr0_.num_states());
        out_.num_states = lr0_.num_states();
        out_.num_terminals = g_.num_terminals;
        out_.num_nonterminals = g_.num_nonterminals;
        out_.action.assign(states * (g_.num_terminals + 1), 0);
        out_.goto_offset.push_back(0);
        budget_.look();
        for (int32_t state = 0; state < out_.num_states; ++state) {
            for (int32_t e = lr0_.edge_offset[state]; e < lr0_.edge_offset[state + 1]; ++e) {
                const int32_t symbol = lr0_.edge_symbol[e];
                if (g_.is_terminal(symbol)) {
                    action(state, symbol) = lr0_.edge_target[e] + 1;
                } else {
                    source_.push_back(state);
                    symbol_.push_back(symbol);
                    out_.goto_nonterminal.push_back(g_.nonterminal(symbol));
                    out_.goto_target.push_back(lr0_.edge_target[e]);
                }
            }
            out_.goto_offset.push_back(static_cast<int32_t>(num_transitions()));
        }
    }

    // Read(p, A) from directly-reads by the relation `reads`; its cycles become conflicts.
    BitRows compute_reads() {
        BitRows sets = make_rows(num_transitions());
        std::vector<Relation::Pair> reads;
        for (size_t x = 0; x < num_transitions(); ++x) {
            const int32_t r = out_.goto_target[x];
            for (int32_t e = lr0_.edge_offset[r]; e < lr0_.edge_offset[r + 1]; ++e) {
                const int32_t symbol = lr0_.edge_symbol[e];
                if (g_.is_terminal(symbol)) {
                    sets.set(x, symbol);  // directly reads
                } else if (nullable_[g_.nonterminal(symbol)]) {
                    reads.emplace_back(x, transition(r, g_.nonterminal(symbol)));
                }
            }
            budget_.tick();
        }
        for (size_t k = 0; k < g_.starts.size(); ++k) {
            sets.set(transition(static_cast<int32_t>(k), g_.nonterminal(g_.starts[k])), g_.end());
        }
        std::vector<std::vector<int32_t>> cycles;
        digraph(Relation(num_transitions(), reads), sets, budget_, [&](std::span<const int32_t> members) {
            std::ranges::sort(cycles.emplace_back(members.begin(), members.end()));
        });
        std::ranges::sort(cycles);
        for (const auto& cycle : cycles) report_reads_cycle(cycle);
        return sets;
    }

    void compute_includes_and_lookback() {
        // By production: the position of its last symbol that is not nullable, or 0. After each symbol from
        // there on, the rest of the production is nullable.
        std::vector<int32_t> tail(items_.num_productions, 0);
        for (int32_t p = 0; p < items_.num_productions; ++p) {
            for (int32_t i = items_.length(p) - 1; i > 0 && tail[p] == 0; --i) {
                const int32_t symbol = items_.next[items_.first[p] + i];
                if (g_.is_terminal(symbol) || !nullable_[g_.nonterminal(symbol)]) tail[p] = i;
            }
        }
        for (size_t x = 0; x < num_transitions(); ++x) {
            for (const int32_t p : items_.rules_of(g_.nonterminal(symbol_[x]))) {
                const int32_t last = walk(static_cast<int32_t>(x), p, 0, tail[p]);
                lookback_.emplace_back(x, reduction_at(last, p));
            }
        }
        num_proper_includes_ = includes_.size();
        // Lark's surplus: for a transition (q, A) it also walks the kernel items of q with A on the left. The
        // paper walks items with the dot at the left end only: `(q', B) includes (q, A)` is about productions
        // of A that begin in q.
        for (int32_t state = 0; state < out_.num_states; ++state) {
            for (const int32_t item : lr0_.kernels[state]) {
                const int32_t p = items_.production[item];
                if (items_.origin[p] < 0) continue;
                const int32_t x = transition(state, items_.origin[p]);
                if (x >= 0) walk(x, p, item - items_.first[p], tail[p]);
            }
        }
    }

    // Follows production p from its dot through the automaton, from the source of transition x on; notes
    // `includes x` for transitions after which the rest of p can be empty. Returns the last state.
    int32_t walk(int32_t x, int32_t p, int32_t dot, int32_t tail) {
        int32_t state = source_[x];
        for (int32_t i = dot, length = items_.length(p); i < length; ++i) {
            const int32_t symbol = items_.next[items_.first[p] + i];
            if (g_.is_terminal(symbol)) {
                state = action(state, symbol) - 1;
            } else {
                const int32_t y = transition(state, g_.nonterminal(symbol));
                if (i >= tail) includes_.emplace_back(y, x);
                state = out_.goto_target[y];
            }
        }
        budget_.tick();
        return state;
    }

    int32_t reduction_at(int32_t state, int32_t p) const {
        const auto begin = lr0_.reduction.begin() + lr0_.reduction_offset[state];
        const auto end = lr0_.reduction.begin() + lr0_.reduction_offset[state + 1];
        return static_cast<int32_t>(std::lower_bound(begin, end, p) - lr0_.reduction.begin());
    }

    // LA of every reduction: the union of Follow over its lookback.
    BitRows compute_lookaheads(BitRows follow, std::span<const Relation::Pair> includes) {
        digraph(Relation(num_transitions(), includes), follow, budget_, [](auto) {});
        BitRows lookaheads = make_rows(lr0_.reduction.size());
        for (const auto& [x, reduction] : lookback_) {
            lookaheads.unite(reduction, std::as_const(follow)[x]);
            budget_.tick();
        }
        return lookaheads;
    }

    // Enters the reduces that Lark enters, and notes what it settles and what it refuses.
    void fill_actions(const BitRows& lookaheads) {
        BitRows any = make_rows(1);
        std::vector<int32_t> candidates;
        for (int32_t state = 0; state < out_.num_states; ++state) {
            const auto [begin, end] =
                std::pair{lr0_.reduction_offset[state], lr0_.reduction_offset[state + 1]};
            if (begin == end) continue;
            budget_.tick();
            any.copy(0, lookaheads[begin]);
            for (int32_t r = begin + 1; r < end; ++r) any.unite(0, lookaheads[r]);
            for (size_t w = 0; w < any[0].size(); ++w) {
                if (any[0][w] != 0) budget_.tick();
                for (uint64_t word = any[0][w]; word != 0; word &= word - 1) {
                    const auto terminal = static_cast<int32_t>(w * 64) + std::countr_zero(word);
                    candidates.clear();
                    for (int32_t r = begin; r < end; ++r) {
                        if (lookaheads.test(r, terminal)) candidates.push_back(lr0_.reduction[r]);
                    }
                    settle(state, terminal, candidates);
                }
            }
        }
    }

    // Lark's rules: the strictly highest priority wins over other reduces, a shift wins over a reduce.
    void settle(int32_t state, int32_t terminal, std::span<const int32_t> candidates) {
        int32_t& entry = action(state, terminal);
        const int32_t shift_to = entry - 1;
        int32_t chosen = candidates.front();
        if (candidates.size() > 1) {
            const auto priority = [&](int32_t p) { return g_.priority[p]; };
            chosen = *std::ranges::max_element(candidates, {}, priority);
            const bool decided = std::ranges::count(candidates, priority(chosen), priority) == 1;
            add_conflict({ConflictKind::reduce_reduce, state, terminal, shift_to,
                          decided ? Settled::by_priority : Settled::no, decided ? chosen : -1, 0, 0},
                         candidates);
            if (!decided) return;
        }
        if (entry == 0) {
            entry = -chosen - 1;
        } else {
            add_conflict({ConflictKind::shift_reduce, state, terminal, shift_to, Settled::by_shift, -1, 0, 0},
                         {&chosen, 1});
        }
    }

    void add_conflict(Conflict conflict, std::span<const int32_t> productions) {
        conflict.first_production = static_cast<int32_t>(out_.conflict_productions.size());
        out_.conflicts.push_back(conflict);
        out_.conflict_productions.insert(out_.conflict_productions.end(), productions.begin(),
                                         productions.end());
    }

    // The cycle is named by its first transition; its productions are those that can be empty.
    void report_reads_cycle(std::span<const int32_t> members) {
        std::vector<int32_t> productions;
        for (const int32_t x : members) {
            for (const int32_t p : items_.rules_of(g_.nonterminal(symbol_[x]))) {
                const auto is_nullable = [&](int32_t s) {
                    return !g_.is_terminal(s) && nullable_[g_.nonterminal(s)];
                };
                if (std::ranges::all_of(rhs_of(g_, p), is_nullable)) productions.push_back(p);
            }
        }
        std::ranges::sort(productions);
        productions.erase(std::unique(productions.begin(), productions.end()), productions.end());
        const int32_t x = members.front();
        add_conflict({ConflictKind::reads_cycle, source_[x], symbol_[x], -1, Settled::no, -1, 0, 0},
                     productions);
    }

    // Flags the conflicts that are gone with the paper's own lookaheads.
    void compare_with_deremer_pennello(const BitRows& proper) {
        for (Conflict& conflict : out_.conflicts) {
            if (conflict.kind == ConflictKind::reads_cycle) continue;
            int32_t reduces = 0;
            for (int32_t r = lr0_.reduction_offset[conflict.state];
                 r < lr0_.reduction_offset[conflict.state + 1]; ++r) {
                reduces += proper.test(r, conflict.symbol);
            }
            conflict.lark_only = reduces < (conflict.kind == ConflictKind::reduce_reduce ? 2 : 1);
        }
    }

    void finish() {
        for (size_t k = 0; k < g_.starts.size(); ++k) {
            out_.start_states.push_back(static_cast<int32_t>(k));
            out_.end_states.push_back(
                out_.goto_target[transition(static_cast<int32_t>(k), g_.nonterminal(g_.starts[k]))]);
        }
        out_.accessing = std::move(lr0_.accessing);
        out_.kernel_offset.push_back(0);
        for (int32_t state = 0; state < out_.num_states; ++state) {
            for (const int32_t item : lr0_.kernels[state]) {
                const int32_t p = items_.production[item];
                out_.kernel_production.push_back(p);
                out_.kernel_dot.push_back(item - items_.first[p]);
            }
            out_.kernel_offset.push_back(static_cast<int32_t>(out_.kernel_dot.size()));
        }
    }

    const Productions& g_;
    Budget& budget_;
    Items items_;
    std::vector<uint8_t> nullable_;
    Automaton lr0_;
    std::vector<int32_t> source_, symbol_;  // of each nonterminal transition
    std::vector<Relation::Pair> includes_;  // transitions; the paper's own come first
    size_t num_proper_includes_ = 0;
    std::vector<Relation::Pair> lookback_;  // (transition, reduction)
    Tables out_;
};

}  // namespace

Tables build_tables(const Productions& grammar, const Limits& limits) {
    validate(grammar);
    // Whatever the caller allows, no array gets more entries than 32 bits can count.
    constexpr auto most = int64_t{sizeof(int32_t)} * INT32_MAX;
    const MemoryLimit memory(limits.bytes > 0 ? std::min(limits.bytes, most) : most);
    Budget budget(limits.states, 0, limits.canceller);
    return Analysis(grammar, budget).run();
}

}  // namespace pdacon::lalr
