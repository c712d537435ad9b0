#include "composition/free_characters.hpp"

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>

namespace pdacon {

FreeCharacters::FreeCharacters(const LexingAutomaton& lexer, const Pretokens& pretokens)
    : of_class_(pretokens.samples().size()) {
    const auto add = [&](std::size_t of, std::string_view bytes) {
        std::vector<std::int32_t> reversed;
        for (const char byte : bytes | std::views::reverse)
            reversed.push_back(lexer.byte_class(static_cast<std::uint8_t>(byte)));
        const auto spelling = spellings_.intern(reversed);
        auto& known = of_class_[of];
        if (std::ranges::find(known, spelling) == known.end()) known.push_back(spelling);
    };
    for (char32_t code = 0; code < 0x80; ++code) {
        const auto byte = static_cast<char>(code);
        add(pretokens.class_of(code), {&byte, 1});
    }
    for (std::size_t of = 0; of < of_class_.size(); ++of)
        for (const std::string& sample : pretokens.samples()[of]) add(of, sample);
}

std::span<const std::int32_t> FreeCharacters::after(const Pretokens& pretokens, std::int32_t place) {
    const auto slot = static_cast<std::size_t>(place);
    if (list_of_.size() <= slot) list_of_.resize(slot + 1, -1);
    if (list_of_[slot] < 0) {
        std::vector<std::int32_t> spellings;
        const auto classes = pretokens.is_ever_free() ? of_class_.size() : 0;
        for (std::size_t of = 0; of < classes; ++of)
            if (pretokens.is_free_after(place, static_cast<std::uint8_t>(of)))
                spellings.insert(spellings.end(), of_class_[of].begin(), of_class_[of].end());
        std::ranges::sort(spellings);
        spellings.erase(std::ranges::unique(spellings).begin(), spellings.end());
        list_of_[slot] = lists_.intern(spellings);
    }
    return lists_[list_of_[slot]];
}

}  // namespace pdacon
