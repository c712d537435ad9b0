#include "composition/forced_bytes.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace pdacon {

std::string find_forced_bytes(const Pushdown& machine, const VocabularyStar& star, LexerConfiguration lexing,
                              PersistentStack stack, std::size_t limit, const IsLive& is_live) {
    struct Move {
        LexerConfiguration lexing;
        std::int32_t speller_state;
        PersistentStack stack;
    };
    const auto& lexer = machine.lexer;
    std::string forced;
    std::int32_t speller_state = 0;
    std::vector<std::int32_t> pending;
    const auto viable = [&](const VocabularyStar::Edge& edge) -> std::optional<Move> {
        pending.assign(1, lexer.byte_class(edge.byte));
        if (lexer.next(lexing.state, pending[0]) == LexingAutomaton::kDead) return std::nullopt;
        Move move{lexing, edge.next, stack};
        if (!read(machine, move.stack, move.lexing, pending)) return std::nullopt;
        if (!is_live(move.lexing, move.speller_state, move.stack.view())) return std::nullopt;
        return move;
    };
    while (forced.size() < limit) {
        ReadSet read_set;
        Overlay here(stack.view(), read_set);
        const auto at = static_cast<std::size_t>(speller_state);
        if (star.boundary[at] && ends(machine, here, lexing)) break;
        std::optional<Move> only;
        std::uint8_t byte = 0;
        std::array<std::int32_t, 256>
            dead;  // of each byte class: the star state after an edge that is not viable
        dead.fill(-1);
        for (const auto& edge : star.edges[at]) {
            auto& known = dead[lexer.byte_class(edge.byte)];
            if (known == edge.next) continue;
            auto move = viable(edge);
            if (!move) {
                known = edge.next;
                continue;
            }
            if (only) return forced;
            only = std::move(move);
            byte = edge.byte;
        }
        if (!only) break;  // only where the text has to end
        lexing = only->lexing;
        speller_state = only->speller_state;
        stack = std::move(only->stack);
        forced.push_back(static_cast<char>(byte));
    }
    return forced;
}

}  // namespace pdacon
