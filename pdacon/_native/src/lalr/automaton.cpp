#include "lalr/automaton.hpp"

#include <algorithm>
#include <utility>

namespace pdacon::lalr {

Items::Items(const Productions& grammar) : num_productions(static_cast<int32_t>(grammar.lhs.size())) {
    const auto add = [&](std::span<const int32_t> rhs, int32_t lhs) {
        first.push_back(static_cast<int32_t>(next.size()));
        next.insert(next.end(), rhs.begin(), rhs.end());
        next.push_back(-1);
        production.resize(next.size(), static_cast<int32_t>(origin.size()));
        origin.push_back(lhs);
    };
    rules_offset.assign(grammar.num_nonterminals + 1, 0);
    for (int32_t p = 0; p < num_productions; ++p) {
        const int32_t lhs = grammar.nonterminal(grammar.lhs[p]);
        add({grammar.rhs.data() + grammar.rhs_offset[p], grammar.rhs.data() + grammar.rhs_offset[p + 1]},
            lhs);
        ++rules_offset[lhs + 1];
    }
    for (const int32_t start : grammar.starts) add({&start, 1}, -1);
    first.push_back(static_cast<int32_t>(next.size()));

    for (int32_t a = 0; a < grammar.num_nonterminals; ++a) rules_offset[a + 1] += rules_offset[a];
    rules.resize(num_productions);
    std::vector<int32_t> fill(rules_offset.begin(), rules_offset.end() - 1);
    for (int32_t p = 0; p < num_productions; ++p) rules[fill[origin[p]]++] = p;
}

namespace {

class Builder {
  public:
    Builder(const Productions& grammar, const Items& items, Budget& budget)
        : grammar_(grammar),
          items_(items),
          budget_(budget),
          closed_(grammar.num_nonterminals, -1),
          bucket_(grammar.num_terminals + 1 + grammar.num_nonterminals) {}

    Automaton run() {
        out_.edge_offset.push_back(0);
        out_.reduction_offset.push_back(0);
        for (size_t k = 0; k < grammar_.starts.size(); ++k) {
            const int32_t item = items_.first[items_.num_productions + static_cast<int32_t>(k)];
            intern({&item, 1}, -1);
        }
        for (int32_t state = 0; state < out_.num_states(); ++state) expand(state);
        return std::move(out_);
    }

  private:
    // The state with this kernel, made if it is new.
    int32_t intern(std::span<const int32_t> items, int32_t symbol) {
        const int32_t state = out_.kernels.intern(items);
        if (state < out_.num_states()) return state;
        budget_.check_states(out_.kernels.size());
        out_.accessing.push_back(symbol);
        return state;
    }

    // Closes a state and makes its successors and reductions.
    void expand(int32_t state) {
        pending_.clear();
        symbols_.clear();
        for (const int32_t item : out_.kernels[state]) visit(state, item);
        for (size_t i = 0; i < pending_.size(); ++i) {
            for (const int32_t p : items_.rules_of(pending_[i])) visit(state, items_.first[p]);
        }
        budget_.tick();
        std::ranges::sort(symbols_);
        for (const int32_t symbol : symbols_) {
            auto& successors = bucket_[symbol];
            std::ranges::sort(successors);
            out_.edge_symbol.push_back(symbol);
            out_.edge_target.push_back(intern(successors, symbol));
            successors.clear();
        }
        out_.edge_offset.push_back(static_cast<int32_t>(out_.edge_symbol.size()));
        std::sort(out_.reduction.begin() + out_.reduction_offset.back(), out_.reduction.end());
        out_.reduction_offset.push_back(static_cast<int32_t>(out_.reduction.size()));
    }

    void visit(int32_t state, int32_t item) {
        const int32_t symbol = items_.next[item];
        if (symbol < 0) {
            const int32_t p = items_.production[item];
            if (p < items_.num_productions) out_.reduction.push_back(p);
            return;
        }
        if (bucket_[symbol].empty()) symbols_.push_back(symbol);
        bucket_[symbol].push_back(item + 1);
        if (grammar_.is_terminal(symbol)) return;
        int32_t& closed = closed_[grammar_.nonterminal(symbol)];
        if (closed == state) return;
        closed = state;
        pending_.push_back(grammar_.nonterminal(symbol));
    }

    const Productions& grammar_;
    const Items& items_;
    Budget& budget_;
    Automaton out_;
    std::vector<int32_t> closed_;               // per nonterminal: the last state whose closure has it
    std::vector<int32_t> pending_;              // nonterminals of the closure
    std::vector<int32_t> symbols_;              // symbols after a dot
    std::vector<std::vector<int32_t>> bucket_;  // per symbol: the kernel of the successor
};

}  // namespace

Automaton build_automaton(const Productions& grammar, const Items& items, Budget& budget) {
    return Builder(grammar, items, budget).run();
}

}  // namespace pdacon::lalr
