// Where the order of alternatives or a lazy repetition makes a terminal match less than its pattern denotes:
// breadth-first search over its threads in order, and all threads that there would be if none were ever cut.
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include "lexing.hpp"
#include "nfa.hpp"

namespace pdacon {

namespace {

using Threads = std::vector<std::int32_t>;

// `ordered`: the threads ahead of the last match. `cut`: those that have lost against a match and are not
// among them, ascending; where there are none, nothing has been lost yet.
struct Place {
    Threads ordered, cut;
    std::int32_t matched;  // the length of the last match that is certain; 0: none. Not part of the place.
    std::int32_t parent;
    std::uint8_t byte;
};

// Appends all byte and pending positions behind one, of every priority; whether a match is among them.
bool close(const Nfa& nfa, std::int32_t position, std::set<std::int32_t>& out) {
    bool matched = false;
    Threads open{position};
    std::set<std::int32_t> seen;
    while (!open.empty()) {
        const auto at = open.back();
        open.pop_back();
        if (!seen.insert(at).second) continue;
        switch (nfa.kind_of(at)) {
            case NfaKind::kMatch:
            case NfaKind::kPendingOrEnd:
                matched = true;
                break;
            case NfaKind::kPending:
                break;
            case NfaKind::kBytes:
                out.insert(at);
                break;
            case NfaKind::kSplit:
                for (auto edge = nfa.offset[static_cast<std::size_t>(at)];
                     edge < nfa.offset[static_cast<std::size_t>(at) + 1]; ++edge)
                    open.push_back(nfa.target[static_cast<std::size_t>(edge)]);
        }
    }
    return matched;
}

// One byte for each way in which these threads can step; those that are good to read come first.
std::vector<std::uint8_t> representatives(const Nfa& nfa, const Place& from) {
    std::set<int> cuts;
    for (const auto* threads : {&from.ordered, &from.cut})
        for (const auto position : *threads)
            for (auto edge = static_cast<std::size_t>(nfa.offset[static_cast<std::size_t>(position)]);
                 edge < static_cast<std::size_t>(nfa.offset[static_cast<std::size_t>(position) + 1]); ++edge)
                cuts.insert({nfa.low[edge], nfa.high[edge] + 1});
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

}  // namespace

std::optional<EarlyEnd> find_early_end(const Nfa& nfa, std::int32_t terminal, Budget& budget) {
    validate(nfa);
    if (terminal < 0 || terminal >= nfa.num_terminals())
        throw std::invalid_argument("early end: bad terminal");
    const auto entry = nfa.entry_of(terminal, 0);
    if (entry < 0) return {};
    Closure closure(nfa);
    std::vector<Place> places;
    std::set<std::pair<Threads, Threads>> seen;
    const auto add = [&](Place place) {
        if (place.ordered.empty() && place.cut.empty()) return;
        if (!seen.emplace(place.ordered, place.cut).second) return;
        places.push_back(std::move(place));
        budget.check_states(places.size());
    };
    Place start{{}, {}, 0, -1, 0};
    closure.begin();
    closure.until_match(entry, start.ordered);
    add(std::move(start));
    for (std::size_t at = 0; at < places.size(); ++at) {
        const auto from = places[at];
        const auto bytes = representatives(nfa, from);
        std::int32_t length = 1;
        for (auto back = from.parent; back >= 0; back = places[static_cast<std::size_t>(back)].parent)
            ++length;
        for (const auto byte : bytes) {
            budget.tick();
            Place to{{}, {}, from.matched, static_cast<std::int32_t>(at), byte};
            bool certain = false, at_end = false, any = false;
            closure.begin();
            for (std::size_t i = 0; i < from.ordered.size() && !certain; ++i)
                if (const auto target = closure.step(from.ordered[i], byte); target >= 0)
                    certain = closure.until_match(target, to.ordered);
            std::erase_if(to.ordered, [&](std::int32_t position) {
                at_end = at_end || nfa.kind_of(position) == NfaKind::kPendingOrEnd;
                return nfa.is_pending(position);
            });
            std::set<std::int32_t> all;
            for (const auto* threads : {&from.ordered, &from.cut})
                for (const auto position : *threads)
                    if (const auto target = closure.step(position, byte); target >= 0)
                        any = close(nfa, target, all) || any;
            if (any && !certain && !at_end && from.matched > 0) {
                std::string text(1, static_cast<char>(byte));
                for (auto back = static_cast<std::int32_t>(at);
                     places[static_cast<std::size_t>(back)].parent >= 0;
                     back = places[static_cast<std::size_t>(back)].parent)
                    text.push_back(static_cast<char>(places[static_cast<std::size_t>(back)].byte));
                std::reverse(text.begin(), text.end());
                return EarlyEnd{std::move(text), from.matched};
            }
            for (const auto position : to.ordered) all.erase(position);
            to.cut.assign(all.begin(), all.end());
            if (certain) to.matched = length;
            add(std::move(to));
        }
    }
    return {};
}

}  // namespace pdacon
