#include "composition/allowance.hpp"

#include <stdexcept>

namespace pdacon {

void require_measurable(const Pushdown& machine, bool is_filtered) {
    if (is_filtered && machine.layout.newline >= 0)
        throw std::invalid_argument(
            "tokens and bytes cannot be counted under canonical in a grammar with a postlex; leave the "
            "budget or canonical out");
    if (machine.lexer.has_escaped_lines())
        throw std::invalid_argument(
            "tokens and bytes cannot be counted in a grammar with indentation within strings of JSON; leave "
            "the budget out, and end the text with shortest_completion()");
}

}  // namespace pdacon
