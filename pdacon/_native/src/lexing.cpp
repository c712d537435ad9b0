#include "lexing.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "nfa.hpp"

namespace pdacon {

int byte_classes(const Nfa& nfa, std::array<std::uint8_t, 256>& class_of) {
    std::set<std::pair<std::uint8_t, std::uint8_t>> ranges;
    for (std::size_t at = 0; at < nfa.kind.size(); ++at) {
        if (static_cast<NfaKind>(nfa.kind[at]) != NfaKind::kBytes) continue;
        for (auto edge = static_cast<std::size_t>(nfa.offset[at]);
             edge < static_cast<std::size_t>(nfa.offset[at + 1]); ++edge)
            ranges.emplace(nfa.low[edge], nfa.high[edge]);
    }
    class_of.fill(0);
    int classes = 1;
    for (const auto& [low, high] : ranges) {
        std::array<int, 256> inside;
        inside.fill(-1);
        std::array<bool, 256> outside{};
        for (int byte = 0; byte < 256; ++byte)
            if (byte < low || byte > high) outside[class_of[static_cast<std::size_t>(byte)]] = true;
        for (std::size_t byte = low; byte <= high; ++byte) {
            const auto old = class_of[byte];
            if (!outside[old]) continue;  // the whole class lies inside the range
            if (inside[old] < 0) inside[old] = classes++;
            class_of[byte] = static_cast<std::uint8_t>(inside[old]);
        }
    }
    return classes;
}

namespace {

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

void validate(const LexerSpec& spec) {
    const auto& nfa = spec.nfa;
    const auto positions = nfa.kind.size();
    const auto terminals = nfa.entry.size();
    const auto valid = [](std::int32_t value, std::size_t size) {
        return value >= 0 && static_cast<std::size_t>(value) < size;
    };
    require(nfa.offset.size() == positions + 1 && nfa.owner.size() == positions, "nfa: lengths differ");
    require(nfa.low.size() == nfa.target.size() && nfa.high.size() == nfa.target.size(),
            "nfa: lengths differ");
    require(nfa.offset.front() == 0 && static_cast<std::size_t>(nfa.offset.back()) == nfa.target.size(),
            "nfa: offsets do not cover the edges");
    for (std::size_t at = 0; at < positions; ++at) {
        require(nfa.kind[at] <= 2 && nfa.offset[at] <= nfa.offset[at + 1], "nfa: bad position");
        require(valid(nfa.owner[at], terminals), "nfa: bad owner");
    }
    for (const auto target : nfa.target) require(valid(target, positions), "nfa: bad target");
    for (const auto entry : nfa.entry) require(entry == -1 || valid(entry, positions), "nfa: bad entry");
    require(spec.ignored.size() == terminals && spec.follow.size() == terminals, "lexer: lengths differ");
    for (const auto& context : spec.contexts) {
        for (const auto terminal : context.alternation)
            require(valid(terminal, terminals), "context: bad terminal");
        for (const auto& rename : context.renames) {
            require(valid(rename.regex, terminals), "context: bad terminal");
            for (const auto keyword : rename.keywords)
                require(valid(keyword, terminals), "context: bad terminal");
        }
    }
    for (const auto& contexts : spec.follow)
        for (const auto context : contexts)
            require(valid(context, spec.contexts.size()), "follow: bad context");
}

// A keyword's position while the lexeme so far is a prefix of it and `regex` is still being matched.
struct Shadow {
    std::int32_t regex, keyword, position;
    bool operator==(const Shadow&) const = default;
};

}  // namespace

class Determinizer {
  public:
    Determinizer(const LexerSpec& spec, LexingAutomaton& out, Budget& budget)
        : spec_(spec),
          out_(out),
          budget_(budget),
          closure_(spec.nfa),
          starts_(spec.nfa.entry.size() + 2, -1) {
        out_.num_terminals_ = spec.num_terminals();
        out_.num_classes_ = byte_classes(spec.nfa, out_.byte_class_);
        representative_.resize(static_cast<std::size_t>(out_.num_classes_));
        for (int byte = 255; byte >= 0; --byte)
            representative_[out_.byte_class_[static_cast<std::size_t>(byte)]] =
                static_cast<std::uint8_t>(byte);
    }

    void run() {
        const std::int32_t empty_word = out_.words_.intern({});
        (void)empty_word;  // id 0 for every automaton
        for (const auto& context : spec_.contexts) out_.entries_.push_back(enter(context));
        for (std::size_t at = 0; at < states_.size(); ++at) {
            for (std::int32_t cls = 0; cls < out_.num_classes_; ++cls) {
                budget_.tick();
                out_.delta_.push_back(step(static_cast<std::int32_t>(at), cls));
            }
            const auto& state = states_[at];
            out_.end_.push_back(state.fresh       ? LexingAutomaton::kBoundary
                                : state.label < 0 ? LexingAutomaton::kDead
                                                  : commit(state.label, state.residual));
            out_.lookahead_ = std::max(out_.lookahead_, static_cast<std::int32_t>(state.residual.size()));
        }
    }

  private:
    struct State {
        bool fresh = false;  // at the start of a lexeme: nothing has been read of it
        std::vector<std::int32_t> threads;
        std::vector<Shadow> shadows;
        std::int32_t label = -1;  // the fallback, -1: none
        std::vector<std::int32_t> residual;
        std::int32_t relaxed = -1;  // which relaxed set the residual leads to (see relaxed_step)
        std::int32_t parent = -1;   // the state it was first reached from
        std::int32_t via = -1;      // and the byte class
    };

    std::int32_t enter(const LexicalContext& context) {
        State state;
        state.fresh = true;
        closure_.begin();
        for (const auto terminal : context.alternation) {
            const auto entry = spec_.nfa.entry[static_cast<std::size_t>(terminal)];
            if (entry >= 0 && closure_.until_match(entry, state.threads))
                throw std::invalid_argument("lexer: a terminal matches the empty text");
        }
        for (const auto& rename : context.renames) {
            for (const auto keyword : rename.keywords) {
                const auto entry = spec_.nfa.entry[static_cast<std::size_t>(keyword)];
                if (entry < 0) continue;
                std::vector<std::int32_t> positions;
                closure_.begin();
                closure_.until_match(entry, positions);
                for (const auto position : positions)
                    state.shadows.push_back({rename.regex, keyword, position});
            }
        }
        return intern(std::move(state));
    }

    std::int32_t step(std::int32_t from, std::int32_t cls) {
        const auto byte = representative_[static_cast<std::size_t>(cls)];
        State state;
        state.parent = from;
        state.via = cls;
        std::int32_t matched = -1;
        closure_.begin();
        for (const auto thread : states_[static_cast<std::size_t>(from)].threads) {
            const auto target = closure_.step(thread, byte);
            if (target < 0 || !closure_.until_match(target, state.threads)) continue;
            matched = spec_.nfa.owner[static_cast<std::size_t>(thread)];
            break;
        }
        const auto name = step_shadows(states_[static_cast<std::size_t>(from)], byte, matched, state);
        if (matched >= 0) {
            state.label = spec_.ignored[static_cast<std::size_t>(matched)] ? out_.ignored_label() : name;
            return state.threads.empty() ? commit(state.label, {}) : intern(std::move(state));
        }
        const auto& previous = states_[static_cast<std::size_t>(from)];
        if (previous.label < 0)
            return state.threads.empty() ? LexingAutomaton::kDead : intern(std::move(state));
        state.relaxed =
            relaxed_step(previous.residual.empty() ? start_set(previous.label) : previous.relaxed, cls);
        const bool viable = !relaxed_sets_[state.relaxed].empty();
        if (state.threads.empty() && !viable) return LexingAutomaton::kDead;
        state.label = previous.label;
        state.residual = previous.residual;
        state.residual.push_back(cls);
        if (state.threads.empty()) return commit(state.label, state.residual);
        if (!viable || loops(state)) {
            state.label = state.relaxed = -1;
            state.residual.clear();
        }
        return intern(std::move(state));
    }

    // Moves the keyword threads on; returns the name of a lexeme that `matched` ends here.
    std::int32_t step_shadows(const State& from, std::uint8_t byte, std::int32_t matched, State& to) {
        std::int32_t name = matched;
        bool renamed = false;
        std::vector<std::int32_t> positions;
        for (const auto& shadow : from.shadows) {
            const auto target = closure_.step(shadow.position, byte);
            if (target < 0) continue;
            positions.clear();
            closure_.begin();
            if (closure_.until_match(target, positions) && shadow.regex == matched && !renamed) {
                name = shadow.keyword;
                renamed = true;
            }
            if (std::none_of(to.threads.begin(), to.threads.end(), [&](std::int32_t thread) {
                    return spec_.nfa.owner[static_cast<std::size_t>(thread)] == shadow.regex;
                }))
                continue;  // the regex cannot match any more
            for (const auto position : positions) {
                const Shadow next{shadow.regex, shadow.keyword, position};
                if (std::find(to.shadows.begin(), to.shadows.end(), next) == to.shadows.end())
                    to.shadows.push_back(next);
            }
        }
        return name;
    }

    // Whether a residual can still be lexed after the fallback. Relaxed: a set of positions without order,
    // where every match may end its lexeme; where the set becomes empty the residual is not viable at all,
    // and the fallback is lost.
    std::int32_t relaxed_step(std::int32_t from, std::int32_t cls) {
        const auto [known, added] = relaxed_steps_.try_emplace({from, cls}, -1);
        if (!added) return known->second;
        const auto byte = representative_[static_cast<std::size_t>(cls)];
        const auto before = relaxed_sets_[from];
        const std::vector<std::int32_t> positions(before.begin(), before.end());
        std::set<std::int32_t> after;
        std::vector<std::int32_t> reached;
        for (const auto position : positions) {
            const auto target = closure_.step(position, byte);
            if (target < 0) continue;
            reached.clear();
            if (closes(target, reached)) {
                const auto starts =
                    relaxed_sets_[start_set_after(spec_.nfa.owner[static_cast<std::size_t>(position)])];
                after.insert(starts.begin(), starts.end());
            }
            after.insert(reached.begin(), reached.end());
        }
        return known->second = relaxed_sets_.intern(std::vector<std::int32_t>(after.begin(), after.end()));
    }

    // All byte positions behind `position`, lower priorities included; whether a match is among them.
    bool closes(std::int32_t position, std::vector<std::int32_t>& out) {
        bool matched = false;
        std::vector<std::int32_t> stack{position};
        std::set<std::int32_t> seen;
        while (!stack.empty()) {
            const auto at = static_cast<std::size_t>(stack.back());
            stack.pop_back();
            if (!seen.insert(static_cast<std::int32_t>(at)).second) continue;
            const auto kind = static_cast<NfaKind>(spec_.nfa.kind[at]);
            if (kind == NfaKind::kMatch) matched = true;
            if (kind == NfaKind::kBytes) out.push_back(static_cast<std::int32_t>(at));
            if (kind == NfaKind::kSplit)
                for (auto edge = spec_.nfa.offset[at]; edge < spec_.nfa.offset[at + 1]; ++edge)
                    stack.push_back(spec_.nfa.target[static_cast<std::size_t>(edge)]);
        }
        return matched;
    }

    // The positions at which a lexeme after `label` can start.
    std::int32_t start_set(std::int32_t label) {
        auto& known = starts_[static_cast<std::size_t>(label)];
        if (known < 0) {
            std::set<std::int32_t> positions;
            std::vector<std::int32_t> reached;
            const auto add = [&](const LexicalContext& context) {
                for (const auto terminal : context.alternation) {
                    const auto entry = spec_.nfa.entry[static_cast<std::size_t>(terminal)];
                    reached.clear();
                    if (entry >= 0) closes(entry, reached);
                    positions.insert(reached.begin(), reached.end());
                }
            };
            if (label == out_.ignored_label()) {
                for (const auto& context : spec_.contexts) add(context);
            } else {
                for (const auto context : spec_.follow[static_cast<std::size_t>(label)])
                    add(spec_.contexts[static_cast<std::size_t>(context)]);
            }
            known = relaxed_sets_.intern(std::vector<std::int32_t>(positions.begin(), positions.end()));
        }
        return known;
    }

    // The same after a match of `terminal`, whatever keyword it may be renamed to.
    std::int32_t start_set_after(std::int32_t terminal) {
        if (spec_.ignored[static_cast<std::size_t>(terminal)]) return start_set(out_.ignored_label());
        std::set<std::int32_t> positions;
        const auto add = [&](std::int32_t label) {
            const auto starts = relaxed_sets_[start_set(label)];
            positions.insert(starts.begin(), starts.end());
        };
        add(terminal);
        for (const auto& context : spec_.contexts)
            for (const auto& rename : context.renames)
                if (rename.regex == terminal)
                    for (const auto keyword : rename.keywords) add(keyword);
        return relaxed_sets_.intern(std::vector<std::int32_t>(positions.begin(), positions.end()));
    }

    // Whether the same threads wait with the same fallback and the same future as a state before on this path
    // since the match: then the loop between the two can be repeated for ever, and the residual has no bound.
    bool loops(const State& state) {
        for (auto at = state.parent; at >= 0; at = states_[static_cast<std::size_t>(at)].parent) {
            const auto& before = states_[static_cast<std::size_t>(at)];
            if (before.residual.empty()) return false;
            if (before.threads != state.threads || before.shadows != state.shadows ||
                before.relaxed != state.relaxed)
                continue;
            const auto known = std::any_of(out_.unbounded_.begin(), out_.unbounded_.end(),
                                           [&](const auto& finding) { return finding.label == state.label; });
            if (!known) {
                std::string loop = path_to(state.parent).substr(path_to(at).size());
                loop.push_back(static_cast<char>(representative_[static_cast<std::size_t>(state.via)]));
                out_.unbounded_.push_back({state.label, path_to(at), loop});
            }
            return true;
        }
        return false;
    }

    // A text that leads from the start of a lexeme to the state.
    std::string path_to(std::int32_t at) const {
        std::string text;
        for (; states_[static_cast<std::size_t>(at)].parent >= 0;
             at = states_[static_cast<std::size_t>(at)].parent)
            text.push_back(static_cast<char>(
                representative_[static_cast<std::size_t>(states_[static_cast<std::size_t>(at)].via)]));
        std::reverse(text.begin(), text.end());
        return text;
    }

    std::int32_t commit(std::int32_t label, const std::vector<std::int32_t>& residual) {
        const auto word = out_.words_.intern(residual);
        const std::int32_t key[] = {label, word};
        const auto id = commit_ids_.intern(key);
        if (static_cast<std::size_t>(id) == out_.commits_.size()) out_.commits_.push_back({label, word});
        return LexingAutomaton::kDead - 1 - id;
    }

    std::int32_t intern(State&& state) {
        std::vector<std::int32_t> key{state.fresh, state.label,
                                      static_cast<std::int32_t>(state.threads.size())};
        key.insert(key.end(), state.threads.begin(), state.threads.end());
        key.push_back(static_cast<std::int32_t>(state.shadows.size()));
        for (const auto& shadow : state.shadows)
            key.insert(key.end(), {shadow.regex, shadow.keyword, shadow.position});
        key.insert(key.end(), state.residual.begin(), state.residual.end());
        const auto id = state_ids_.intern(key);
        if (static_cast<std::size_t>(id) == states_.size()) {
            states_.push_back(std::move(state));
            budget_.check_states(states_.size());
        }
        return id;
    }

    const LexerSpec& spec_;
    LexingAutomaton& out_;
    Budget& budget_;
    Closure closure_;
    Interner state_ids_, commit_ids_, relaxed_sets_;
    std::vector<State> states_;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> relaxed_steps_;  // by set and byte class
    std::vector<std::int32_t> starts_;  // start_set of each label, -1: not computed
    std::vector<std::uint8_t> representative_;
};

LexingAutomaton::LexingAutomaton(const LexerSpec& spec, Budget& budget) {
    validate(spec);
    Determinizer(spec, *this, budget).run();
}

}  // namespace pdacon
