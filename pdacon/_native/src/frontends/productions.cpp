#include "frontends/productions.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/budget.hpp"

namespace pdacon {

namespace {

using Numbers = std::vector<std::int32_t>;

// For each nonterminal the productions that `of` names for it, ascending, as offsets and numbers.
struct ByNonterminal {
    std::vector<std::size_t> offset;
    std::vector<std::size_t> productions;

    std::span<const std::size_t> operator[](std::int32_t nonterminal) const {
        const auto at = static_cast<std::size_t>(nonterminal);
        return {productions.data() + offset[at], offset[at + 1] - offset[at]};
    }
};

// `each` calls a function with pairs of a nonterminal and a production, twice in the same order.
template <class Each>
ByNonterminal by_nonterminal(std::size_t nonterminals, Each each) {
    ByNonterminal found;
    found.offset.assign(nonterminals + 1, 0);
    each([&](std::int32_t one, std::size_t) { ++found.offset[static_cast<std::size_t>(one) + 1]; });
    for (std::size_t k = 1; k < found.offset.size(); ++k) found.offset[k] += found.offset[k - 1];
    found.productions.resize(found.offset.back());
    auto next = found.offset;
    each([&](std::int32_t one, std::size_t production) {
        found.productions[next[static_cast<std::size_t>(one)]++] = production;
    });
    return found;
}

}  // namespace

std::int32_t Productions::kind(std::int32_t nonterminal) const {
    if (nonterminal < 0 || static_cast<std::size_t>(nonterminal) >= keys_.size())
        throw std::out_of_range("productions: no nonterminal");
    return keys_[nonterminal].front();
}

void Productions::add(std::int32_t lhs, std::span<const std::int32_t> rhs) {
    const auto count = static_cast<std::int32_t>(keys_.size());
    if (lhs < 0 || lhs >= count || std::ranges::any_of(rhs, [&](auto symbol) { return symbol >= count; }))
        throw std::out_of_range("productions: no symbol");
    require(1);
    lhs_.push_back(lhs);
    rhs_.insert(rhs_.end(), rhs.begin(), rhs.end());
    offset_.push_back(rhs_.size());
}

void Productions::require(std::size_t more) const {
    const auto size = lhs_.size() + more;
    if (std::cmp_greater(size, most_))
        throw LimitExceeded("productions", static_cast<double>(size), static_cast<double>(most_));
}

std::span<const std::int32_t> Productions::rhs_of(std::size_t production) const {
    return {rhs_.data() + offset_[production], offset_[production + 1] - offset_[production]};
}

// For each production whether some text derives from its right-hand side.
std::vector<std::uint8_t> Productions::productive() const {
    Numbers missing(size(), 0);
    for (std::size_t k = 0; k < size(); ++k)
        for (const auto symbol : rhs_of(k)) missing[k] += symbol >= 0 ? 1 : 0;
    const auto users = by_nonterminal(keys_.size(), [&](auto found) {
        for (std::size_t k = 0; k < size(); ++k)
            for (const auto symbol : rhs_of(k))
                if (symbol >= 0) found(symbol, k);
    });
    std::vector<std::uint8_t> known(keys_.size(), 0);
    Numbers pending;
    for (std::size_t k = 0; k < size(); ++k)
        if (missing[k] == 0) pending.push_back(lhs_[k]);
    while (!pending.empty()) {
        const auto symbol = pending.back();
        pending.pop_back();
        if (std::exchange(known[static_cast<std::size_t>(symbol)], 1) != 0) continue;
        for (const auto k : users[symbol])
            if (--missing[k] == 0) pending.push_back(lhs_[k]);
    }
    std::vector<std::uint8_t> productive(size());
    for (std::size_t k = 0; k < size(); ++k) productive[k] = missing[k] == 0 ? 1 : 0;
    return productive;
}

LoweredProductions Productions::lowered(std::int32_t start) const {
    static_cast<void>(kind(start));
    // Each production once: whether it is the first of its kind.
    auto useful = productive();
    Interner once;
    Numbers whole;
    for (std::size_t k = 0; k < size(); ++k) {
        if (useful[k] == 0) continue;
        const auto rhs = rhs_of(k);
        whole.assign(1, lhs_[k]);
        whole.insert(whole.end(), rhs.begin(), rhs.end());
        const auto before = once.size();
        useful[k] = static_cast<std::size_t>(once.intern(whole)) == before ? 1 : 0;
    }
    const auto of = by_nonterminal(keys_.size(), [&](auto found) {
        for (std::size_t k = 0; k < size(); ++k)
            if (useful[k] != 0) found(lhs_[k], k);
    });
    LoweredProductions made;
    if (of[start].empty()) return made;
    // What a nonterminal stands for, where that is a single symbol: there are fewer LR states then.
    const auto meant = [&](std::int32_t symbol) {
        while (symbol >= 0 && symbol != start) {
            const auto own = of[symbol];
            if (own.size() != 1 || rhs_of(own[0]).size() != 1) break;
            symbol = rhs_of(own[0])[0];
        }
        return symbol;
    };
    constexpr std::int32_t kUnknown = -1;
    Numbers number(keys_.size(), kUnknown), number_of_terminal;
    made.nonterminals.push_back(start);
    number[static_cast<std::size_t>(start)] = 0;
    for (std::size_t at = 0; at < made.nonterminals.size(); ++at) {
        for (const auto k : of[made.nonterminals[at]]) {
            for (const auto symbol : rhs_of(k)) {
                const auto one = meant(symbol);
                const auto index = static_cast<std::size_t>(one < 0 ? ~one : one);
                if (one < 0 && index >= number_of_terminal.size())
                    number_of_terminal.resize(index + 1, kUnknown);
                auto& known = one < 0 ? number_of_terminal[index] : number[index];
                auto& list = one < 0 ? made.terminals : made.nonterminals;
                if (known == kUnknown) {
                    known = static_cast<std::int32_t>(list.size());
                    list.push_back(one);
                }
                made.rhs.push_back(one < 0 ? ~known : known);
            }
            made.lhs.push_back(static_cast<std::int32_t>(at));
            made.rhs_offset.push_back(static_cast<std::int32_t>(made.rhs.size()));
        }
    }
    const auto base = static_cast<std::int32_t>(made.terminals.size()) + 1;
    for (auto& symbol : made.rhs) symbol = symbol < 0 ? ~symbol : base + symbol;
    for (auto& symbol : made.lhs) symbol += base;
    return made;
}

}  // namespace pdacon
