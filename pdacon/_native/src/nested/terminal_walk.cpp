// What the tokens of a vocabulary do from a position of a terminal: a walk along the trie of the vocabulary,
// in preorder, that passes over what stays in a loop of characters.
#include <algorithm>
#include <array>
#include <utility>

#include "nested/character_counts.hpp"
#include "nested/terminal_automaton.hpp"
#include "nested/token_heights.hpp"

namespace pdacon {

namespace {

constexpr int kLong = 16;  // a run of so many characters has its tokens known for the process
constexpr auto kChain = CharacterCounts::kLeast;  // if it is a loop, or goes on for so many
constexpr std::int32_t kLarge = 1024;    // nodes of a subtree that is left in the trie, where a terminal ends
constexpr std::int32_t kSure = 16;       // characters, in a region that tokens may leave for nowhere
constexpr int kMuchLarger = 12;          // characters that a region has beyond those of a loop within it
constexpr std::int32_t kSmall = 16;      // nodes of a subtree in which no loop is of use
constexpr std::int32_t kModest = 1024;   // the same, unless it is known
constexpr std::int32_t kManyExits = 32;  // more exits than one in so many nodes: the loop is not used
constexpr std::int32_t kDear = 16;  // more nodes read than one in so many: other walks take over the results
constexpr std::size_t kMostBases = 4;  // of an automaton

}  // namespace

// Of one call; the automaton's lock is held.
class TerminalAutomaton::Walk {
  public:
    Walk(TerminalAutomaton& own, const CharactersLeft& left, const SharedTrie& trie, StateLimit& limit)
        : own_(own), left_(left), trie_(trie), limit_(limit), is_counted_(!left.are_free()) {}

    TerminalTokens from(std::int32_t position) {
        const auto& run = own_.made_run(position, limit_);
        const auto* region = region_of(0, position, run);
        const bool is_long = run.next != kDead && run.characters.size() >= kLong;
        if (region != nullptr)
            leave_region(position, *region);
        else if (!is_long || is_small_part(position, run) || needed(position) < 0 ||
                 (!run.is_loop && (is_counted_ || !is_chain(run))) || has_many_exits(position, run))
            begin(position);
        else if (is_counted_)
            leave_counted(position, run);
        else
            leave_run(position, run);
        follow();
        std::erase_if(within_, [](const auto& range) { return range.first == range.second; });
        if (is_in_order_ && steps_ > trie_.num_nodes() / kDear && own_.bases_.size() < kMostBases)
            own_.keep_base({position, within_, beyond_, made_.large});
        made_.within = TokenSet(trie_, std::move(within_));
        made_.beyond = own_.rests_of(trie_, std::move(beyond_));
        return std::move(made_);
    }

  private:
    // A node that has been read, and the position behind it.
    struct Open {
        std::int32_t node, child, end, at;
        std::int32_t characters;  // that have been read up to it
        std::int32_t needed;      // in a loop: how many a string must have behind it
        const Row* row;
        const LoopExits* exits;  // of the loop that the position is, or of the region it is in; or null
        const Region* region = nullptr;
        const Row* base = nullptr;  // of the position that the base is in behind the node; null: in none
    };

    // Of how many characters at least a string must go on from a position; -1: some numbers, and not all
    // above.
    std::int32_t needed(std::int32_t at) const { return is_counted_ ? own_.all_lengths_from(at) : 0; }
    std::int32_t next(std::int32_t at, const Row& row, std::uint8_t byte, std::int32_t characters) const {
        const auto to = row.next[byte];
        return is_counted_ ? own_.counted_here(at, to, characters, left_.least, left_.most) : to;
    }
    const CharacterCounts& counts() {
        if (counts_ == nullptr) counts_ = &trie_.kept<KeptCharacterCounts>().of(trie_);
        return *counts_;
    }
    // Whether a position is a loop, or its characters are read by a chain of states that is long enough.
    bool is_chain(const Run& run) {
        return run.next != kDead && (run.is_loop || own_.length_of(run, limit_) >= kChain);
    }
    void keep(std::int32_t first, std::int32_t end) {
        if (!within_.empty() && within_.back().second == first)
            within_.back().second = end;
        else
            within_.emplace_back(first, end);
    }

    // A node of which the last byte has led to a position, behind so many characters.
    void read(std::int32_t node, std::int32_t at, std::int32_t characters, std::int32_t base = kDead) {
        keep(trie_.first_token(node), trie_.first_token(node + 1));
        const auto end = trie_.subtree_end(node);
        if (end == node + 1) return;
        if (can_go_on(at) && !is_counted_ && end - node <= kSmall)
            read_small(node, at);
        else if (can_go_on(at))
            open(node, at, characters + (own_.own_.inside > 0 && ends_character(at)), base);
        else if (end - node > kLarge)
            made_.large.push_back(node);
        else
            for (auto child = node + 1; child < end; child = trie_.subtree_end(child))
                beyond_.push_back(child);
    }
    void open(std::int32_t node, std::int32_t at, std::int32_t characters, std::int32_t base = kDead) {
        const auto end = trie_.subtree_end(node);
        Open made{node, node + 1, end, at, characters, 0, &own_.made_row(at, limit_), nullptr};
        // Where the walk from the base has passed over a loop there is no row, and nothing to be taken over.
        if (base != kDead) made.base = own_.states_[static_cast<std::size_t>(base / 8)].row.get();
        if (end - node > kSmall) {
            const auto& run = own_.made_run(at, limit_);
            if (made.base == nullptr || !has_many_exits(at, run)) find_exits(made, run);
        }
        open_.push_back(made);
    }
    // The exits of the region that a position is in, or of the loop that it is; none if little is gained.
    void find_exits(Open& made, const Run& run) {
        const bool is_known = run.exits || own_.states_[static_cast<std::size_t>(made.at / 8)].region;
        if (!is_known && made.end - made.node <= kModest) return;
        if (const auto* region = region_of(made.node, made.at, run)) {
            if (!region->exits) region->exits = trie_.loops().exits(region->characters);
            made.exits = region->exits.get();
            made.region = region;
        } else if (run.is_loop && run.characters.size() >= kLong && !is_small_part(made.at, run) &&
                   (made.needed = needed(made.at)) >= 0) {
            if (!run.exits) run.exits = trie_.loops().exits(run.characters);
            made.exits = run.exits.get();
        }
        if (made.exits != nullptr) made.base = nullptr;
    }
    // Goes on behind the character that begins with a node's byte, if that is outside ASCII and all such
    // characters lead to one loop or region, which reads them, too. True: the tokens below the node stay
    // there up to its exits, the last one perhaps in the midst of a character.
    bool pass_character(std::int32_t node, std::int32_t at, std::int32_t characters, std::int32_t base) {
        const auto byte = trie_.byte(node);
        const auto end = trie_.subtree_end(node);
        if (byte < CharacterSet::kFirstLead || end - node <= kSmall) return false;
        const auto& run = own_.made_run(at, limit_);
        if (run.next == kDead || !run.characters.contains(byte)) return false;
        if (is_counted_ && own_.counted_here(at, run.next, characters, left_.least, left_.most) == kDead)
            return false;
        const auto& after = own_.made_run(run.next, limit_);
        if (base != kDead && has_many_exits(run.next, after)) return false;
        const auto behind = characters + (own_.own_.inside > 0 && ends_character(run.next));
        Open made{node, node + 1, end, run.next, behind, 0, &own_.made_row(run.next, limit_), nullptr};
        find_exits(made, after);
        if (made.exits == nullptr || made.exits->has(node)) return false;
        keep(trie_.first_token(node), trie_.first_token(node + 1));
        open_.push_back(made);
        return true;
    }
    // The tokens below a node of which the last byte has led to a position, where those are few.
    void read_small(std::int32_t root, std::int32_t position) {
        std::array<std::int32_t, kSmall> at{position};  // by depth below the node
        std::array<const Row*, kSmall> rows{&own_.made_row(position, limit_)};
        const auto end = trie_.subtree_end(root);
        for (auto node = root + 1; node < end; ++steps_) {
            const auto depth = static_cast<std::size_t>(trie_.depth(node) - trie_.depth(root)) - 1;
            const auto next = trie_.subtree_end(node);
            const auto to = rows[depth]->next[trie_.byte(node)];
            if (to != kDead && can_go_on(to) && next > node + 1) {
                keep(trie_.first_token(node), trie_.first_token(node + 1));
                at[depth + 1] = to;
                rows[depth + 1] = &own_.made_row(to, limit_);
                ++node;
                continue;
            }
            if (to != kDead)
                read(node, to, 0);
            else if (matches(at[depth]))
                beyond_.push_back(node);
            node = next;
        }
    }
    // A walk in the order of the trie. What tokens do behind bytes that lead to where they lead from a
    // position of which it is known, is the same.
    void begin(std::int32_t position) {
        is_in_order_ = !is_counted_;
        if (is_in_order_ && !own_.bases_.empty()) {
            const auto& next = own_.made_row(position, limit_).next;
            auto most = static_cast<std::int64_t>(own_.made_row(position, limit_).live.count()) / 2;
            for (const auto& base : own_.bases_) {
                const auto& others = own_.made_row(base.position, limit_).next;
                std::int64_t same = 0;
                for (std::size_t byte = 0; byte < 256; ++byte)
                    same += next[byte] != kDead && next[byte] == others[byte];
                if (same > most) base_ = &base;
                most = std::max(most, same);
            }
        }
        open(0, position, 0, base_ == nullptr ? kDead : base_->position);
    }
    // Takes over what the tokens below a node do, itself among them.
    void copy(std::int32_t node) {
        const auto end = trie_.subtree_end(node);
        const auto first = trie_.first_token(node), last = trie_.first_token(end);
        const auto& ranges = base_->within;
        auto range =
            std::ranges::partition_point(ranges, [&](const auto& one) { return one.second <= first; });
        for (; range != ranges.end() && range->first < last; ++range)
            keep(std::max(range->first, first), std::min(range->second, last));
        const auto add = [&](const std::vector<std::int32_t>& from, std::vector<std::int32_t>& to) {
            to.insert(to.end(), std::ranges::lower_bound(from, node), std::ranges::lower_bound(from, end));
        };
        add(base_->beyond, beyond_);
        add(base_->large, made_.large);
    }
    // Whether tokens leave a loop in so many ways that little is gained by what is known of the loop.
    bool has_many_exits(std::int32_t position, const Run& run) {
        if (is_counted_ || run.characters.size() < kLong || !is_chain(run)) return false;
        if (run.has_many_exits < 0) {
            const auto& next = own_.made_row(position, limit_).next;
            std::int32_t count = 0;
            for (const auto& exit : trie_.loops().tokens(run.characters)->exits)
                if (next[exit.byte] != kDead) count += static_cast<std::int32_t>(exit.nodes.size());
            run.has_many_exits = count > trie_.num_nodes() / kManyExits ? 1 : 0;
        }
        return run.has_many_exits > 0;
    }
    // The tokens below the nodes that are open.
    void follow() {
        while (!open_.empty()) {
            auto& top = open_.back();
            auto characters = top.characters;
            if (top.exits != nullptr) {
                const auto first = top.exits->first(top.child, top.end);
                stay(top, first);
                top.child = first;
                if (is_counted_ && first < top.end)
                    characters += counts().before(trie_, first) - counts().up_to(top.node);
            }
            if (top.child >= top.end) {
                open_.pop_back();
                continue;
            }
            const auto child = top.child;
            top.child = trie_.subtree_end(child);
            if (characters > left_.most) continue;
            ++steps_;
            const bool is_far = top.region && top.region->next[trie_.byte(child)] == Region::kSeveral;
            const auto at = is_far ? behind(top.at, child, trie_.depth(top.node)) : top.at;
            const auto to =
                next(at, is_far ? own_.made_row(at, limit_) : *top.row, trie_.byte(child), characters);
            const auto base = top.base == nullptr ? kDead : top.base->next[trie_.byte(child)];
            if (to != kDead && to == base)
                copy(child);
            else if (to != kDead && !pass_character(child, at, characters, base))
                read(child, to, characters, base);
            else if (to == kDead && matches(at) && trie_.depth(child) > 1)
                beyond_.push_back(child);
        }
    }
    // The tokens from where a node's loop is read on that stay in it up to an exit.
    void stay(const Open& top, std::int32_t exit) {
        const auto first = trie_.first_token(top.child), end = trie_.first_token(exit);
        if (!is_counted_) return keep(first, end);
        const auto most = left_.most - top.characters - top.needed + counts().up_to(top.node);
        for (auto at = first; at < end; ++at)
            if (counts().of_token(at) <= most) keep(at, at + 1);
    }
    void leave(std::int32_t before, std::uint8_t byte, std::int32_t characters,
               std::span<const std::int32_t> nodes) {
        const auto to = next(before, own_.made_row(before, limit_), byte, characters);
        for (const auto node : nodes) {
            if (to != kDead)
                read(node, to, characters);
            else if (matches(before) && trie_.depth(node) > 1)
                beyond_.push_back(node);
            follow();
        }
    }
    // Whether a position is a loop of nearly all characters that lead anywhere: a region is not much larger.
    bool reads_most(std::int32_t position, const Run& run) {
        if (!run.is_loop) return false;
        int leading = 0;
        const auto& live = own_.made_row(position, limit_).live;
        for (std::size_t byte = 0; byte < 128; ++byte) leading += live[byte];
        for (std::size_t lead = CharacterSet::kFirstLead; lead <= CharacterSet::kLastLead; ++lead)
            leading += 2 * live[lead];
        return leading <= run.characters.size() + kMuchLarger;
    }
    // The region in which the tokens below a node stay or which they leave; null: none, or the run of the
    // position is as good.
    const Region* region_of(std::int32_t node, std::int32_t position, const Run& run) {
        if (is_counted_ || reads_most(position, run)) return nullptr;
        const auto& state = own_.within_region(position, limit_);
        if (!state.region || (is_chain(run) && run.characters.size() >= state.region->characters.size()))
            return nullptr;
        if (state.safe < Region::kAny) {
            if (heights_ == nullptr) heights_ = &trie_.kept<TokenHeights>().of(trie_);
            if (state.safe < (*heights_)[static_cast<std::size_t>(node)]) return nullptr;
        }
        return state.region.get();
    }
    // Whether a position that is a loop leads by other characters, too, to where short tokens stay.
    bool is_small_part(std::int32_t position, const Run& run) {
        if (is_counted_ || !is_chain(run) || reads_most(position, run)) return false;
        const auto& state = own_.within_region(position, limit_);
        return state.region && state.safe >= kSure &&
               state.region->characters.size() > run.characters.size() + kMuchLarger;
    }
    // The position before a node's byte, of the position behind its first bytes, and behind the rest of a
    // character that they end in, which has been passed.
    std::int32_t behind(std::int32_t position, std::int32_t node, std::int32_t depth) {
        const auto bytes = trie_.tokens()->bytes_of(trie_.token(trie_.first_token(node)));
        const auto end = static_cast<std::size_t>(trie_.depth(node)) - 1;
        auto at = static_cast<std::size_t>(depth);
        while (at < end && (bytes[at] & 0xC0) == 0x80) ++at;
        for (; at < end; ++at)
            position = own_.made_row(position, limit_).next[static_cast<std::uint8_t>(bytes[at])];
        return position;
    }
    void leave_region(std::int32_t position, const Region& region) {
        made_.loop = trie_.loops().tokens(region.characters);
        for (const auto& exit : made_.loop->exits) {
            const auto to = region.next[exit.byte];
            if (to == kDead) continue;
            if (to != Region::kSeveral)
                leave(position, exit.byte, 0, exit.nodes);
            else
                for (const auto node : exit.nodes) leave(behind(position, node, 0), exit.byte, 0, {&node, 1});
        }
    }
    void leave_counted(std::int32_t position, const Run& run) {
        const auto tokens = trie_.loops().tokens(run.characters);
        made_.counted = counts().few(trie_, tokens->staying, left_.most - needed(position));
        const auto& live = own_.made_row(position, limit_).live;
        for (const auto& exit : tokens->exits) {
            if (!live[exit.byte] && !matches(position)) continue;
            for (const auto node : exit.nodes)
                if (const auto before = counts().before(trie_, node); before <= left_.most)
                    leave(position, exit.byte, before, {&node, 1});
        }
    }
    void leave_run(std::int32_t position, const Run& run) {
        made_.loop = trie_.loops().tokens(run.characters);
        if (run.is_loop)
            for (const auto& exit : made_.loop->exits) leave(position, exit.byte, 0, exit.nodes);
        else
            leave_chain(position, run);
    }
    // Each character leads to another state, up to a loop, or for as many as are counted.
    void leave_chain(std::int32_t position, const Run& run) {
        const auto length = own_.length_of(run, limit_);
        const auto is_endless = length == Run::kEndless;
        std::vector<std::int32_t> positions{position};  // after so many characters
        ByteSet live;
        while (true) {
            const auto at = positions.back();
            live |= matches(at) ? ByteSet().set() : own_.made_row(at, limit_).live;
            const auto& here = own_.made_run(at, limit_);
            if (is_endless ? here.is_loop : std::cmp_equal(positions.size(), length + 1)) break;
            positions.push_back(here.next);
        }
        for (const auto& exit : made_.loop->exits) {
            if (!live[exit.byte]) continue;
            for (const auto node : exit.nodes) {
                const auto before = static_cast<std::size_t>(counts().before(trie_, node));
                if (is_endless || before < positions.size())
                    leave(positions[std::min(before, positions.size() - 1)], exit.byte, 0, {&node, 1});
            }
        }
        if (!is_endless) leave_behind(length, positions.back(), run.characters);
    }
    // Tokens of characters of a chain that is shorter leave it behind the last one.
    void leave_behind(std::int32_t length, std::int32_t last, const CharacterSet& characters) {
        const auto exits = trie_.loops().exits(characters);
        const auto is_inside = [&](std::int32_t node) {
            const auto bytes = trie_.tokens()->bytes_of(trie_.token(trie_.first_token(node)));
            std::int32_t above = 0;
            for (std::int32_t depth = 0; depth < trie_.depth(node); ++depth) {
                above = trie_.child(above, static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(depth)]));
                if (exits->has(above)) return false;
            }
            return true;
        };
        std::vector<std::int32_t> nodes;
        for (const auto node : counts().behind(length))
            if (is_inside(node)) nodes.push_back(node);
        if (nodes.empty()) return;
        made_.counted.resize(trie_.words());
        made_.loop->staying.add_to(made_.counted);
        made_.loop = nullptr;
        for (const auto node : nodes) {
            const auto end = trie_.first_token(trie_.subtree_end(node));
            for (auto at = trie_.first_token(node); at < end; ++at) clear_bit(made_.counted, trie_.token(at));
            leave(last, trie_.byte(node), 0, {&node, 1});
        }
    }

    TerminalAutomaton& own_;
    const CharactersLeft& left_;
    const SharedTrie& trie_;
    StateLimit& limit_;
    const bool is_counted_;
    const std::vector<std::uint16_t>* heights_ = nullptr;  // by node, once they are needed
    const CharacterCounts* counts_ = nullptr;              // the same
    TerminalTokens made_;
    std::vector<TokenRange> within_;
    std::vector<std::int32_t> beyond_;  // nodes of the trie whose bytes no text of the terminal goes on with
    std::vector<Open> open_;
    bool is_in_order_ = false;    // whether results are in the order of the trie
    const Base* base_ = nullptr;  // of which results are taken over
    std::int64_t steps_ = 0;      // nodes that have been read
};

TerminalTokens TerminalAutomaton::made_tokens(std::int32_t position, const CharactersLeft& left,
                                              const SharedTrie& trie, StateLimit& limit) {
    return Walk(*this, left, trie, limit).from(position);
}

void TerminalAutomaton::keep_base(Base base) {
    const auto held = base.within.size() * sizeof(base.within[0]) +
                      (base.beyond.size() + base.large.size()) * sizeof(std::int32_t);
    bytes_.fetch_add(static_cast<std::int64_t>(held), std::memory_order_relaxed);
    bases_.push_back(std::move(base));
}

// What positions have in common, such as those in the words of a text, is made once.
std::shared_ptr<const Rests> TerminalAutomaton::rests_of(const SharedTrie& trie,
                                                         std::vector<std::int32_t> nodes) {
    constexpr std::size_t kMost = 64;
    if (const auto known = rests_.find(nodes); known != rests_.end()) return known->second;
    if (rests_.size() >= kMost) rests_.clear();
    auto made = std::make_shared<const Rests>(trie, nodes);
    const auto held = made->bytes() + nodes.size() * sizeof(std::int32_t);
    bytes_.fetch_add(static_cast<std::int64_t>(held), std::memory_order_relaxed);
    return rests_.emplace(std::move(nodes), std::move(made)).first->second;
}

}  // namespace pdacon
