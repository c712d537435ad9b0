#include "nested/nested_pda.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/budget.hpp"
#include "base/memory.hpp"
#include "nested/room.hpp"

namespace pdacon {

namespace {

constexpr std::int32_t kBottom = -1;
constexpr std::size_t kUsualDepth = 8;  // of a walk below a node
// What is made for a mask, and for the states that its tokens lead to, takes about as much as so many masks.
constexpr std::size_t kMasksInWork = 8;
// The part of the limit on bytes that no state is begun in.
constexpr std::size_t kReserved = 4;
// The part of the limit that kept steps may take beside it.
constexpr std::size_t kShareOfSteps = 16;

template <class Tokens>
void add_tokens(const Tokens& trie, std::int32_t first, std::int32_t end, std::span<std::int32_t> words) {
    for (auto at = first; at < end; ++at) set_bit(words, trie.token(at));
}

// The first byte of a set from one on; 256: there is none.
std::int32_t next_byte(const ByteSet& set, std::int32_t from) {
    constexpr ByteSet kWord(~0ULL);
    for (auto at = from; at < 256; at += 64)
        if (const auto word = (set >> static_cast<std::size_t>(at) & kWord).to_ullong(); word != 0)
            return at + std::countr_zero(word);
    return 256;
}

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
      pool_(trie_->masks()),
      lent_(trie_->kept<LentWords>()),
      limits_(limits),
      automaton_(std::move(schemas), question, limits.states),
      reading_(automaton_, *trie_, limits.states),
      longest_(trie_->max_depth() + 1),
      masks_(trie_->words()) {}

// Behind the lock; what it leaves counts against the limit on bytes.
template <class Work>
auto NestedPda::guarded(Work work) {
    const std::lock_guard hold(lock_);
    if (is_broken()) throw NeedsWhole("work on this automaton was broken off");
    struct Publishing {
        ~Publishing() {
            own.published_.store(own.held_ - own.masks_.shared_bytes(), std::memory_order_relaxed);
        }
        NestedPda& own;
    };
    const Publishing publishing{*this};
    const MemoryLimit memory(limits_.bytes, held_);
    const Reserve reserve(static_cast<std::size_t>(limits_.bytes) / kReserved);
    try {
        return work();
    } catch (const NeedsWhole&) {
        automaton_.forget_questions();
        throw;
    } catch (const NoRoom&) {
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
    const std::lock_guard hold(lock_);
    if (!start_)
        start_ = guarded([&] {
            const auto start = reading_.begin(automaton_.start());
            return std::pair{reading_.node(start), start.count};
        });
    return Position{start_->first, start_->second, PersistentStack(kBottom)};
}

bool NestedPda::read_byte(NestedReading::Cursor& at, PersistentStack& frames, std::uint8_t byte) {
    const auto next = reading_.step(at, byte);
    if (next.is_dead()) return false;
    if (next.push >= 0) {
        const MemoryLimit::Pause theirs;
        frames.push(next.push);
        if (!has_depth(frames.depth())) throw TooDeep(symbols(frames.depth()), limits_.depth);
    }
    if (next.ending < 0) {
        at = next.to;
        return true;
    }
    const auto frame = frames.top();
    if (frame == kBottom) return false;
    frames.pop(1);
    at = reading_.begin(automaton_.after(frame, next.ending));
    return true;
}

bool NestedPda::read(Position& at, std::string_view bytes) {
    return guarded([&] {
        auto cursor = reading_.cursor(at.node, at.count);
        for (const char byte : bytes)
            if (!read_byte(cursor, at.frames, static_cast<std::uint8_t>(byte))) return false;
        at.node = reading_.node(cursor);
        at.count = cursor.count;
        return true;
    });
}

bool NestedPda::ends(const Position& at) {
    return at.frames.depth() == 0 &&
           reading_.place_at_end(reading_.cursor(at.node, at.count)) == NestedAutomaton::kEnd;
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

std::optional<NestedPda::Here> NestedPda::taken(const NestedReading::Step& step, Reference stack) {
    if (step.is_dead()) return std::nullopt;
    Here to{step.to, stack};
    if (step.push >= 0) {
        pushed_.push_back({step.push, to.stack});
        to.stack = static_cast<Reference>(pushed_.size()) - 1;
    }
    if (step.ending >= 0) {
        const auto frame = popped(to.stack);
        if (frame == kBottom) return std::nullopt;
        to.cursor = reading_.begin(automaton_.after(frame, step.ending));
    }
    return to;
}

// The exits of the loop that tokens begin in between two characters; none if it is no loop.
std::shared_ptr<const LoopExits> NestedPda::loop_of(const NestedReading::Cursor& at) {
    if (at.has_texts() || at.thread.move < 0) return nullptr;
    if (!reading_.left(at, at.thread.move, longest_).are_free()) return nullptr;
    const auto& run = reading_.automaton(at.place, at.thread.move).run(at.thread.position, reading_.limit());
    return run.is_loop && run.characters.size() >= 32 ? trie_->loops().exits(run.characters) : nullptr;
}

// The tokens below a node of the trie, or of one of rests, which has been read, its own among them.
template <class Tokens>
void NestedPda::walk(const Tokens& trie, std::int32_t root, const Here& from, Words words) {
    struct Open {
        std::int32_t at, end;  // children, one after another; or bytes, where there are many
        const SharedTrie::Children* children;
        Here here;
        ByteSet live;
        std::shared_ptr<const LoopExits> exits;
    };
    std::vector<Open> open;
    const auto enter = [&](std::int32_t node, const Here& here) {
        add_tokens(trie, trie.first_token(node), trie.first_token(node + 1), words);
        const auto end = trie.subtree_end(node);
        if (node + 1 == end) return;
        Open made{node + 1, end, nullptr, here, reading_.live(here.cursor), nullptr};
        if constexpr (std::is_same_v<Tokens, SharedTrie>) {
            if (end - node > 8) made.exits = loop_of(here.cursor);
            if (!made.exits) made.children = trie.children(node);
            if (made.children) made.at = 0, made.end = 256;
        }
        open.reserve(kUsualDepth);
        open.push_back(std::move(made));
    };
    enter(root, from);
    while (!open.empty()) {
        auto& top = open.back();
        if (top.exits) {
            const auto exit = top.exits->first(top.at, top.end);
            add_tokens(trie, trie.first_token(top.at), trie.first_token(exit), words);
            top.at = exit;
        }
        if (top.children) top.at = next_byte(top.live, top.at);
        if (top.at >= top.end) {
            open.pop_back();
            continue;
        }
        const auto node = top.children ? (*top.children)[static_cast<std::size_t>(top.at)] : top.at;
        const auto byte = static_cast<std::uint8_t>(top.children ? top.at : trie.byte(node));
        top.at = top.children ? top.at + 1 : trie.subtree_end(node);
        if (node < 0 || !top.live[byte]) continue;
        const auto here = top.here;
        if (const auto next = taken(reading_.step(here.cursor, byte), here.stack)) enter(node, *next);
    }
}

// All tokens, from each terminal by itself, where they go on with bytes of their own, or within a value,
// where none goes on behind another one; texts may go on beside them. False: it is another case, and nothing
// was added.
bool NestedPda::add_terminals(const Here& from, Words words) {
    const auto& cursor = from.cursor;
    const auto found = reading_.threads(cursor);
    const std::vector threads(found.begin(), found.end());
    if ((threads.size() > 1 || cursor.has_texts()) && reading_.ended(cursor) >= 0) return false;
    ByteSet all;
    for (const auto& [move, position] : threads) {
        const auto& live = reading_.automaton(cursor.place, move).row(position, reading_.limit()).live;
        if ((all & live).any() && !automaton_.is_within_value(cursor.place)) return false;
        all |= live;
    }
    for (const auto& [move, position] : threads) {
        const auto tokens =
            reading_.automaton(cursor.place, move)
                .tokens(position, reading_.left(cursor, move, longest_), *trie_, reading_.limit());
        tokens->add_to(words);
        const bool ends = TerminalAutomaton::matches(position);
        if (tokens->beyond->empty() && tokens->large.empty() && !ends) continue;
        const auto behind = taken(reading_.made_move(cursor.place, move), from.stack);
        if (!behind) continue;
        walk(*tokens->beyond, 0, *behind, words);
        for (const auto node : tokens->large) walk(*trie_, node, *behind, words);
        if (ends) walk_from(*behind, reading_.live(behind->cursor) & ~all, words);
    }
    for (auto text = cursor.first; text < cursor.end;) {
        auto alone = from;
        alone.cursor.first = text;
        alone.cursor.end = text = reading_.end_of_byte(cursor, text);
        const auto byte = reading_.byte_of(alone.cursor, alone.cursor.first);
        if (byte < 0 || !all[static_cast<std::size_t>(byte)]) {
            alone.cursor.more = -1;
            alone.cursor.thread = {-1, 0};
        }
        follow_texts(alone, words);
    }
    return true;
}

// The tokens along texts, beside threads for which all their tokens have been added.
void NestedPda::follow_texts(const Here& from, Words words) {
    std::vector<std::pair<std::int32_t, Here>> pending{{0, from}};
    // Goes on to where something else happens; false: no token does.
    const auto pass = [&](std::int32_t& node, Here& here) {
        for (const char byte : reading_.plain_rest(here.cursor)) {
            if (trie_->subtree_end(node) == node + 1) return false;
            node = trie_->child(node, static_cast<std::uint8_t>(byte));
            if (node < 0) return false;
            add_tokens(*trie_, trie_->first_token(node), trie_->first_token(node + 1), words);
            ++here.cursor.depth;
        }
        return true;
    };
    while (!pending.empty()) {
        auto [node, here] = pending.back();
        pending.pop_back();
        if (!pass(node, here)) continue;
        const auto& cursor = here.cursor;
        for (auto text = cursor.first; text < cursor.end; text = reading_.end_of_byte(cursor, text)) {
            const auto byte = reading_.byte_of(cursor, text);
            const auto child = byte < 0 ? -1 : trie_->child(node, static_cast<std::uint8_t>(byte));
            if (child < 0) continue;
            const auto step = reading_.step(cursor, static_cast<std::uint8_t>(byte));
            const bool is_within = step.how == NestedReading::Step::How::kWithin;
            // A thread that does not go on has not ended, and no token below has been added for it.
            if (is_within && reading_.ended(step.to) < 0 && step.to.has_threads() == cursor.has_threads()) {
                add_tokens(*trie_, trie_->first_token(child), trie_->first_token(child + 1), words);
                if (step.to.has_texts() && trie_->subtree_end(child) > child + 1)
                    pending.push_back({child, {step.to, here.stack}});
                continue;
            }
            if (cursor.has_threads()) {
                const auto end = trie_->first_token(trie_->subtree_end(child));
                for (auto at = trie_->first_token(child); at < end; ++at) clear_bit(words, trie_->token(at));
            }
            if (const auto next = taken(step, here.stack)) walk(*trie_, child, *next, words);
        }
    }
}

// All tokens.
void NestedPda::add_all(const Here& from, Words words) {
    if (add_terminals(from, words)) return;
    walk_from(from, reading_.live(from.cursor), words);
}

// The tokens that begin with some bytes.
void NestedPda::walk_from(const Here& from, const ByteSet& first, Words words) {
    for (auto byte = next_byte(first, 0); byte < 256; byte = next_byte(first, byte + 1)) {
        const auto node = trie_->child(0, static_cast<std::uint8_t>(byte));
        if (node < 0) continue;
        const auto step = reading_.step(from.cursor, static_cast<std::uint8_t>(byte));
        if (const auto next = taken(step, from.stack)) walk(*trie_, node, *next, words);
    }
}

std::int32_t NestedPda::made_mask(const Position& at, bool leading_space) {
    pushed_.clear();
    base_ = at.frames.node();
    looked_ = 0;
    LentWords::Row row(lent_, trie_->words());
    const auto words = row.words();
    const Here here{reading_.cursor(at.node, at.count), ~std::int32_t{0}};
    if (leading_space) {
        auto others = reading_.live(here.cursor);
        others.reset(' ');
        walk_from(here, others, words);
        if (const auto space = trie_->child(0, ' '); space >= 0) walk(*trie_, space, here, words);
    } else {
        add_all(here, words);
    }
    for (const auto token : tokens().end_tokens()) clear_bit(words, token);
    if (ends(at))
        for (const auto token : tokens().end_tokens()) set_bit(words, token);
    return masks_.intern(pool_.of(words));
}

// The node, and for each thread that counts characters how many it may still read.
void NestedPda::begin_key(const Position& at) {
    key_.assign(1, at.node);
    if (!reading_.counts(at.node)) return;
    const auto cursor = reading_.cursor(at.node, at.count);
    for (const auto& [move, position] : reading_.threads(cursor)) {
        const auto left = reading_.left(cursor, move, longest_);
        key_.push_back(left.least);
        key_.push_back(left.most);
    }
}

std::pair<std::int32_t, std::int32_t> NestedPda::find(const Position& at) {
    const auto node = static_cast<std::size_t>(at.node);
    const auto most = node < most_frames_.size() ? most_frames_[node] : -1;
    if (most < 0) return {-1, 0};
    begin_key(at);
    const auto* frame = at.frames.node();
    for (std::int32_t depth = 0;; ++depth) {
        if (const auto known = mask_keys_.find(key_); known >= 0)  // its mask is missing where work broke off
            return {std::cmp_less(known, mask_ids_.size()) ? mask_ids_[static_cast<std::size_t>(known)] : -1,
                    depth};
        if (depth == most || frame == nullptr) return {-1, 0};
        key_.push_back(frame->state);
        frame = frame->below;
    }
}

Mask NestedPda::known_mask(const Position& at) {
    const std::unique_lock hold(lock_, std::try_to_lock);
    if (!hold.owns_lock() || is_replaced()) return {};
    const auto [id, frames] = find(at);
    return id < 0 ? Mask{} : Mask{id, masks_.row(id)};
}

Mask NestedPda::mask(const Position& at) {
    const std::lock_guard hold(lock_);
    if (const auto [known, frames] = find(at); known >= 0) return {known, masks_.row(known)};
    return guarded([&] {
        if (is_closed()) throw NeedsWhole("another automaton has taken the place of this one");
        require_room(kMasksInWork * trie_->words() * sizeof(std::int32_t));
        const auto id = made_mask(at);
        begin_key(at);
        const auto* frame = at.frames.node();
        for (std::int32_t k = 0; k < looked_; ++k, frame = frame->below) key_.push_back(frame->state);
        const auto number = static_cast<std::size_t>(mask_keys_.intern(key_));
        if (mask_ids_.size() <= number) mask_ids_.resize(number + 1, -1);
        mask_ids_[number] = id;
        const auto node = static_cast<std::size_t>(at.node);
        if (most_frames_.size() <= node) most_frames_.resize(node + 1, -1);
        auto& most = most_frames_[node];
        most = std::max(most, looked_);
        return Mask{id, masks_.row(id)};
    });
}

void NestedPda::keep_step(const Position& from, std::int32_t token) {
    if (!tokens().has_text(token)) return;
    const std::unique_lock hold(lock_, std::try_to_lock);
    if (!hold.owns_lock() || is_closed() || !steps_.wants_more() ||
        steps_.find(from.node, token, from.frames.node(), from.count).reads > 0)
        return;
    const MemoryLimit::Pause beside;
    const auto step = find_step(from, token);
    const auto limit = limits_.bytes == 0 ? std::numeric_limits<std::size_t>::max()
                                          : static_cast<std::size_t>(limits_.bytes);
    if (step.reads > 0) steps_.add(step, limit / kShareOfSteps);
}

// Reads no frames where nothing is to be kept.
TokenStep NestedPda::find_step(const Position& from, std::int32_t token) {
    const auto bytes = tokens().bytes_of(token);
    auto after = from;
    auto cursor = reading_.cursor(from.node, from.count);
    const auto depth = from.frames.depth();
    auto lowest = depth, highest = depth;
    for (const char byte : bytes) {
        const auto before = after.frames.depth();
        if (!read_byte(cursor, after.frames, static_cast<std::uint8_t>(byte))) return {};
        lowest = std::min(lowest, after.frames.depth());
        highest = std::max({highest, before + 1, after.frames.depth()});  // a byte may push and pop
    }
    after.node = reading_.node(cursor);
    after.count = cursor.count;
    const auto popped = depth - lowest, pushed = after.frames.depth() - lowest, rise = highest - depth;
    TokenStep step{.lexer_state = from.node, .token = token};
    step.set_counts(from.count, after.count);
    const bool fits = bytes.size() <= TokenStep::kMostLength && rise <= 0xFF;
    if (fits) step.length = static_cast<std::uint16_t>(bytes.size());
    std::uint32_t reads = std::max(popped, 1U);
    if (popped == 0 && pushed == 0 && after.node == from.node && after.count == from.count) {
        step.mask_id = TokenStep::kSameMask;
    } else {
        const auto [mask, frames] = find(after);
        if (mask < 0) return {};
        const auto looked = static_cast<std::uint32_t>(frames);
        reads = std::max(reads, popped + looked - std::min(pushed, looked));
        step.set_mask(mask, masks_.row(mask));
    }
    std::vector<std::int32_t> compared, added;
    const auto* frame = from.frames.node();
    for (; compared.size() < std::min<std::size_t>(reads, TokenStep::kMostStates); frame = frame->below)
        compared.push_back(frame->state);
    frame = after.frames.node();
    for (; added.size() < std::min<std::size_t>(pushed, TokenStep::kMostStates); frame = frame->below)
        added.push_back(frame->state);
    std::ranges::reverse(added);
    if (!fits || added.size() < pushed || !step.set_states(compared, reads, added)) {
        if (step.reads == 0) step.set_states(compared, TokenStep::kMostStates + 1, {});
        step.mask_id = TokenStep::kNotKept;
        return step;
    }
    step.next_lexer_state = after.node;
    step.popped = static_cast<std::uint8_t>(popped);
    step.rise = static_cast<std::uint8_t>(rise);
    return step;
}

Mask NestedPda::end_mask() {
    return guarded([&] {
        if (end_mask_ < 0) {
            if (is_closed()) throw NeedsWhole("another automaton has taken the place of this one");
            std::vector<std::int32_t> words(trie_->words());
            for (const auto token : tokens().end_tokens()) set_bit(words, token);
            end_mask_ = masks_.intern(pool_.of(words));
        }
        return Mask{end_mask_, masks_.row(end_mask_)};
    });
}

Mask NestedPda::leading_mask() {
    const auto start = initial();
    return guarded([&] {
        if (leading_mask_ < 0) {
            if (is_closed()) throw NeedsWhole("another automaton has taken the place of this one");
            leading_mask_ = made_mask(start, true);
        }
        return Mask{leading_mask_, masks_.row(leading_mask_)};
    });
}

Mask NestedPda::known_leading_mask() {
    const std::unique_lock hold(lock_, std::try_to_lock);
    if (!hold.owns_lock() || is_replaced() || leading_mask_ < 0) return {};
    return Mask{leading_mask_, masks_.row(leading_mask_)};
}

std::string NestedPda::forced_bytes(Position at, std::size_t limit) {
    return guarded([&] {
        std::string forced;
        auto cursor = reading_.cursor(at.node, at.count);
        const auto is_over = [&] {
            return at.frames.depth() == 0 && reading_.place_at_end(cursor) == NestedAutomaton::kEnd;
        };
        while (forced.size() < limit && !is_over()) {
            pushed_.clear();
            base_ = at.frames.node();
            int only = -1;
            const auto live = reading_.live(cursor);
            for (int byte = 0; byte < 256; ++byte) {
                if (!live[static_cast<std::size_t>(byte)] ||
                    !taken(reading_.step(cursor, static_cast<std::uint8_t>(byte)), ~std::int32_t{0}))
                    continue;
                if (only >= 0) return forced;
                only = byte;
            }
            if (only < 0 || !read_byte(cursor, at.frames, static_cast<std::uint8_t>(only))) break;
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
    rows.resize(static_cast<std::size_t>(count - since) * masks_.words());
    for (auto id = since; id < count; ++id)
        masks_.row(static_cast<std::int32_t>(id))
            .write(rows.data() + static_cast<std::size_t>(id - since) * masks_.words(), masks_.words());
    return rows;
}

}  // namespace pdacon
