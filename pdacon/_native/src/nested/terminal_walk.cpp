// What the tokens of a vocabulary do from a position of a terminal: a walk along the trie of the vocabulary,
// in preorder, that passes over what stays in a loop of characters.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "nested/character_counts.hpp"
#include "nested/terminal_automaton.hpp"
#include "nested/token_heights.hpp"

namespace pdacon {

namespace {

constexpr int kLong = 16;  // a run of so many characters has its tokens known for the process
constexpr auto kChain = CharacterCounts::kLeast;    // if it is a loop, or goes on for so many
constexpr int kShortest = 4, kManyCharacters = 32;  // or for so many of so many, and no further
constexpr std::int32_t kLarge = 1024;    // nodes of a subtree that is left in the trie, where a terminal ends
constexpr std::int32_t kSure = 16;       // characters, in a region that tokens may leave for nowhere
constexpr int kMuchLarger = 12;          // characters that a region has beyond those of a loop within it
constexpr std::int32_t kSmall = 16;      // nodes of a subtree in which no loop is of use
constexpr std::int32_t kModest = 1024;   // the same, unless it is known
constexpr std::int32_t kManyExits = 32;  // more exits than one in so many nodes: the loop is not used
constexpr std::int64_t kDear = 512;      // nodes that are read, of a walk that others take over
constexpr std::size_t kMostRead = 256;   // positions of such a walk

}  // namespace

// Of one call; the automaton's lock is held.
class TerminalAutomaton::Walk {
  public:
    Walk(TerminalAutomaton& own, const CharactersLeft& left, const SharedTrie& trie, StateLimit& limit)
        : own_(own), left_(left), trie_(trie), limit_(limit), is_counted_(!left.are_free()) {}

    Kept from(std::int32_t position) {
        if (!is_counted_) {
            if (const auto known = own_.alike(position, limit_)) return known;
            if (const auto made = differing(position)) return made;
        }
        walk(position);
        auto made = std::make_shared<const TerminalTokens>(std::move(made_));
        note_bytes(*made);
        if (!is_counted_ && steps_ > kDear) {
            own_.keep_base(position, made);
            if (!has_region_ && read_.size() <= kMostRead) own_.keep_walk(std::move(read_), made);
        }
        return made;
    }

  private:
    void note_bytes(const TerminalTokens& made) {
        const auto numbers = (made.mask.size() + made.large.size()) * sizeof(std::int32_t);
        own_.bytes_.fetch_add(static_cast<std::int64_t>(made.within.bytes() + numbers),
                              std::memory_order_relaxed);
    }
    void walk(std::int32_t position) {
        note(position);
        const auto& run = own_.made_run(position, limit_);
        const auto* region = region_of(0, position, run);
        const bool is_long = run.next != kDead && run.characters.size() >= kLong;
        if (region != nullptr)
            leave_region(position, *region);
        else if (!is_long || is_small_part(position, run) || needed(position) < 0 ||
                 (!run.is_loop && (is_counted_ || !is_chain(run))) || has_many_exits(position, run))
            open(0, position, 0);
        else if (is_counted_)
            leave_counted(position, run);
        else
            leave_run(position, run);
        follow();
        std::erase_if(within_, [](const auto& range) { return range.first == range.second; });
        made_.within = TokenSet(trie_, std::move(within_));
        made_.beyond = own_.rests_of(trie_, std::move(beyond_));
    }

    // A node that has been read, and the position behind it.
    struct Open {
        std::int32_t node, child, end, at;
        std::int32_t characters;  // that have been read up to it
        std::int32_t needed;      // in a loop: how many a string must have behind it
        std::size_t number;       // of the position, among those that are read
        const Row* row;
        const LoopExits* exits;  // of the loop that the position is, or of the region it is in; or null
        const Region* region = nullptr;
    };
    // What is noted of a position that is read.
    std::size_t note(std::int32_t position) {
        const auto index = static_cast<std::size_t>(position / 8);
        if (numbers_.size() <= index) numbers_.resize(own_.states_.size(), -1);
        if (numbers_[index] < 0) {
            numbers_[index] = static_cast<std::int32_t>(read_.size());
            read_.push_back({position, {}});
        }
        return static_cast<std::size_t>(numbers_[index]);
    }
    void note_run(std::int32_t position) { read_[note(position)].is_run = true; }

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
    // Whether a position is a loop, or its characters are read by a chain of states that is long enough, or
    // has an end of its own.
    bool is_chain(const Run& run) {
        if (run.next == kDead || run.is_loop) return run.next != kDead;
        const auto length = own_.length_of(run, limit_);
        if (length >= kChain) return true;
        if (length < kShortest || run.characters.size() < kManyCharacters) return false;
        if (run.has_end < 0) run.has_end = has_end(run, length) ? 1 : 0;
        return run.has_end > 0;
    }
    // Whether a text is dead that has more characters of a chain than this is long.
    bool has_end(const Run& run, std::int32_t length) {
        auto last = run.next;
        for (std::int32_t k = 1; k < length; ++k) last = own_.made_run(last, limit_).next;
        const auto& live = own_.made_row(last, limit_).live;
        if (matches(last)) return false;
        for (int byte = 0; byte <= CharacterSet::kLastLead; ++byte)
            if (live[static_cast<std::size_t>(byte)] &&
                run.characters.contains(static_cast<std::uint8_t>(byte)))
                return false;
        return true;
    }
    void keep(std::int32_t first, std::int32_t end) {
        if (!within_.empty() && within_.back().second == first)
            within_.back().second = end;
        else
            within_.emplace_back(first, end);
    }

    // A node of which the last byte has led to a position, behind so many characters.
    void read(std::int32_t node, std::int32_t at, std::int32_t characters) {
        keep(trie_.first_token(node), trie_.first_token(node + 1));
        const auto end = trie_.subtree_end(node);
        if (end == node + 1) return;
        if (can_go_on(at) && !is_counted_ && end - node <= kSmall)
            read_small(node, at);
        else if (can_go_on(at))
            open(node, at, characters + (own_.own_.inside > 0 && ends_character(at)));
        else if (end - node > kLarge)
            made_.large.push_back(node);
        else
            for (auto child = node + 1; child < end; child = trie_.subtree_end(child))
                beyond_.push_back(child);
    }
    Open opened(std::int32_t node, std::int32_t at, std::int32_t characters) {
        const auto* row = &own_.made_row(at, limit_);
        return {node, node + 1, trie_.subtree_end(node), at, characters, 0, note(at), row, nullptr};
    }
    void open(std::int32_t node, std::int32_t at, std::int32_t characters) {
        auto made = opened(node, at, characters);
        if (made.end - node > kSmall) find_exits(made, own_.made_run(at, limit_));
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
            has_region_ = true;
        } else if (run.is_loop && run.characters.size() >= kLong && !is_small_part(made.at, run) &&
                   (made.needed = needed(made.at)) >= 0) {
            if (!run.exits) run.exits = trie_.loops().exits(run.characters);
            made.exits = run.exits.get();
            read_[made.number].is_run = true;
        }
    }
    // Goes on behind the character that begins with a node's byte, if that is outside ASCII and all such
    // characters lead to one loop or region, which reads them, too. True: the tokens below the node stay
    // there up to its exits, the last one perhaps in the midst of a character.
    bool pass_character(std::int32_t node, std::int32_t at, std::int32_t characters) {
        const auto byte = trie_.byte(node);
        if (byte < CharacterSet::kFirstLead || trie_.subtree_end(node) - node <= kSmall) return false;
        const auto& run = own_.made_run(at, limit_);
        if (run.next == kDead || !run.characters.contains(byte)) return false;
        if (is_counted_ && own_.counted_here(at, run.next, characters, left_.least, left_.most) == kDead)
            return false;
        const auto& after = own_.made_run(run.next, limit_);
        auto made = opened(node, run.next, characters + (own_.own_.inside > 0 && ends_character(run.next)));
        find_exits(made, after);
        if (made.exits == nullptr || made.exits->has(node)) return false;
        note_run(at);
        keep(trie_.first_token(node), trie_.first_token(node + 1));
        open_.push_back(made);
        return true;
    }
    // The tokens below a node of which the last byte has led to a position, where those are few.
    void read_small(std::int32_t root, std::int32_t position) {
        std::array<std::int32_t, kSmall> at{position};  // by depth below the node
        std::array<const Row*, kSmall> rows{&own_.made_row(position, limit_)};
        std::array<std::size_t, kSmall> numbers{note(position)};
        const auto end = trie_.subtree_end(root);
        for (auto node = root + 1; node < end; ++steps_) {
            const auto depth = static_cast<std::size_t>(trie_.depth(node) - trie_.depth(root)) - 1;
            const auto next = trie_.subtree_end(node);
            const auto byte = trie_.byte(node);
            const auto to = rows[depth]->next[byte];
            read_[numbers[depth]].bytes.set(byte);
            if (to != kDead && can_go_on(to) && next > node + 1) {
                keep(trie_.first_token(node), trie_.first_token(node + 1));
                at[depth + 1] = to;
                rows[depth + 1] = &own_.made_row(to, limit_);
                numbers[depth + 1] = note(to);
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
    // The position with the most bytes that lead where they lead from this one, if these are most of its
    // bytes: one of those known, or the loop that most characters lead to.
    std::optional<Base> base_of(std::int32_t position) {
        const auto& row = own_.made_row(position, limit_);
        auto most = row.live.count() / 2;
        std::optional<Base> found;
        if (row.live.count() < kLong) return found;
        const auto is_best = [&](std::int32_t other) {
            const auto same = count_same(row, own_.made_row(other, limit_));
            return same > std::exchange(most, std::max(most, same));
        };
        for (const auto& base : own_.bases_)
            if (is_best(base.position)) found = base;
        const auto& run = own_.made_run(position, limit_);
        if (run.next != kDead && !run.is_loop && run.characters.size() >= kLong && is_cheap_loop(run.next) &&
            is_best(run.next))
            found = {run.next, own_.kept_tokens(run.next, trie_, limit_)};
        return found;
    }
    bool is_cheap_loop(std::int32_t position) {
        const auto& run = own_.made_run(position, limit_);
        return run.is_loop && !has_many_exits(position, run);
    }
    static std::size_t count_same(const Row& row, const Row& other) {
        std::size_t same = 0;
        for (std::size_t byte = 0; byte < 256; ++byte)
            same += row.next[byte] != kDead && row.next[byte] == other.next[byte];
        return same;
    }
    // A node of which the last byte has led from the position, and from the other one, to where texts go on.
    struct Pair {
        std::int32_t child, end, at, other;
        const Row *row, *others_row;
    };
    Pair pair(std::int32_t node, std::int32_t at, std::int32_t other) {
        const auto* row = &own_.made_row(at, limit_);
        return {node + 1, trie_.subtree_end(node), at, other, row, &own_.made_row(other, limit_)};
    }
    // What tokens do from a position of which most bytes lead where they lead from another one: the same, but
    // for the tokens below the nodes at which the two part. Null: there is no such position.
    Kept differing(std::int32_t position) {
        const auto base = base_of(position);
        if (!base) return nullptr;
        std::vector<std::int32_t> words(trie_.words());
        base->tokens->add_to(words);
        const auto& beyond = base->tokens->beyond->first();
        const auto& large = base->tokens->large;
        std::int32_t taken = 0;  // nodes before it are taken over
        const auto take = [&](std::int32_t end) {
            const auto add = [&](const auto& from, auto& to) {
                to.insert(to.end(), std::ranges::lower_bound(from, taken),
                          std::ranges::lower_bound(from, end));
            };
            add(beyond, beyond_);
            add(large, made_.large);
        };
        std::vector<Pair> pairs{pair(0, position, base->position)};
        while (!pairs.empty()) {
            auto& top = pairs.back();
            if (top.child >= top.end) {
                pairs.pop_back();
                continue;
            }
            const auto child = top.child, at = top.at, other = top.other;
            top.child = trie_.subtree_end(child);
            const auto byte = trie_.byte(child);
            const auto to = top.row->next[byte], others = top.others_row->next[byte];
            const bool is_first = trie_.depth(child) == 1;
            if (to == others && (to != kDead || is_first || matches(at) == matches(other))) continue;
            if (to != kDead && others != kDead && can_go_on(to) && can_go_on(others) &&
                (is_like(to, others) || !has_exits(child, to))) {
                pairs.push_back(pair(child, to, others));
                continue;
            }
            take(child);
            taken = trie_.subtree_end(child);
            const auto last = trie_.first_token(taken);
            for (auto number = trie_.first_token(child); number < last; ++number)
                clear_bit(words, trie_.token(number));
            if (to != kDead && !pass_character(child, at, 0))
                read(child, to, 0);
            else if (to == kDead && matches(at) && !is_first)
                beyond_.push_back(child);
            follow();
        }
        if (taken == 0) return base->tokens;
        take(trie_.num_nodes());
        for (const auto& [first, last] : within_)
            for (auto number = first; number < last; ++number) set_bit(words, trie_.token(number));
        made_.mask = std::move(words);
        made_.beyond = own_.rests_of(trie_, std::move(beyond_));
        auto made = std::make_shared<const TerminalTokens>(std::move(made_));
        note_bytes(*made);
        return made;
    }
    // Whether the tokens below a node are passed over up to where they leave a loop or a region.
    bool has_exits(std::int32_t node, std::int32_t position) {
        auto made = opened(node, position, 0);
        if (made.end - node <= kSmall) return false;
        const auto& run = own_.made_run(position, limit_);
        if (!has_many_exits(position, run)) find_exits(made, run);
        return made.exits != nullptr;
    }
    // Whether most bytes of a position lead where they lead from another one.
    bool is_like(std::int32_t position, std::int32_t other) {
        const auto [known, is_new] = likes_.try_emplace({position, other}, false);
        const auto& row = own_.made_row(position, limit_);
        if (is_new) known->second = count_same(row, own_.made_row(other, limit_)) > row.live.count() / 2;
        return known->second;
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
            read_[top.number].bytes.set(trie_.byte(child));
            if (to != kDead && !pass_character(child, at, characters))
                read(child, to, characters);
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
        read_[note(before)].bytes.set(byte);
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
        has_region_ = true;
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
        made_.mask = counts().few(trie_, tokens->staying, left_.most - needed(position));
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
        note_run(position);
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
            auto& noted = read_[note(at)];
            noted.bytes.set();
            noted.is_run = true;
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
        if (length < kChain) {
            made_.mask = counts().few(trie_, made_.loop->staying, length);
            made_.loop = nullptr;
        } else if (!is_endless) {
            leave_behind(length, positions.back(), run.characters);
        }
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
        made_.mask.resize(trie_.words());
        made_.loop->staying.add_to(made_.mask);
        made_.loop = nullptr;
        for (const auto node : nodes) {
            const auto end = trie_.first_token(trie_.subtree_end(node));
            for (auto at = trie_.first_token(node); at < end; ++at) clear_bit(made_.mask, trie_.token(at));
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
    std::int64_t steps_ = 0;             // nodes that have been read
    std::vector<Read> read_;             // by number
    std::vector<std::int32_t> numbers_;  // of positions, by state; -1: it has not been read
    bool has_region_ = false;            // whether the walk has passed over a region
    std::map<std::pair<std::int32_t, std::int32_t>, bool> likes_;
};

TerminalAutomaton::Kept TerminalAutomaton::made_tokens(std::int32_t position, const CharactersLeft& left,
                                                       const SharedTrie& trie, StateLimit& limit) {
    return Walk(*this, left, trie, limit).from(position);
}

// What positions have in common, such as those in the words of a text, is made once.
std::shared_ptr<const Rests> TerminalAutomaton::rests_of(const SharedTrie& trie,
                                                         std::vector<std::int32_t> nodes) {
    constexpr std::size_t kMost = 64;
    if (!std::ranges::is_sorted(nodes)) std::ranges::sort(nodes);
    if (const auto known = rests_.find(nodes); known != rests_.end()) return *known;
    if (rests_.size() >= kMost) rests_.clear();
    auto made = std::make_shared<const Rests>(trie, std::move(nodes));
    bytes_.fetch_add(static_cast<std::int64_t>(made->bytes()), std::memory_order_relaxed);
    return *rests_.insert(std::move(made)).first;
}

}  // namespace pdacon
