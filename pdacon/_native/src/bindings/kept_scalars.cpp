#include "bindings/kept_scalars.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/memory.hpp"

namespace pdacon {

namespace {

constexpr std::int64_t kEntry = 400;  // bytes, about, without its key and terminals

std::int64_t bytes_of(const std::string& key, const KeptScalars::Kept& kept) {
    auto bytes = kEntry + static_cast<std::int64_t>(key.size());
    for (const auto& [terminal, counts] :
         kept.terminals | std::views::transform([](const auto& own) -> auto& { return *own; }))
        bytes += kEntry + static_cast<std::int64_t>(terminal->text.size() + terminal->kind.size() * 5 +
                                                    terminal->lo.size() * 6);
    return bytes;
}

}  // namespace

std::shared_ptr<const KeptScalars::Kept> KeptScalars::find(const std::string& key) {
    const std::lock_guard hold(lock_);
    const auto known = known_.find(key);
    if (known == known_.end()) return nullptr;
    known->second.used = ++clock_;
    return known->second.kept;
}

std::shared_ptr<const KeptScalars::Kept> KeptScalars::keep(const std::string& key, Kept made) {
    const MemoryLimit::Pause everybodys;
    auto kept = std::make_shared<const Kept>(std::move(made));
    const auto bytes = bytes_of(key, *kept);
    if (bytes > most_bytes_ / 8) return kept;
    const std::lock_guard hold(lock_);
    const auto [known, is_new] = known_.emplace(key, Entry{kept, bytes, ++clock_});
    if (!is_new) return known->second.kept;  // another thread has asked at the same time
    bytes_ += bytes;
    if (bytes_ > most_bytes_) make_room();
    return kept;
}

std::int64_t KeptScalars::bytes() {
    const std::lock_guard hold(lock_);
    return bytes_;
}

// The half that was used less recently goes.
void KeptScalars::make_room() {
    std::vector<std::uint64_t> uses;
    for (const auto& [key, entry] : known_) uses.push_back(entry.used);
    const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2);
    std::ranges::nth_element(uses, middle);
    std::erase_if(known_, [&](const auto& known) {
        const bool goes = known.second.used <= *middle;
        if (goes) bytes_ -= known.second.bytes;
        return goes;
    });
}

}  // namespace pdacon
