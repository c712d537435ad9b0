// Which terminals match the same text: breadth-first search in the product of two leftmost-first automata.
#include <set>
#include <stdexcept>

#include "lexing.hpp"
#include "nfa.hpp"

namespace pdacon {

namespace {

using Threads = std::vector<std::int32_t>;

// Moves one terminal's threads over a byte; whether it matches there.
bool step_all(Closure& closure, const Threads& from, std::uint8_t byte, Threads& to) {
    closure.begin();
    for (const auto thread : from) {
        const auto target = closure.step(thread, byte);
        if (target >= 0 && closure.until_match(target, to)) return true;
    }
    return false;
}

class OverlapSearch {
  public:
    OverlapSearch(const Nfa& nfa, Budget& budget) : nfa_(nfa), budget_(budget), closure_(nfa) {
        std::array<std::uint8_t, 256> class_of;
        representative_.resize(static_cast<std::size_t>(byte_classes(nfa, class_of)));
        for (int byte = 255; byte >= 0; --byte)
            representative_[class_of[static_cast<std::size_t>(byte)]] = static_cast<std::uint8_t>(byte);
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
        pairs.push_back({start(first), start(second), -1, 0});
        for (std::size_t at = 0; at < pairs.size(); ++at) {
            for (const auto byte : representative_) {
                budget_.tick();
                Threads a, b;
                const bool match_a = step_all(closure_, pairs[at].first, byte, a);
                const bool match_b = step_all(closure_, pairs[at].second, byte, b);
                if (match_a && match_b) {
                    witness.assign(1, static_cast<char>(byte));
                    for (auto back = at; pairs[back].parent >= 0;
                         back = static_cast<std::size_t>(pairs[back].parent))
                        witness.insert(witness.begin(), static_cast<char>(pairs[back].byte));
                    return true;
                }
                if (a.empty() || b.empty() || !seen.emplace(a, b).second) continue;
                pairs.push_back({std::move(a), std::move(b), static_cast<std::int32_t>(at), byte});
                budget_.check_states(pairs.size());
            }
        }
        return false;
    }

  private:
    Threads start(std::int32_t terminal) {
        Threads threads;
        const auto entry = nfa_.entry[static_cast<std::size_t>(terminal)];
        closure_.begin();
        if (entry >= 0) closure_.until_match(entry, threads);
        return threads;
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
            if (terminal < 0 || static_cast<std::size_t>(terminal) >= nfa.entry.size())
                throw std::invalid_argument("pairs: bad terminal");
        Collision collision{pairs[at], pairs[at + 1], {}};
        if (search.find(collision.first, collision.second, collision.witness)) found.push_back(collision);
    }
    return found;
}

}  // namespace pdacon
