#include "lexer/checks/early_ends.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include "lexer/legibility.hpp"

namespace pdacon {

namespace {

using Positions = std::vector<std::int32_t>;

// A thread at a position. `end`: 0, or, at a pending position, where the match has ended that waits for its
// condition.
struct Thread {
    std::int32_t position, end;
};

// A state of the search. `ordered`: the threads of higher priority than the last match. `cut`: the positions
// of threads that have lost against a match and are not among them, ascending; empty while no thread has
// lost.
struct SearchState {
    std::vector<Thread> ordered;
    Positions cut;
    std::int32_t matched;  // the length of the last match that is certain; 0: none. Not part of the state.
    std::int32_t parent;
    std::uint8_t byte;
};

// Adds the byte positions in the epsilon closure of a position, whatever their priority. Returns whether a
// match is in it, or a condition that holds at the end of the text.
bool close(const Nfa& nfa, std::int32_t position, std::set<std::int32_t>& out) {
    bool matched = false;
    for_each_in_closure(nfa, position, [&](std::int32_t at) {
        const auto kind = nfa.kind_of(at);
        if (kind == NfaKind::kBytes) out.insert(at);
        matched = matched || kind == NfaKind::kMatch || kind == NfaKind::kPendingOrEnd;
    });
    return matched;
}

// One byte for each class of bytes on which these threads step alike; the most legible come first.
std::vector<std::uint8_t> representatives(const Nfa& nfa, const SearchState& from) {
    std::set<int> cuts;
    auto positions = from.cut;
    for (const auto& thread : from.ordered) positions.push_back(thread.position);
    for (const auto position : positions)
        for (const auto edge : nfa.edges(position)) cuts.insert({nfa.low[edge], nfa.high[edge] + 1});
    std::vector<std::uint8_t> bytes;
    for (auto cut = cuts.begin(); cut != cuts.end() && *cut < 256; ++cut) {
        const int last = std::next(cut) == cuts.end() ? 255 : *std::next(cut) - 1;
        auto best = static_cast<std::uint8_t>(*cut);
        for (int byte = *cut; byte <= last; ++byte)
            if (legibility(static_cast<std::uint8_t>(byte)) < legibility(best))
                best = static_cast<std::uint8_t>(byte);
        bytes.push_back(best);
    }
    std::ranges::sort(bytes, {}, legibility);
    return bytes;
}

// Steps the ordered threads over a byte, after which the text has `length` bytes.
class Stepper {
  public:
    explicit Stepper(const Nfa& nfa) : nfa_(nfa), closure_(nfa), ended_(nfa) {}

    void start(std::int32_t entry, SearchState& to) {
        begin();
        enter(entry, 0, to);
    }

    void step(const SearchState& from, std::uint8_t byte, std::int32_t length, SearchState& to) {
        begin();
        for (const auto [position, end] : from.ordered) {
            const auto target = closure_.step(position, byte);
            if (target < 0) continue;
            if (end == 0) {
                if (enter(target, length, to)) return;
            } else if (nfa_.kind_of(target) == NfaKind::kMatch) {
                to.matched = end;
                return;
            } else {
                wait(target, end, to);
            }
        }
    }

    std::int32_t target(std::int32_t position, std::uint8_t byte) const {
        return closure_.step(position, byte);
    }

  private:
    void begin() {
        closure_.begin();
        ended_.begin();
    }

    // Whether the match is certain.
    bool enter(std::int32_t position, std::int32_t length, SearchState& to) {
        reached_.clear();
        const bool matched = closure_.until_match(position, reached_);
        for (const auto at : reached_)
            if (nfa_.is_pending(at))
                wait(at, length, to);
            else
                to.ordered.push_back({at, 0});
        if (matched) to.matched = length;
        return matched;
    }

    void wait(std::int32_t position, std::int32_t end, SearchState& to) {
        if (ended_.first(position)) to.ordered.push_back({position, end});
    }

    const Nfa& nfa_;
    Closure closure_, ended_;
    Positions reached_;
};

// How many bytes of a text that ends in a state are matched.
std::int32_t matched_at_end(const Nfa& nfa, const SearchState& state) {
    for (const auto [position, end] : state.ordered)
        if (nfa.kind_of(position) == NfaKind::kPendingOrEnd) return end;
    return state.matched;
}

}  // namespace

std::optional<EarlyEnd> find_early_end(const Nfa& nfa, std::int32_t terminal, Budget& budget) {
    validate(nfa);
    if (terminal < 0 || terminal >= nfa.num_terminals())
        throw std::invalid_argument("early end: bad terminal");
    const auto entry = nfa.entry_of(terminal, 0);
    if (entry < 0) return {};
    Stepper stepper(nfa);
    std::vector<SearchState> states;
    std::set<std::pair<Positions, Positions>> seen;
    const auto add = [&](SearchState state) {
        if (state.ordered.empty() && state.cut.empty()) return;
        Positions key;
        for (const auto [position, end] : state.ordered) key.push_back(end == 0 ? position : -1 - position);
        if (!seen.emplace(std::move(key), state.cut).second) return;
        states.push_back(std::move(state));
        budget.check_states(states.size());
    };
    SearchState start{{}, {}, 0, -1, 0};
    stepper.start(entry, start);
    add(std::move(start));
    for (std::size_t at = 0; at < states.size(); ++at) {
        const auto from = states[at];
        const auto bytes = representatives(nfa, from);
        std::int32_t length = 1;
        for (auto back = from.parent; back >= 0; back = states[back].parent) ++length;
        for (const auto byte : bytes) {
            budget.tick();
            SearchState to{{}, {}, from.matched, static_cast<std::int32_t>(at), byte};
            stepper.step(from, byte, length, to);
            bool any = false;
            std::set<std::int32_t> all;
            const auto denote = [&](std::int32_t position) {
                if (const auto target = stepper.target(position, byte); target >= 0)
                    any = close(nfa, target, all) || any;
            };
            for (const auto [position, end] : from.ordered)
                if (end == 0) denote(position);
            std::ranges::for_each(from.cut, denote);
            const auto matched = matched_at_end(nfa, to);
            if (any && matched > 0 && matched < length) {
                std::string text(1, static_cast<char>(byte));
                for (auto back = static_cast<std::int32_t>(at); states[back].parent >= 0;
                     back = states[back].parent)
                    text.push_back(static_cast<char>(states[back].byte));
                std::reverse(text.begin(), text.end());
                return EarlyEnd{std::move(text), matched};
            }
            for (const auto [position, end] : to.ordered)
                if (end == 0) all.erase(position);
            to.cut.assign(all.begin(), all.end());
            add(std::move(to));
        }
    }
    return {};
}

}  // namespace pdacon
