// Which terminals match the same text: breadth-first search in the product of two leftmost-first automata.
#include <algorithm>
#include <compare>
#include <ranges>
#include <set>
#include <stdexcept>

#include "lexing.hpp"
#include "nfa.hpp"

namespace pdacon {

namespace {

using Threads = std::vector<std::int32_t>;

// The end of a match that is certain.
constexpr std::int32_t kCertain = -1;

// A match that has come about, at a pending position or kCertain, and the threads that would win against it.
struct End {
    Threads ahead;
    std::int32_t position;
    auto operator<=>(const End&) const = default;
};

// Moves one terminal's threads over a byte. `ends`: the matches there.
void step_all(const Nfa& nfa, Closure& closure, const Threads& from, std::uint8_t byte, Threads& to,
              std::vector<End>& ends) {
    closure.begin();
    bool certain = false;
    for (std::size_t at = 0; at < from.size() && !certain; ++at)
        if (const auto target = closure.step(from[at], byte); target >= 0)
            certain = closure.until_match(target, to);
    for (std::size_t at = 0; at < to.size(); ++at)
        if (nfa.is_pending(to[at]))
            ends.push_back({Threads(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(at)), to[at]});
    if (certain) ends.push_back({to, kCertain});
    std::erase_if(to, [&](std::int32_t position) { return nfa.is_pending(position); });
}

class OverlapSearch {
  public:
    OverlapSearch(const Nfa& nfa, Budget& budget) : nfa_(nfa), budget_(budget), closure_(nfa) {
        std::array<std::uint8_t, 256> class_of;
        representative_.resize(static_cast<std::size_t>(byte_classes(nfa, false, class_of)));
        for (const auto byte : bytes_by_legibility() | std::views::reverse)
            representative_[class_of[byte]] = byte;
        std::ranges::sort(representative_, {}, legibility);
    }

    // True and the shortest common lexeme, or false.
    bool find(std::int32_t first, std::int32_t second, std::string& witness) {
        struct Pair {
            Threads first, second;
            std::int32_t parent;
            std::uint8_t byte;
        };
        std::vector<Pair> pairs;
        std::set<std::pair<Threads, Threads>> seen;
        const auto add = [&](Threads a, Threads b, std::int32_t parent, std::uint8_t byte) {
            if (a.empty() || b.empty() || !seen.emplace(a, b).second) return;
            pairs.push_back({std::move(a), std::move(b), parent, byte});
            budget_.check_states(pairs.size());
        };
        for (std::int32_t behind = 0; behind < nfa_.num_behind(); ++behind)
            add(start(first, behind), start(second, behind), -1, 0);
        for (std::size_t at = 0; at < pairs.size(); ++at) {
            for (const auto byte : representative_) {
                budget_.tick();
                Threads a, b;
                std::vector<End> ends_a, ends_b;
                step_all(nfa_, closure_, pairs[at].first, byte, a, ends_a);
                step_all(nfa_, closure_, pairs[at].second, byte, b, ends_b);
                if (can_both_end(ends_a, ends_b)) {
                    witness.assign(1, static_cast<char>(byte));
                    for (auto back = at; pairs[back].parent >= 0;
                         back = static_cast<std::size_t>(pairs[back].parent))
                        witness.insert(witness.begin(), static_cast<char>(pairs[back].byte));
                    return true;
                }
                add(std::move(a), std::move(b), static_cast<std::int32_t>(at), byte);
            }
        }
        return false;
    }

  private:
    Threads start(std::int32_t terminal, std::int32_t behind) {
        Threads threads;
        const auto entry = nfa_.entry_of(terminal, behind);
        closure_.begin();
        if (entry >= 0) closure_.until_match(entry, threads);
        return threads;
    }

    // Whether with some text behind it one of the first ends and one of the second is what its terminal
    // matches.
    bool can_both_end(const std::vector<End>& first, const std::vector<End>& second) {
        std::vector<std::pair<End, End>> open;
        std::set<std::pair<End, End>> seen;
        const auto add = [&](End a, End b) {
            if (seen.emplace(a, b).second) open.emplace_back(std::move(a), std::move(b));
        };
        for (const auto& a : first)
            for (const auto& b : second) add(a, b);
        for (std::size_t i = 0; i < open.size(); ++i) {
            if (wins_at_end(open[i].first) && wins_at_end(open[i].second)) return true;
            for (const auto byte : representative_) {
                budget_.tick();
                End a, b;
                if (step(open[i].first, byte, a) && step(open[i].second, byte, b))
                    add(std::move(a), std::move(b));
            }
            budget_.check_states(open.size());
        }
        return false;
    }

    // Whether an end is what its terminal matches if the text ends here.
    bool wins_at_end(const End& end) const {
        const auto holds = [&](std::int32_t position) {
            return nfa_.kind_of(position) == NfaKind::kPendingOrEnd;
        };
        return (end.position == kCertain || holds(end.position)) &&
               std::none_of(end.ahead.begin(), end.ahead.end(), holds);
    }

    // False: another match has won, or this one has come to nothing.
    bool step(const End& from, std::uint8_t byte, End& to) {
        closure_.begin();
        for (const auto thread : from.ahead) {
            const auto target = closure_.step(thread, byte);
            if (target >= 0 && closure_.until_match(target, to.ahead)) return false;
        }
        to.position = from.position;
        if (from.position == kCertain) return true;
        const auto target = closure_.step(from.position, byte);
        if (target >= 0) to.position = nfa_.kind_of(target) == NfaKind::kMatch ? kCertain : target;
        return target >= 0;
    }

    const Nfa& nfa_;
    Budget& budget_;
    Closure closure_;
    std::vector<std::uint8_t> representative_;
};

}  // namespace

std::vector<Collision> find_collisions(const Nfa& nfa, std::span<const std::int32_t> pairs, Budget& budget) {
    if (pairs.size() % 2 != 0) throw std::invalid_argument("pairs: an even number of terminals is needed");
    std::vector<Collision> found;
    validate(nfa);
    OverlapSearch search(nfa, budget);
    for (std::size_t at = 0; at < pairs.size(); at += 2) {
        for (const auto terminal : pairs.subspan(at, 2))
            if (terminal < 0 || terminal >= nfa.num_terminals())
                throw std::invalid_argument("pairs: bad terminal");
        Collision collision{pairs[at], pairs[at + 1], {}};
        if (search.find(collision.first, collision.second, collision.witness)) found.push_back(collision);
    }
    return found;
}

}  // namespace pdacon
