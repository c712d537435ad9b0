// The frontier of a search for the cheapest way out of a newline: A* over lexer configurations and stacks
// (Hart, Nilsson and Raphael 1968). Within a line nothing is known of what is missing, so that there it is
// Dijkstra's algorithm.
//
// Paths are ordered by the least cost of the whole text, then by tabs and spaces that cost nothing, then by
// age; so the first end that is offered at a cost is the one to take. Completion::spell_to_column expands the
// paths.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/interner.hpp"
#include "lexer/columns.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class ColumnSearch {
  public:
    static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

    struct Path {
        LexerConfiguration lexing;
        PersistentStack stack;
        std::int32_t speller_state = 0;
        std::int64_t spent = 0,
                     least = 0;             // least: a lower bound of the cost, with what is missing after it
        std::int32_t tabs = 0, spaces = 0;  // that cost nothing
        std::int32_t from = -1;             // the path without its last byte; -1: the start
        std::uint8_t byte = 0;
    };
    // Where the search can stop: `from` and one more byte, or the end of the text.
    struct End {
        std::int64_t cost = kNone;  // of the whole path and of what is missing after it
        std::int64_t left = kNone;  // what is missing after it; kNone: the text ends
        std::int32_t from = -1;
        int byte = -1;  // -1: none
        LexerConfiguration lexing;
        std::int32_t speller_state = 0;
        std::optional<PersistentStack> stack;
    };

    void add(const Path& path) {
        open_.push({path.least, path.tabs, path.spaces, static_cast<std::int32_t>(paths_.size())});
        paths_.push_back(path);
    }
    // The cheapest path that has not been taken; -1: none can be better than the best end.
    std::int32_t take() {
        if (open_.empty() || std::get<0>(open_.top()) >= best_.cost) return -1;
        const auto at = std::get<3>(open_.top());
        open_.pop();
        return at;
    }
    std::size_t size() const { return paths_.size(); }
    const Path& path(std::int32_t at) const { return paths_[at]; }
    // Whether no path has led to a configuration like this one before; `stack` numbers its stack.
    bool is_new(const LexerConfiguration& like, std::int32_t speller_state, std::int32_t stack) {
        const std::int32_t key[] = {like.state, like.now.value, like.matched.value, speller_state, stack};
        const auto known = seen_.size();
        return static_cast<std::size_t>(seen_.intern(key)) == known;
    }
    // Whether a path to a configuration like this one, with such a least cost, tabs and spaces, is better
    // than all before it: most bytes of a line lead to where others have led.
    bool improves(const LexerConfiguration& like, std::int32_t speller_state, std::int32_t stack,
                  const std::tuple<std::int64_t, std::int32_t, std::int32_t>& cost) {
        const std::int32_t key[] = {like.state, like.now.value, like.matched.value, speller_state, stack};
        const auto id = static_cast<std::size_t>(led_.intern(key));
        if (id == cheapest_.size())
            cheapest_.push_back(cost);
        else if (cost < cheapest_[id])
            cheapest_[id] = cost;
        else
            return false;
        return true;
    }
    void offer(End end) {
        if (end.cost < best_.cost) best_ = std::move(end);
    }
    const End& best() const { return best_; }
    // The bytes of the path to the best end.
    std::string text() const {
        std::string reversed;
        if (best_.byte >= 0) reversed.push_back(static_cast<char>(best_.byte));
        for (auto at = best_.from; path(at).from >= 0; at = path(at).from)
            reversed.push_back(static_cast<char>(path(at).byte));
        return {reversed.rbegin(), reversed.rend()};
    }

  private:
    using Key = std::tuple<std::int64_t, std::int32_t, std::int32_t, std::int32_t>;

    std::vector<Path> paths_;
    std::priority_queue<Key, std::vector<Key>, std::greater<>> open_;
    Interner seen_, led_;
    std::vector<std::tuple<std::int64_t, std::int32_t, std::int32_t>> cheapest_;
    End best_;
};

}  // namespace pdacon
