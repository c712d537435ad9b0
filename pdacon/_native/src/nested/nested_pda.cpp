#include "nested/nested_pda.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/budget.hpp"
#include "base/memory.hpp"

namespace pdacon {

namespace {

constexpr std::int32_t kBottom = -1;
constexpr std::int32_t kMostWords = 1 << 16;  // steps of the trie along texts, for one mask

}  // namespace

bool NestedPda::can_read(const Trie& trie) {
    const auto& bytes = trie.alphabet();
    const auto has = [&](int byte) { return std::ranges::find(bytes, byte) != bytes.end(); };
    for (int byte = 0; byte < 0xF5; ++byte)
        if (byte != 0xC0 && byte != 0xC1 && !has(byte)) return false;
    return trie.tokens()->num_labels() == 0;
}

NestedPda::NestedPda(std::unique_ptr<NestedSchemas> schemas, std::int32_t question,
                     std::shared_ptr<const SharedTrie> trie, Limits limits)
    : trie_(std::move(trie)),
      limits_(limits),
      automaton_(std::move(schemas), question, limits.states),
      reading_(automaton_, limits.states),
      masks_(trie_->words()) {}

// Behind the lock; what it leaves counts against the limit on bytes.
template <class Work>
auto NestedPda::guarded(Work work) {
    const std::lock_guard hold(lock_);
    struct Publishing {
        ~Publishing() { own.published_.store(own.held_, std::memory_order_relaxed); }
        NestedPda& own;
    };
    const Publishing publishing{*this};
    const MemoryLimit memory(limits_.bytes, held_);
    try {
        return work();
    } catch (const NeedsWhole&) {
        automaton_.forget_questions();
        throw;
    } catch (const LimitExceeded& error) {
        automaton_.forget_questions();
        if (std::string_view(error.what()) != "states") break_off();
        throw;
    } catch (const OutOfBytes& error) {
        break_off();
        throw LimitExceeded("bytes", static_cast<double>(error.given), static_cast<double>(error.limit));
    } catch (...) {
        break_off();
        throw;
    }
}

NestedPda::Position NestedPda::initial() {
    return guarded([&] {
        const auto node = reading_.begin(automaton_.start());
        const MemoryLimit::Pause theirs;
        return Position{node, PersistentStack(kBottom)};
    });
}

bool NestedPda::read_byte(Position& at, std::uint8_t byte) {
    const auto next = reading_.step(at.node, byte);
    if (next.is_dead()) return false;
    if (next.push >= 0) {
        const MemoryLimit::Pause theirs;
        at.frames.push(next.push);
        // The whole counts symbols: at most three for an open bracket, and some for what stands in the last.
        if (limits_.depth > 0 && 3 * std::int64_t{at.frames.depth()} + 4 > limits_.depth)
            throw NeedsWhole("so many brackets may be open only in the whole");
    }
    if (next.ending < 0) {
        at.node = next.node;
        return true;
    }
    const auto frame = at.frames.top();
    if (frame == kBottom) return false;
    at.frames.pop(1);
    at.node = reading_.begin(automaton_.after(frame, next.ending));
    return true;
}

bool NestedPda::read(Position& at, std::string_view bytes) {
    return guarded([&] {
        return std::ranges::all_of(bytes,
                                   [&](char byte) { return read_byte(at, static_cast<std::uint8_t>(byte)); });
    });
}

bool NestedPda::ends(const Position& at) {
    return at.frames.depth() == 0 && reading_.place_at_end(at.node) == NestedAutomaton::kEnd;
}

bool NestedPda::may_end(const Position& at) {
    return guarded([&] { return ends(at); });
}

std::int32_t NestedPda::popped(Reference& stack) {
    if (stack >= 0) {
        const auto& top = pushed_[static_cast<std::size_t>(stack)];
        stack = top.below;
        return top.frame;
    }
    const auto depth = ~stack;
    const auto* frame = base_;
    for (std::int32_t k = 0; k < depth; ++k) frame = frame->below;
    looked_ = std::max(looked_, depth + 1);
    if (frame->state != kBottom) stack = ~(depth + 1);
    return frame->state;
}

std::optional<NestedPda::Here> NestedPda::step(const Here& from, std::uint8_t byte) {
    const auto next = reading_.step(from.node, byte);
    if (next.is_dead()) return std::nullopt;
    Here to{next.node, from.stack};
    if (next.push >= 0) {
        pushed_.push_back({next.push, to.stack});
        to.stack = static_cast<Reference>(pushed_.size()) - 1;
    }
    if (next.ending >= 0) {
        const auto frame = popped(to.stack);
        if (frame == kBottom) return std::nullopt;
        to.node = reading_.begin(automaton_.after(frame, next.ending));
    }
    return to;
}

void NestedPda::add_tokens(std::int32_t first, std::int32_t end, std::vector<std::int32_t>& words) const {
    for (auto at = first; at < end; ++at) set_bit(words, trie_->token(at));
}

// The exits of the loop that a node of the trie begins in between two characters; none if it is no loop.
std::shared_ptr<const LoopExits> NestedPda::loop_of(std::int32_t node) {
    const auto threads = reading_.threads(node);
    if (threads.size() != 1 || reading_.reader(node, threads[0]).is_text()) return nullptr;
    const auto& run = reading_.reader(node, threads[0]).run(threads[0].position);
    return run.is_loop && run.characters.size() >= 32 ? trie_->loops().exits(run.characters) : nullptr;
}

// The tokens below a node of the trie, which has been read, its own among them.
void NestedPda::walk(std::int32_t root, const Here& from, std::vector<std::int32_t>& words) {
    struct Open {
        std::int32_t at, end;
        Here here;
        std::shared_ptr<const LoopExits> exits;
    };
    std::vector<Open> open;
    const auto enter = [&](std::int32_t node, const Here& here) {
        add_tokens(trie_->first_token(node), trie_->first_token(node + 1), words);
        const auto end = trie_->subtree_end(node);
        if (node + 1 == end) return;
        open.push_back({node + 1, end, here, end - node > 8 ? loop_of(here.node) : nullptr});
    };
    enter(root, from);
    while (!open.empty()) {
        auto& top = open.back();
        if (top.exits) {
            const auto exit = top.exits->first(top.at, top.end);
            add_tokens(trie_->first_token(top.at), trie_->first_token(exit), words);
            top.at = exit;
        }
        if (top.at >= top.end) {
            open.pop_back();
            continue;
        }
        const auto node = top.at;
        top.at = trie_->subtree_end(node);
        if (const auto next = step(top.here, trie_->byte(node))) enter(node, *next);
    }
}

// Where texts, which are beside a thread that reads characters, lead to: by node of the trie.
void NestedPda::find_texts(const Here& from, std::unordered_map<std::int32_t, std::optional<Here>>& found) {
    std::vector<std::pair<std::int32_t, Here>> pending{{0, from}};
    std::int32_t steps = 0;
    while (!pending.empty()) {
        const auto [node, here] = pending.back();
        pending.pop_back();
        std::vector<std::uint8_t> bytes;
        for (const auto& thread : reading_.threads(here.node)) {
            const auto& terminal = reading_.reader(here.node, thread).terminal();
            if (terminal.is_text() && std::cmp_less(thread.position, terminal.text.size()))
                bytes.push_back(
                    static_cast<std::uint8_t>(terminal.text[static_cast<std::size_t>(thread.position)]));
        }
        std::ranges::sort(bytes);
        bytes.erase(std::unique(bytes.begin(), bytes.end()), bytes.end());
        for (const auto byte : bytes) {
            if (++steps > kMostWords) throw NeedsWhole("too many names");
            const auto child = trie_->child(node, byte);
            if (child < 0) continue;
            const auto next = step(here, byte);
            found.emplace(child, next);
            const bool stays = next && next->stack == here.stack;
            if (stays && trie_->subtree_end(child) > child + 1) pending.emplace_back(child, *next);
        }
    }
}

// All tokens, from a node in which one thread reads a run of characters and all others are texts. False: it
// is none.
bool NestedPda::walk_run(const Here& from, std::vector<std::int32_t>& words) {
    const NestedReading::Thread* reader = nullptr;
    for (const auto& thread : reading_.threads(from.node)) {
        if (reading_.reader(from.node, thread).is_text()) continue;
        if (reader != nullptr) return false;
        reader = &thread;
    }
    if (reader == nullptr) return false;
    auto& terminal = reading_.reader(from.node, *reader);
    const auto run = terminal.run(reader->position);
    if (run.next == TerminalReader::kDead || run.characters.size() < 32) return false;
    const auto longest = std::min(trie_->max_depth(), 255);
    const auto most = run.is_loop ? 0 : std::min(run.length, longest);
    const auto tokens = trie_->loops().tokens(run.characters, static_cast<std::uint8_t>(most));
    std::unordered_map<std::int32_t, std::optional<Here>> texts;
    if (reading_.threads(from.node).size() > 1) find_texts(from, texts);
    tokens->staying.add_to(words);
    std::vector<std::int32_t> states{reader->position};  // after so many characters
    for (const auto& exit : tokens->exits) {
        while (states.size() <= exit.characters) states.push_back(terminal.run(states.back()).next);
        const Here alone{reading_.moved(from.node, *reader, states[exit.characters]), from.stack};
        const auto next = step(alone, exit.byte);
        if (!next && texts.empty()) continue;
        for (const auto node : exit.nodes) {
            const auto text = texts.find(node);
            const auto& here = text == texts.end() ? next : text->second;
            if (here) walk(node, *here, words);
        }
    }
    return true;
}

std::vector<std::int32_t> NestedPda::computed(const Position& at) {
    pushed_.clear();
    base_ = at.frames.node();
    looked_ = 0;
    std::vector<std::int32_t> words(trie_->words());
    const Here here{at.node, ~std::int32_t{0}};
    if (!walk_run(here, words)) walk(0, here, words);
    for (const auto token : tokens().end_tokens()) clear_bit(words, token);
    if (ends(at))
        for (const auto token : tokens().end_tokens()) set_bit(words, token);
    return words;
}

std::int32_t NestedPda::find(const Position& at) {
    const auto most = most_frames_.find(at.node);
    if (most == most_frames_.end()) return -1;
    key_.assign(1, at.node);
    const auto* frame = at.frames.node();
    for (std::int32_t depth = 0;; ++depth) {
        if (const auto known = mask_keys_.find(key_); known >= 0)
            return mask_ids_[static_cast<std::size_t>(known)];
        if (depth == most->second || frame == nullptr) return -1;
        key_.push_back(frame->state);
        frame = frame->below;
    }
}

Mask NestedPda::known_mask(const Position& at) {
    const std::unique_lock hold(lock_, std::try_to_lock);
    if (!hold.owns_lock() || is_closed()) return {};
    const auto id = find(at);
    return id < 0 ? Mask{} : Mask{id, masks_.row(id)};
}

Mask NestedPda::mask(const Position& at) {
    return guarded([&] {
        auto id = find(at);
        if (id < 0) {
            if (is_closed()) throw NeedsWhole("another automaton has taken the place of this one");
            id = masks_.intern(computed(at));
            key_.assign(1, at.node);
            const auto* frame = at.frames.node();
            for (std::int32_t k = 0; k < looked_; ++k, frame = frame->below) key_.push_back(frame->state);
            const auto number = static_cast<std::size_t>(mask_keys_.intern(key_));
            if (mask_ids_.size() <= number) mask_ids_.resize(number + 1, -1);
            mask_ids_[number] = id;
            auto& most = most_frames_[at.node];
            most = std::max(most, looked_);
        }
        return Mask{id, masks_.row(id)};
    });
}

Mask NestedPda::end_mask() {
    return guarded([&] {
        if (end_mask_ < 0) {
            if (is_closed()) throw NeedsWhole("another automaton has taken the place of this one");
            std::vector<std::int32_t> words(trie_->words());
            for (const auto token : tokens().end_tokens()) set_bit(words, token);
            end_mask_ = masks_.intern(std::move(words));
        }
        return Mask{end_mask_, masks_.row(end_mask_)};
    });
}

std::string NestedPda::forced_bytes(Position at, std::size_t limit) {
    return guarded([&] {
        std::string forced;
        while (forced.size() < limit && !ends(at)) {
            pushed_.clear();
            base_ = at.frames.node();
            int only = -1;
            for (int byte = 0; byte < 256; ++byte) {
                if (!step({at.node, ~std::int32_t{0}}, static_cast<std::uint8_t>(byte))) continue;
                if (only >= 0) return forced;
                only = byte;
            }
            if (only < 0 || !read_byte(at, static_cast<std::uint8_t>(only))) break;
            forced.push_back(static_cast<char>(only));
        }
        return forced;
    });
}

NestedPda::Sizes NestedPda::sizes() {
    const std::lock_guard hold(lock_);
    return {automaton_.num_places(), reading_.num_nodes(), std::ssize(mask_ids_), std::ssize(masks_)};
}

std::vector<std::int32_t> NestedPda::masks(std::int64_t since) {
    const std::lock_guard hold(lock_);
    const auto count = static_cast<std::int64_t>(masks_.size());
    if (since < 0 || since > count)
        throw std::out_of_range("mask_table: since=" + std::to_string(since) + ", but the masks so far are " +
                                std::to_string(count) + ", with the ids from 0 on");
    std::vector<std::int32_t> rows;
    rows.reserve(static_cast<std::size_t>(count - since) * masks_.words());
    for (auto id = since; id < count; ++id) {
        const auto* row = masks_.row(static_cast<std::int32_t>(id));
        rows.insert(rows.end(), row, row + masks_.words());
    }
    return rows;
}

}  // namespace pdacon
