#include "lexer/checks/overlaps.hpp"

#include <algorithm>
#include <bitset>
#include <compare>
#include <set>
#include <stdexcept>
#include <tuple>

#include "lexer/legibility.hpp"

namespace pdacon {

namespace {

// A thread at a position. `ended`: its match has ended and waits for its condition, at a pending position.
struct Thread {
    std::int32_t position;
    bool ended;
    auto operator<=>(const Thread&) const = default;
};
using Threads = std::vector<Thread>;

// In place of a position: a match that is certain.
constexpr std::int32_t kCertain = -1;

// A match that has just ended, at a pending position or kCertain, with the threads that would still win
// against it.
struct End {
    Threads ahead;
    std::int32_t position;
    auto operator<=>(const End&) const = default;
};

// The threads of one terminal after a byte. `ends`: the matches there. `won`: a match that had ended before
// is certain now.
struct Moved {
    Threads threads;
    std::vector<End> ends;
    bool won = false;
};

class Stepper {
  public:
    explicit Stepper(const Nfa& nfa) : nfa_(nfa), closure_(nfa), ended_(nfa) {}

    Threads start(std::int32_t entry) {
        begin();
        Moved moved;
        if (entry >= 0) enter(entry, moved);
        return moved.threads;
    }

    Moved step(const Threads& from, std::uint8_t byte) {
        begin();
        Moved moved;
        for (const auto [position, ended] : from) {
            const auto target = closure_.step(position, byte);
            if (target < 0) continue;
            if (!ended) {
                if (enter(target, moved)) break;
            } else if (nfa_.kind_of(target) == NfaKind::kMatch) {
                moved.won = true;
                break;
            } else {
                wait(target, moved);
            }
        }
        return moved;
    }

    std::int32_t target(std::int32_t position, std::uint8_t byte) const {
        return closure_.step(position, byte);
    }

  private:
    void begin() {
        closure_.begin();
        ended_.begin();
    }

    // Whether the match is certain, so that what comes next has lost.
    bool enter(std::int32_t position, Moved& moved) {
        reached_.clear();
        const bool matched = closure_.until_match(position, reached_);
        for (const auto at : reached_) {
            if (!nfa_.is_pending(at)) {
                moved.threads.push_back({at, false});
                continue;
            }
            moved.ends.push_back({moved.threads, at});
            wait(at, moved);
        }
        if (matched) moved.ends.push_back({moved.threads, kCertain});
        return matched;
    }

    void wait(std::int32_t position, Moved& moved) {
        if (ended_.first(position)) moved.threads.push_back({position, true});
    }

    const Nfa& nfa_;
    Closure closure_, ended_;  // of threads that have not ended, and of those that have
    std::vector<std::int32_t> reached_;
};

// The texts that can follow a lexeme, approximated from above: no parser is asked, no match cuts another one,
// and conditions are taken to hold.
class Continuation {
  public:
    // Positions in ascending order. `boundary`: whether a lexeme may end here.
    struct Positions {
        std::vector<std::int32_t> positions;
        bool boundary;
        auto operator<=>(const Positions&) const = default;
    };

    Continuation(const Nfa& nfa, std::span<const std::vector<std::int32_t>> following)
        : nfa_(nfa), following_(following), closure_(nfa) {}

    Positions after(std::int32_t first, std::int32_t second) {
        begin();
        for (const auto terminal : {first, second}) add_following(terminal);
        return close(true);
    }

    Positions step(const Positions& from, std::uint8_t byte) {
        begin();
        for (const auto position : from.positions)
            if (const auto target = closure_.step(position, byte); target >= 0) open_.push_back(target);
        return close(false);
    }

  private:
    void begin() {
        closure_.begin();
        open_.clear();
        followed_.clear();
    }

    void add_following(std::int32_t terminal) {
        if (!followed_.insert(terminal).second) return;
        for (const auto next : following_[terminal])
            for (std::int32_t look_behind = 0; look_behind < nfa_.num_look_behind(); ++look_behind)
                if (const auto entry = nfa_.entry_of(next, look_behind); entry >= 0) open_.push_back(entry);
    }

    Positions close(bool boundary) {
        Positions found{{}, boundary};
        while (!open_.empty()) {
            const auto position = open_.back();
            open_.pop_back();
            if (!closure_.first(position)) continue;
            const auto at = static_cast<std::size_t>(position);
            switch (nfa_.kind_of(position)) {
                case NfaKind::kBytes:
                    found.positions.push_back(position);
                    break;
                case NfaKind::kSplit:
                    for (const auto edge : nfa_.edges(at)) open_.push_back(nfa_.target[edge]);
                    break;
                case NfaKind::kMatch:
                case NfaKind::kPending:
                case NfaKind::kPendingOrEnd:
                    found.boundary = true;
                    add_following(nfa_.owner[at]);
            }
        }
        std::ranges::sort(found.positions);
        return found;
    }

    const Nfa& nfa_;
    std::span<const std::vector<std::int32_t>> following_;
    Closure closure_;
    std::vector<std::int32_t> open_;
    std::set<std::int32_t> followed_;
};

// The text that leads to a node of a search, each of which knows its parent and the byte between them.
template <class Nodes>
std::string spelled(const Nodes& nodes, std::size_t at) {
    std::string text;
    for (; nodes[at].parent >= 0; at = static_cast<std::size_t>(nodes[at].parent))
        text.push_back(static_cast<char>(nodes[at].byte));
    std::ranges::reverse(text);
    return text;
}

class OverlapSearch {
  public:
    OverlapSearch(const Nfa& nfa, std::span<const std::vector<std::int32_t>> following, Budget& budget)
        : nfa_(nfa), budget_(budget), stepper_(nfa), continuation_(nfa, following) {
        std::array<std::uint8_t, 256> class_of;
        representative_ = most_legible(class_of, byte_classes(nfa, "", class_of));
        std::ranges::sort(representative_, {}, legibility);
        known_.resize(nfa.kind.size());
    }

    // Completes the finding for its two terminals. False if they have no common lexeme.
    bool find(Collision& collision) {
        struct Pair {
            Threads first, second;
            std::int32_t parent;
            std::uint8_t byte;
        };
        const auto [first, second] = std::pair(collision.first, collision.second);
        hopeless_.clear();
        following_text_ = continuation_.after(first, second);
        std::vector<Pair> pairs;
        std::set<std::pair<Threads, Threads>> seen;
        const auto add = [&](Threads a, Threads b, std::int32_t parent, std::uint8_t byte) {
            if (!goes_on(a) || !goes_on(b) || !seen.emplace(a, b).second) return;
            pairs.push_back({std::move(a), std::move(b), parent, byte});
            budget_.check_states(pairs.size());
        };
        for (std::int32_t look_behind = 0; look_behind < nfa_.num_look_behind(); ++look_behind)
            add(stepper_.start(nfa_.entry_of(first, look_behind)),
                stepper_.start(nfa_.entry_of(second, look_behind)), -1, 0);
        for (std::size_t at = 0; at < pairs.size(); ++at) {
            const auto both = led_on(pairs[at].first) & led_on(pairs[at].second);
            for (const auto byte : representative_) {
                budget_.tick();
                if (!both[byte]) continue;
                auto a = stepper_.step(pairs[at].first, byte), b = stepper_.step(pairs[at].second, byte);
                if (can_both_end(a.ends, b.ends, collision.following)) {
                    collision.witness = spelled(pairs, at) + static_cast<char>(byte);
                    return true;
                }
                add(std::move(a.threads), std::move(b.threads), static_cast<std::int32_t>(at), byte);
            }
        }
        return false;
    }

  private:
    // The bytes on which at least one thread goes on; most bytes are not among them.
    std::bitset<256> led_on(const Threads& threads) {
        std::bitset<256> bytes;
        for (const auto& thread : threads) {
            const auto at = static_cast<std::size_t>(thread.position);
            auto& known = known_[at];
            if (known.none())
                for (const auto edge : nfa_.edges(at))
                    for (std::size_t byte = nfa_.low[edge]; byte <= nfa_.high[edge]; ++byte) known.set(byte);
            bytes |= known;
        }
        return bytes;
    }
    // Drops the last threads as long as they only wait: no match can lose against them. Whether any thread is
    // left.
    static bool goes_on(Threads& threads) {
        while (!threads.empty() && threads.back().ended) threads.pop_back();
        return !threads.empty();
    }

    // Whether there is an end of each terminal and a following text with which both are what their terminal
    // matches.
    bool can_both_end(const std::vector<End>& first, const std::vector<End>& second, std::string& following) {
        struct Ends {
            End first, second;
            Continuation::Positions text;
            std::int32_t parent;
            std::uint8_t byte;
        };
        std::vector<Ends> open;
        const auto add = [&](End a, End b, Continuation::Positions text, std::int32_t parent,
                             std::uint8_t byte) {
            if (hopeless_.emplace(a, b, text).second)
                open.push_back({std::move(a), std::move(b), std::move(text), parent, byte});
        };
        for (const auto& a : first)
            for (const auto& b : second) add(a, b, following_text_, -1, 0);
        for (std::size_t at = 0; at < open.size(); ++at) {
            if (open[at].text.boundary && wins_at_end(open[at].first) && wins_at_end(open[at].second)) {
                following = spelled(open, at);
                return true;
            }
            for (const auto byte : representative_) {
                budget_.tick();
                auto text = continuation_.step(open[at].text, byte);
                End a, b;
                if ((text.boundary || !text.positions.empty()) && step(open[at].first, byte, a) &&
                    step(open[at].second, byte, b))
                    add(std::move(a), std::move(b), std::move(text), static_cast<std::int32_t>(at), byte);
            }
            budget_.check_states(hopeless_.size());
        }
        return false;
    }

    // Whether an end is what its terminal matches if the text ends here.
    bool wins_at_end(const End& end) const {
        const auto holds = [&](std::int32_t position) {
            return nfa_.kind_of(position) == NfaKind::kPendingOrEnd;
        };
        return (end.position == kCertain || holds(end.position)) &&
               std::ranges::none_of(end.ahead, holds, &Thread::position);
    }

    // False: another match has won, or this one has come to nothing.
    bool step(const End& from, std::uint8_t byte, End& to) {
        auto moved = stepper_.step(from.ahead, byte);
        if (moved.won || (!moved.ends.empty() && moved.ends.back().position == kCertain)) return false;
        to = {std::move(moved.threads), from.position};
        if (from.position == kCertain) return true;
        const auto target = stepper_.target(from.position, byte);
        if (target >= 0) to.position = nfa_.kind_of(target) == NfaKind::kMatch ? kCertain : target;
        return target >= 0;
    }

    const Nfa& nfa_;
    Budget& budget_;
    Stepper stepper_;
    Continuation continuation_;
    std::vector<std::uint8_t> representative_;
    std::vector<std::bitset<256>> known_;  // of each position, see led_on; empty: not computed
    // About the terminals at hand: the texts that can follow, and the ends that the second search has been to
    // in vain.
    Continuation::Positions following_text_;
    std::set<std::tuple<End, End, Continuation::Positions>> hopeless_;
};

}  // namespace

std::vector<Collision> find_collisions(const Nfa& nfa, std::span<const std::int32_t> pairs,
                                       std::span<const std::vector<std::int32_t>> following, Budget& budget) {
    if (pairs.size() % 2 != 0) throw std::invalid_argument("pairs: an even number of terminals is needed");
    std::vector<Collision> found;
    validate(nfa);
    const auto known = [&](std::int32_t terminal) { return terminal >= 0 && terminal < nfa.num_terminals(); };
    if (following.size() != static_cast<std::size_t>(nfa.num_terminals()))
        throw std::invalid_argument("following: one list for each terminal is needed");
    for (const auto& terminals : following)
        if (!std::ranges::all_of(terminals, known)) throw std::invalid_argument("following: bad terminal");
    OverlapSearch search(nfa, following, budget);
    for (std::size_t at = 0; at < pairs.size(); at += 2) {
        for (const auto terminal : pairs.subspan(at, 2))
            if (!known(terminal)) throw std::invalid_argument("pairs: bad terminal");
        Collision collision{pairs[at], pairs[at + 1], {}, {}};
        if (search.find(collision)) found.push_back(collision);
    }
    return found;
}

}  // namespace pdacon
