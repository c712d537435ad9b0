#include "coaccessibility.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace pdacon {

const std::vector<std::int32_t>& QuotientControls::of_set(std::int32_t set) {
    const auto [known, added] = of_set_.try_emplace(set);
    if (added) {
        std::map<std::int32_t, std::vector<std::int32_t>> residues;  // of each label
        for (const auto id : futures_.events(set)) {
            const auto& event = futures_.event(id);
            residues[event.label].push_back(event.residue);
        }
        for (auto& [label, left] : residues) {
            std::sort(left.begin(), left.end());
            emit_controls(label, left, [&](std::int32_t control) { known->second.push_back(control); });
        }
    }
    return known->second;
}

std::vector<PendingControls::Successor> QuotientControls::lexed(std::int32_t context,
                                                                std::span<const std::int32_t> residues) {
    std::vector<std::int32_t> events;
    for (const auto residue : residues) {
        const auto landing = futures_.land(context, residue);
        if (landing.event >= 0) events.push_back(landing.event);
        if (landing.lexer_state < 0) continue;
        const auto more = futures_.events(futures_.of(landing.lexer_state, landing.speller_state));
        events.insert(events.end(), more.begin(), more.end());
    }
    std::sort(events.begin(), events.end());
    events.erase(std::unique(events.begin(), events.end()), events.end());
    std::vector<Successor> successors;
    for (const auto next : of_set(futures_.intern_set(events))) successors.push_back({next, 0});
    return successors;
}

Coaccessibility::Coaccessibility(const Pushdown& machine, const Speller& speller, Budget& budget)
    : machine_(machine),
      futures_(machine.lexer, speller, budget),
      controls_(futures_, machine.layout),
      known_(*this),
      proofs_(machine, controls_, budget, known_) {
    std::int32_t rows = 0;
    for (std::int32_t state = 0; state < machine.lexer.num_states(); ++state) {
        const auto set = futures_.of(state, 0);
        future_.push_back(set);
        if (static_cast<std::size_t>(set) >= dense_.size())
            dense_.resize(static_cast<std::size_t>(set) + 1, -1);
        if (dense_[static_cast<std::size_t>(set)] < 0) dense_[static_cast<std::size_t>(set)] = rows++;
    }
    if (machine.layout.newline >= 0) find_column_free();
    verdicts_ = std::make_unique<std::atomic<Verdict>[]>(static_cast<std::size_t>(rows) *
                                                         static_cast<std::size_t>(machine.tables.num_states));
    prove_entries(budget);
}

// Behind a line break every column can be reached; so if what can follow there is what can follow here, the
// column here does not matter. All that lies between has that future too, because futures only lose events.
void Coaccessibility::find_column_free() {
    const auto& lexer = machine_.lexer;
    column_free_.assign(future_.size(), 0);
    std::vector<std::vector<std::int32_t>> before(future_.size());  // states of the same future
    std::vector<std::int32_t> open;
    for (std::int32_t state = 0; state < lexer.num_states(); ++state) {
        auto& is_free = column_free_[static_cast<std::size_t>(state)];
        for (std::int32_t cls = 0; cls < lexer.num_classes(); ++cls) {
            const auto next = lexer.next(state, cls);
            if (next < 0 || future(next) != future(state)) continue;
            auto& into = before[static_cast<std::size_t>(next)];
            if (into.empty() || into.back() != state) into.push_back(state);
            if (lexer.is_line_break(cls) && lexer.counts(next)) is_free = 1;
        }
        if (is_free != 0) open.push_back(state);
    }
    while (!open.empty()) {
        const auto at = static_cast<std::size_t>(open.back());
        open.pop_back();
        for (const auto state : before[at])
            if (std::exchange(column_free_[static_cast<std::size_t>(state)], 1) == 0) open.push_back(state);
    }
    for (std::int32_t state = 0; state < lexer.num_states(); ++state)
        if (!lexer.keeps_columns(state)) column_free_[static_cast<std::size_t>(state)] = 1;
}

bool Coaccessibility::Known::is_settled(std::int32_t control, std::int32_t top) {
    const auto context = owner_.machine_.tables.context[static_cast<std::size_t>(top)];
    const auto& futures = owner_.controls_.futures_after(context, control);
    return std::any_of(futures.begin(), futures.end(), [&](std::int32_t future) {
        return owner_.has_verdicts(future) && owner_.known(future, top) == Verdict::kAlways;
    });
}

// In most grammars nearly every start of a lexeme is alive on every stack, and shown to be by the exits of
// the states alone. Then what follows a lexeme need not be looked into for anything else.
void Coaccessibility::prove_entries(Budget& budget) {
    const Exits exits(machine_);
    Known few(*this, &exits);
    Proofs proofs(machine_, controls_, budget, few);
    for (std::int32_t state = 0; state < machine_.tables.num_states; ++state) {
        const auto context = machine_.tables.context[static_cast<std::size_t>(state)];
        for (std::int32_t behind = 0; behind < machine_.lexer.num_behind(); ++behind) {
            const auto entry = machine_.lexer.entry(context, behind);
            if (entry >= 0 && prove(proofs, future(entry), state) == Verdict::kAlways)
                verdicts_[index(future(entry), state)].store(Verdict::kAlways, std::memory_order_relaxed);
        }
    }
}

Verdict Coaccessibility::prove(Proofs& proofs, std::int32_t future, std::int32_t top) {
    const auto pops = proofs.below(controls_.of_set(future), top);
    if (pops == Proofs::kAccepts) return Verdict::kAlways;
    if (proofs.is_empty(pops)) return Verdict::kNever;
    const auto& below = machine_.predecessors[static_cast<std::size_t>(top)];
    const bool always = !below.empty() && std::all_of(below.begin(), below.end(), [&](std::int32_t state) {
        return proofs.always(pops, state);
    });
    return always ? Verdict::kAlways : Verdict::kDepends;
}

Verdict Coaccessibility::verdict(std::int32_t future, std::int32_t top) {
    auto& cell = verdicts_[index(future, top)];
    auto answer = cell.load(std::memory_order_relaxed);
    if (answer != Verdict::kUnknown) return answer;
    answer = prove(proofs_, future, top);
    cell.store(answer, std::memory_order_release);
    return answer;
}

bool Coaccessibility::alive(std::int32_t future, Overlay& stack) {
    const auto answer = verdict(future, stack.top());
    return answer == Verdict::kDepends ? reaches_end(future, stack) : answer == Verdict::kAlways;
}

bool Coaccessibility::reaches_end(std::int32_t events, Overlay below) {
    auto pops = proofs_.below(controls_.of_set(events), below.top());
    for (;;) {
        if (pops == Proofs::kAccepts) return true;
        if (proofs_.is_empty(pops) || below.at_bottom()) return false;
        below.pop(1);
        if (proofs_.always(pops, below.top())) return true;
        pops = proofs_.below(pops, below.top());
    }
}

}  // namespace pdacon
