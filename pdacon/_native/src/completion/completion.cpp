#include "completion/completion.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pdacon {

// Appends the least byte after which one byte less is missing, and reads it. False: there is none.
bool Completion::spell_byte(Place& place, std::string& out) {
    tried_.clear();
    for (const auto& edge : speller_.edges[place.speller_state]) {
        const std::pair move{machine_.lexer.byte_class(edge.byte), edge.next};
        if (std::find(tried_.begin(), tried_.end(), move) != tried_.end()) continue;
        tried_.push_back(move);
        auto next = place.lexing;
        auto next_stack = place.stack;
        pending_.assign(1, move.first);
        const bool readable = read(machine_, next_stack, next, pending_);
        // Within a line the cost is that of the best column of the class, so spell_to_column has to decide.
        if (!readable || !any_column(machine_.lexer, next)) continue;
        if (cost(next, edge.next, next_stack.node(), place.left - 1) != place.left - 1) continue;
        place = {next, std::move(next_stack), place.left - 1, edge.next};
        out.push_back(static_cast<char>(edge.byte));
        return true;
    }
    return false;
}

// Within a newline, where the column at hand may not be the one that costs least: spells on to where costs
// are exact again, which is after the newline's end. Blanks cost nothing there, and as many are spelled as
// the column needs, spaces rather than tabs. Where a next line begins, the cost is only a lower bound, for
// its best column may need bytes that are no blanks; so the search goes on from there, and from wherever no
// less than `below` is missing. With kNone bytes missing then, the text may end there.
void Completion::spell_to_column(Place& place, std::int64_t below, std::string& out) {
    ColumnSearch search;
    search.add({.lexing = place.lexing, .stack = place.stack, .speller_state = place.speller_state});
    for (auto at = search.take(); at >= 0; at = search.take()) {
        budget_.check_states(kStatesPerPath * search.size());
        const auto here = search.path(at);
        if (!search.is_new(alike(here.lexing, here.stack), here.speller_state, cells_.of(here.stack.node())))
            continue;
        ReadSet read_set;
        Overlay closed(here.stack.view(), read_set);
        if (speller_.boundary[here.speller_state] && ends(machine_, closed, here.lexing))
            search.offer({here.spent, kNone, at, -1, here.lexing, here.speller_state, here.stack});
        add_moves(search, at, below);
    }
    const auto& best = search.best();
    if (!best.stack) throw std::logic_error("no column leads on to the shortest completion");
    out += search.text();
    place = {best.lexing, *best.stack, best.left, best.speller_state};
}

// Columns further in than the innermost block can open are equivalent within their class. The configuration
// itself keeps its own column, for the block that it opens.
LexerConfiguration Completion::alike(const LexerConfiguration& lexing, const PersistentStack& stack) const {
    return machine_.layout.classes.least(lexing, machine_.layout.equivalent_from(stack.column()));
}

// Adds the paths that one more byte leads to within the line or to the beginning of a next one, and offers
// the ends that it leads to outside, if less than `below` is missing there; else they are paths as well.
void Completion::add_moves(ColumnSearch& search, std::int32_t at, std::int64_t below) {
    const auto& lexer = machine_.lexer;
    const auto here = search.path(at);
    std::vector<std::pair<std::int32_t, std::int32_t>> tried;  // byte classes and speller states
    for (const auto& edge : speller_.edges[here.speller_state]) {
        const std::pair move{lexer.byte_class(edge.byte), edge.next};
        if (std::find(tried.begin(), tried.end(), move) != tried.end()) continue;
        tried.push_back(move);
        auto next = here.lexing;
        const auto state = lexer.next(next.state, move.first);
        if (state >= 0) lexer.move(next, state, move.first);
        if (state >= 0 && !any_column(lexer, next)) {
            const bool free = here.lexing.now.known() && distances_.lengths().of_byte(move.first) == 0;
            const bool tab = free && edge.byte == '\t';
            const auto spent = here.spent + !free;
            const ColumnSearch::Path path{next,
                                          here.stack,
                                          edge.next,
                                          spent,
                                          std::max(here.least, spent),
                                          here.tabs + tab,
                                          here.spaces + (free && !tab),
                                          at,
                                          edge.byte};
            if (search.improves(alike(next, here.stack), edge.next, cells_.of(here.stack.node()),
                                {path.least, path.tabs, path.spaces}))
                search.add(path);
            continue;
        }
        next = here.lexing;
        auto next_stack = here.stack;
        std::vector<std::int32_t> pending{move.first};
        if (!read(machine_, next_stack, next, pending)) continue;
        const auto known = search.best().cost;
        const auto limit = known == kNone ? ByteDistances::kUnlimited : known - here.spent - 1;
        const auto left = cost(next, edge.next, next_stack.node(), limit);
        if (left == kNone) continue;
        const auto spent = here.spent + 1;
        if (left >= below || (lexer.keeps_columns(next.state) && any_column(lexer, next)))
            search.add(
                {next, next_stack, edge.next, spent, spent + left, here.tabs, here.spaces, at, edge.byte});
        else
            search.offer({spent + left, left, at, edge.byte, next, edge.next, next_stack});
    }
}

std::int64_t Completion::shortest(LexerConfiguration lexing, PersistentStack stack, std::string* out,
                                  std::size_t most) {
    if (out != nullptr) out->clear();
    ReadSet read_set;
    Overlay closed(stack.view(), read_set);
    if (ends(machine_, closed, lexing)) return 0;
    if (distances_.size() > kMostKnown) distances_.forget();
    const auto length = cost(lexing, 0, stack.node(), ByteDistances::kUnlimited);
    if (out != nullptr) {
        const bool short_enough = length <= kLongest || most < kLongest;
        spell({std::move(lexing), std::move(stack), short_enough ? length : 0}, most, *out);
    }
    return length;
}

// Spells a completion, or `most` bytes of it or more.
void Completion::spell(Place place, std::size_t most, std::string& out) {
    if (machine_.layout.newline < 0) return spell_part(place, most, out);
    const auto at_column = [&] {
        if (place.left > 0 || !machine_.lexer.keeps_columns(place.lexing.state)) return true;
        ReadSet read_set;
        Overlay closed(place.stack.view(), read_set);
        return speller_.boundary[place.speller_state] && ends(machine_, closed, place.lexing);
    };
    // Where the text has come to when fewer bytes were missing than ever before.
    Place nearest = place;
    std::size_t length = out.size();
    int idle = 0;  // steps in a row that brought the end no nearer
    while (out.size() < most && place.left != kNone && (place.left > 0 || !at_column())) {
        if (place.left > 0 && spell_byte(place, out)) continue;
        // Or the byte leads into a newline.
        auto below = kNone;
        if (idle == kMostIdle) {
            place = nearest;
            out.resize(length);
            below = nearest.left;
        }
        spell_to_column(place, below, out);
        if (place.left < nearest.left) {
            nearest = place;
            length = out.size();
            idle = 0;
        } else {
            ++idle;
        }
    }
}

void Completion::spell_part(Place& place, std::size_t most, std::string& out) {
    const auto begin = out.size();
    while (out.size() - begin < most && place.left > 0 && place.left != kNone)
        if (!spell_byte(place, out)) throw std::logic_error("no byte leads on to the shortest completion");
}

}  // namespace pdacon
