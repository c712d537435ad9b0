#include "composition/token_steps.hpp"

#include <memory>

namespace pdacon {

TokenSteps::Table::Table(std::size_t slots)
    : storage_(new std::byte[(slots + 1) * sizeof(Slot)]), shift_(64 - std::countr_zero(slots)) {
    void* begin = storage_.get();
    auto space = (slots + 1) * sizeof(Slot);
    std::align(sizeof(Slot), slots * sizeof(Slot), begin, space);
    slots_ = {static_cast<Slot*>(begin), slots};
    std::uninitialized_value_construct(slots_.begin(), slots_.end());
}

void TokenSteps::Slot::write(TokenStep step) {
    const auto last = words_.back().load(std::memory_order_relaxed);
    Words words{};
    words.back() = last;
    step.slot_number = std::bit_cast<TokenStep>(words).slot_number + 1;
    words = std::bit_cast<Words>(step);
    words_.back().store(words.back(), std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t at = 0; at + 1 < words.size(); ++at)
        words_[at].store(words[at], std::memory_order_relaxed);
    ++step.slot_number;
    words_.back().store(std::bit_cast<Words>(step).back(), std::memory_order_release);
}

void TokenSteps::add(const TokenStep& step, std::size_t most) {
    const auto slots = tables_.empty() ? 0 : tables_.back()->slots().size();
    if (const auto larger = std::max(4 * slots, kFewestSlots);
        added_ >= slots / 2 && larger <= kMostSlots && bytes() + Table::bytes(larger) <= most) {
        tables_.reserve(tables_.size() + 1);
        auto table = std::make_unique<const Table>(larger);
        added_ = 0;
        if (slots > 0)
            for (const auto& slot : tables_.back()->slots())
                if (const auto known = slot.read(); known.reads > 0) put(*table, known);
        table_.store(table.get(), std::memory_order_release);
        tables_.push_back(std::move(table));
        bytes_.fetch_add(Table::bytes(larger), std::memory_order_relaxed);
    }
    has_no_room_ = tables_.empty();
    if (!tables_.empty()) put(*tables_.back(), step);
}

void TokenSteps::put(const Table& table, const TokenStep& step) {
    auto hashed = hash(step.lexer_state, step.token, step.state_read(0), step.count_before());
    std::array<Slot*, 4> places{&table.at(hashed), &table.beside(hashed)};
    const auto end = places.begin() + (step.reads > 2 ? 4 : 2);
    if (step.reads > 2) {
        std::copy_n(places.begin(), 2, places.begin() + 2);
        for (std::size_t below = 1; below < kDeepest && below + 1 < step.reads; below += 2)
            hashed = hash_below(hashed, step.state_read(below), step.state_read(below + 1));
        places[0] = &table.at(hashed);
        places[1] = &table.beside(hashed);
    }
    auto free = std::find_if(places.begin(), end, [](const Slot* slot) { return slot->read().reads == 0; });
    if (free == end) free = &places[added_ % 2];
    (*free)->write(step);
    ++added_;
}

}  // namespace pdacon
