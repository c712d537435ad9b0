#include "liveness/future_rows.hpp"

#include <utility>

#include "artifact/artifact.hpp"

namespace pdacon {

namespace {

constexpr auto kOtherRows = "the rows of its liveness table are those of other tables";

}  // namespace

FutureRows::FutureRows(const Pushdown& machine, Futures& futures, LivenessTable& table)
    : machine_(machine), futures_(futures), table_(table), are_new_(table.empty()) {
    const auto& lexer = machine_.lexer;
    future_.reserve(static_cast<std::size_t>(lexer.num_states()));
    for (std::int32_t state = 0; state < lexer.num_states(); ++state)
        future_.push_back(lexer.keeps_columns(state) ? -1 : futures_.of({state, {}, {}}, 0));
    if (are_new_)
        find_rows();
    else
        read_rows();
}

void FutureRows::find_rows() {
    std::vector<std::int32_t> first_of_state;
    std::vector<ColumnConfiguration> configurations;
    if (machine_.layout.newline >= 0) find_configurations(first_of_state, configurations);
    std::size_t count = 0;
    const auto row_of = [&](std::int32_t future) {
        if (static_cast<std::size_t>(future) >= row_of_.size())
            row_of_.resize(static_cast<std::size_t>(future) + 1, -1);
        auto& known = row_of_[future];
        if (known < 0) known = static_cast<std::int32_t>(count++);
        return known;
    };
    std::vector<std::int32_t> rows;
    rows.reserve(future_.size());
    for (const auto future : future_) rows.push_back(future < 0 ? -1 : row_of(future));
    for (std::size_t at = 0; at < configurations.size(); ++at)
        configurations[at].row = row_of(configuration_future_[at]);
    table_.set_rows(std::move(rows), std::move(first_of_state), std::move(configurations), count);
}

// The configurations are those of the table, which were found when it was made.
void FutureRows::read_rows() {
    const auto rows = table_.rows();
    const auto configurations = table_.configurations();
    std::vector<std::int32_t> future_of_row;
    const auto set_row = [&](std::int32_t future, std::int32_t row) {
        require_artifact(row >= 0, kOtherRows);
        const auto known = [](std::vector<std::int32_t>& values, std::int32_t at) -> std::int32_t& {
            if (static_cast<std::size_t>(at) >= values.size())
                values.resize(static_cast<std::size_t>(at) + 1, -1);
            return values[at];
        };
        auto& its_row = known(row_of_, future);
        auto& its_future = known(future_of_row, row);
        require_artifact((its_row < 0 || its_row == row) && (its_future < 0 || its_future == future),
                         kOtherRows);
        its_row = row;
        its_future = future;
    };
    for (const auto& [lexing, row, next, column_independent] : configurations) {
        require_artifact(lexing.state >= 0 && lexing.state < machine_.lexer.num_states() &&
                             lexing.now.value <= Column::kMost && lexing.matched.value <= Column::kMost,
                         kOtherRows);
        configuration_future_.push_back(futures_.of(lexing, 0));
        set_row(configuration_future_.back(), row);
    }
    for (std::size_t state = 0; state < future_.size(); ++state) {
        if (machine_.lexer.keeps_columns(static_cast<std::int32_t>(state))) {
            if (rows[state] < 0) continue;
            const auto at = table_.first_of_state()[state];
            require_artifact(at >= 0, kOtherRows);
            future_[state] = configuration_future_[at];
        }
        set_row(future_[state], rows[state]);
    }
}

// Finds all configurations with columns, breadth first from where a line can begin, and which are independent
// of them: those at a line break, and backwards those of the same future that lead there.
void FutureRows::find_configurations(std::vector<std::int32_t>& first_of_state,
                                     std::vector<ColumnConfiguration>& configurations) {
    const auto& lexer = machine_.lexer;
    first_of_state.assign(future_.size(), -1);
    std::vector<std::vector<std::int32_t>>
        before;  // by configuration: those of the same future that lead to it
    const auto add = [&](const LexerConfiguration& lexing) {
        const auto known = find_configuration(first_of_state, configurations, lexing);
        if (known >= 0) return known;
        auto& first = first_of_state[lexing.state];
        const auto at = static_cast<std::int32_t>(configurations.size());
        const bool column_independent = !lexing.now.known() && any_column(lexer, lexing);
        configuration_future_.push_back(futures_.of(lexing, 0));
        configurations.push_back({lexing, -1, std::exchange(first, at), column_independent});
        before.emplace_back();
        return at;
    };
    for (const auto& lexing : lexer.first_columns()) add(machine_.layout.classes.least(lexing));
    std::vector<std::uint8_t> is_token(static_cast<std::size_t>(lexer.num_classes()), 0);
    for (const auto& move : futures_.moves(0))
        if (move.speller_state == 0) is_token[move.byte_class] = 1;
    for (std::size_t at = 0; at < configurations.size(); ++at) {
        std::int32_t last = LexingAutomaton::kDead;  // neighbours mostly lead to the same
        for (std::int32_t cls = 0; cls < lexer.num_classes(); ++cls) {
            const auto state = configurations[at].lexing.state;
            const auto next = lexer.next(state, cls);
            const auto blank = lexer.blank(state, cls);
            const bool plain = is_token[cls] != 0 && blank == Blank::kNone;
            const bool again = plain && next == std::exchange(last, next);
            if (next < 0 || again || !lexer.keeps_columns(next)) continue;
            const auto to =
                static_cast<std::size_t>(add(futures_.moved(configurations[at].lexing, next, cls)));
            if (!is_token[cls] || configuration_future_[to] != configuration_future_[at]) continue;
            before[to].push_back(static_cast<std::int32_t>(at));
            if (blank == Blank::kLineBreak && any_column(lexer, configurations[to].lexing))
                configurations[at].column_independent = true;
        }
    }
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < configurations.size(); ++at)
        if (configurations[at].column_independent) open.push_back(at);
    while (!open.empty()) {
        const auto at = open.back();
        open.pop_back();
        for (const auto from : before[at])
            if (!std::exchange(configurations[from].column_independent, true))
                open.push_back(static_cast<std::size_t>(from));
    }
    find_independent_states(first_of_state, configurations);
}

// A state whose configurations are all independent and share one future needs no columns to be looked up.
void FutureRows::find_independent_states(const std::vector<std::int32_t>& first_of_state,
                                         const std::vector<ColumnConfiguration>& configurations) {
    for (std::size_t state = 0; state < future_.size(); ++state) {
        if (future_[state] >= 0 || first_of_state[state] < 0) continue;
        const auto future = configuration_future_[first_of_state[state]];
        bool all = true;
        for (auto at = first_of_state[state]; at >= 0; at = configurations[at].next)
            all = all && configurations[at].column_independent && configuration_future_[at] == future;
        if (all) future_[state] = future;
    }
}

}  // namespace pdacon
