#include "coaccessibility.hpp"

#include <algorithm>
#include <map>

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
      summaries_(machine, controls_, budget) {
    std::int32_t rows = 0;
    for (std::int32_t state = 0; state < machine.lexer.num_states(); ++state) {
        const auto set = futures_.of(state, 0);
        future_.push_back(set);
        if (static_cast<std::size_t>(set) >= dense_.size())
            dense_.resize(static_cast<std::size_t>(set) + 1, -1);
        if (dense_[static_cast<std::size_t>(set)] < 0) dense_[static_cast<std::size_t>(set)] = rows++;
    }
    if (machine.layout.newline >= 0)
        for (std::int32_t state = 0; state < machine.lexer.num_states(); ++state)
            column_free_.push_back(!machine.lexer.keeps_columns(state) || begins_another_line(state));
    verdicts_ = std::make_unique<std::atomic<Verdict>[]>(static_cast<std::size_t>(rows) *
                                                         static_cast<std::size_t>(machine.tables.num_states));
}

// Behind a line break every column can be reached; so if what can follow there is what can follow here, the
// column here does not matter.
bool Coaccessibility::begins_another_line(std::int32_t lexer_state) const {
    const auto& lexer = machine_.lexer;
    std::vector<std::int32_t> open{lexer_state};
    std::vector<bool> seen(future_.size(), false);
    for (std::size_t i = 0; i < open.size(); ++i) {
        for (std::int32_t cls = 0; cls < lexer.num_classes(); ++cls) {
            const auto next = lexer.next(open[i], cls);
            if (next < 0 || seen[static_cast<std::size_t>(next)]) continue;
            seen[static_cast<std::size_t>(next)] = true;
            if (lexer.is_line_break(cls) && lexer.counts(next) && future(next) == future(lexer_state))
                return true;
            open.push_back(next);
        }
    }
    return false;
}

const std::vector<std::int32_t>* Coaccessibility::pops_of_future(std::int32_t future, std::int32_t state) {
    scratch_.clear();
    const auto controls = controls_.of_set(future);
    for (const auto control : controls) {
        const auto& summary = summaries_.pending(control, state);
        if (summary.accept != Summaries::kNever) return nullptr;
        for (const auto& result : summary.results) scratch_.push_back(result.pop);
    }
    std::sort(scratch_.begin(), scratch_.end());
    scratch_.erase(std::unique(scratch_.begin(), scratch_.end()), scratch_.end());
    return &scratch_;
}

const std::vector<std::int32_t>* Coaccessibility::pops_of_set(std::int32_t set, std::int32_t state) {
    const auto known = pop_sets_[set];
    const std::vector<std::int32_t> controls(known.begin(), known.end());
    scratch_.clear();
    for (const auto control : controls) {
        const auto& summary = summaries_.pop(control, state);
        if (summary.accept != Summaries::kNever) return nullptr;
        for (const auto& result : summary.results) scratch_.push_back(result.pop);
    }
    std::sort(scratch_.begin(), scratch_.end());
    scratch_.erase(std::unique(scratch_.begin(), scratch_.end()), scratch_.end());
    return &scratch_;
}

// Greatest fixpoint over (set of pop controls, state): alive on every stack iff acceptance is reached above,
// or every symbol that can lie below is alive with what the pops bring there. Sound by induction on the
// height of the stack, because each step goes one symbol down and the start state must accept by itself.
bool Coaccessibility::alive_on_all(std::int32_t set, std::int32_t state) {
    const auto id_of = [&](std::int32_t pops, std::int32_t at) {
        const std::int32_t key[] = {pops, at};
        const auto id = universal_ids_.intern(key);
        if (static_cast<std::size_t>(id) == universal_.size()) universal_.push_back(Verdict::kUnknown);
        return id;
    };
    const auto root = id_of(set, state);
    if (universal_[static_cast<std::size_t>(root)] != Verdict::kUnknown)
        return universal_[static_cast<std::size_t>(root)] == Verdict::kAlways;
    std::vector<std::int32_t> open{root}, refuted;
    std::unordered_map<std::int32_t, std::vector<std::int32_t>> users;
    for (std::size_t i = 0; i < open.size(); ++i) {
        const auto id = open[i];
        const auto key = universal_ids_[id];
        const auto [pops_id, at] = std::pair(key[0], key[1]);
        universal_[static_cast<std::size_t>(id)] = Verdict::kAlways;
        const auto* pops = pops_of_set(pops_id, at);
        if (pops == nullptr) continue;
        const auto& below = machine_.predecessors[static_cast<std::size_t>(at)];
        bool fails = pops->empty() || below.empty();
        const auto next_set = pop_sets_.intern(*pops);
        for (std::size_t b = 0; b < below.size() && !fails; ++b) {
            const auto next = id_of(next_set, below[b]);
            switch (universal_[static_cast<std::size_t>(next)]) {
                case Verdict::kUnknown:
                    open.push_back(next);
                    universal_[static_cast<std::size_t>(next)] = Verdict::kAlways;
                    [[fallthrough]];
                case Verdict::kAlways:
                    users[next].push_back(id);
                    break;
                default:
                    fails = true;
            }
        }
        if (fails) refuted.push_back(id);
    }
    while (!refuted.empty()) {
        const auto id = refuted.back();
        refuted.pop_back();
        if (universal_[static_cast<std::size_t>(id)] == Verdict::kDepends) continue;
        universal_[static_cast<std::size_t>(id)] = Verdict::kDepends;
        for (const auto user : users[id]) refuted.push_back(user);
    }
    return universal_[static_cast<std::size_t>(root)] == Verdict::kAlways;
}

Verdict Coaccessibility::verdict(std::int32_t future, std::int32_t top) {
    auto& cell = verdicts_[index(future, top)];
    auto answer = cell.load(std::memory_order_relaxed);
    if (answer != Verdict::kUnknown) return answer;
    const auto* pops = pops_of_future(future, top);
    if (pops == nullptr) {
        answer = Verdict::kAlways;
    } else if (pops->empty()) {
        answer = Verdict::kNever;
    } else {
        const auto set = pop_sets_.intern(*pops);
        const auto& below = machine_.predecessors[static_cast<std::size_t>(top)];
        const bool always =
            !below.empty() && std::all_of(below.begin(), below.end(),
                                          [&](std::int32_t state) { return alive_on_all(set, state); });
        answer = always ? Verdict::kAlways : Verdict::kDepends;
    }
    cell.store(answer, std::memory_order_release);
    return answer;
}

bool Coaccessibility::alive(std::int32_t future, Overlay& stack) {
    const auto answer = verdict(future, stack.top());
    return answer == Verdict::kDepends ? reaches_end(future, stack) : answer == Verdict::kAlways;
}

bool Coaccessibility::reaches_end(std::int32_t events, Overlay below) {
    const auto* pops = pops_of_future(events, below.top());
    for (;;) {
        if (pops == nullptr) return true;
        if (pops->empty() || below.at_bottom()) return false;
        const auto set = pop_sets_.intern(*pops);
        below.pop(1);
        if (alive_on_all(set, below.top())) return true;
        pops = pops_of_set(set, below.top());
    }
}

}  // namespace pdacon
