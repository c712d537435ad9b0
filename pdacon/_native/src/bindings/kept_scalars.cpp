#include "bindings/kept_scalars.hpp"

#include <algorithm>
#include <utility>

#include "base/memory.hpp"

namespace pdacon {

namespace {

constexpr std::int64_t kEntry = 400;  // bytes, about, without its key and terminals

std::int64_t bytes_of(const std::string& key, const KeptScalars::Kept& kept) {
    auto bytes = kEntry + static_cast<std::int64_t>(key.size());
    for (const auto& counted : kept.terminals) {
        const auto& terminal = *counted->terminal;
        bytes += kEntry + static_cast<std::int64_t>(terminal.text.size() + terminal.kind.size() * 5 +
                                                    terminal.lo.size() * 6);
    }
    return bytes;
}

}  // namespace

std::shared_ptr<const KeptScalars::Kept> KeptScalars::find(const std::string& key) {
    const std::lock_guard hold(lock_);
    const auto entry = entries_.find(key);
    if (entry == entries_.end()) return nullptr;
    entry->second.used = ++clock_;
    return entry->second.kept;
}

std::shared_ptr<const KeptScalars::Kept> KeptScalars::keep(const std::string& key, Kept value) {
    const MemoryLimit::Pause everybodys;
    auto kept = std::make_shared<const Kept>(std::move(value));
    const auto bytes = bytes_of(key, *kept);
    if (bytes > most_bytes_ / 8) return kept;
    const std::lock_guard hold(lock_);
    const auto [entry, is_new] = entries_.emplace(key, Entry{kept, bytes, ++clock_});
    if (!is_new) return entry->second.kept;  // another thread has asked at the same time
    bytes_ += bytes;
    if (bytes_ > most_bytes_) make_room();
    return kept;
}

std::int64_t KeptScalars::bytes() {
    const std::lock_guard hold(lock_);
    return bytes_;
}

// Evicts the half that was used least recently.
void KeptScalars::make_room() {
    std::vector<std::uint64_t> uses;
    for (const auto& [key, entry] : entries_) uses.push_back(entry.used);
    const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2);
    std::ranges::nth_element(uses, middle);
    std::erase_if(entries_, [&](const auto& entry) {
        const bool goes = entry.second.used <= *middle;
        if (goes) bytes_ -= entry.second.bytes;
        return goes;
    });
}

}  // namespace pdacon
