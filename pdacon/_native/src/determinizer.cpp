#include "determinizer.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "components.hpp"

namespace pdacon {

namespace {

// A residual of so many bytes calls for a survey.
constexpr std::size_t kPlainResidual = 4;

}  // namespace

Determinizer::Determinizer(const LexerSpec& spec, LexingAutomaton& out, Budget& budget)
    : spec_(spec), out_(out), budget_(budget), closure_(spec.nfa), relexing_(spec) {
    out_.num_terminals_ = spec.num_terminals();
    out_.num_classes_ = byte_classes(spec.nfa, out_.byte_class_);
    representative_.resize(static_cast<std::size_t>(out_.num_classes_));
    for (int byte = 255; byte >= 0; --byte)
        representative_[out_.byte_class_[static_cast<std::size_t>(byte)]] = static_cast<std::uint8_t>(byte);
}

void Determinizer::run() {
    if (explore(Pass::kPlain)) return;
    explore(Pass::kSurvey);
    find_loops();
    explore(Pass::kCut);
}

// All states from the contexts on. False: given up, because a residual grew.
bool Determinizer::explore(Pass pass) {
    pass_ = pass;
    state_ids_ = commit_ids_ = out_.words_ = Interner();
    states_.clear();
    out_.delta_.clear();
    out_.end_.clear();
    out_.entries_.clear();
    out_.commits_.clear();
    out_.lookahead_ = 0;
    for (const auto& context : spec_.contexts) out_.entries_.push_back(enter(context));
    for (std::size_t at = 0; at < states_.size(); ++at) {
        if (pass == Pass::kPlain && states_[at].residual.size() > kPlainResidual) return false;
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
    return true;
}

std::int32_t Determinizer::enter(const LexicalContext& context) {
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
            for (const auto position : positions) state.shadows.push_back({rename.regex, keyword, position});
        }
    }
    return intern(std::move(state));
}

std::int32_t Determinizer::step(std::int32_t from, std::int32_t cls) {
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
    const auto& previous = states_[static_cast<std::size_t>(from)];
    const auto name = step_shadows(previous, byte, matched, state);
    if (matched >= 0) {
        state.label = spec_.ignored[static_cast<std::size_t>(matched)] ? out_.ignored_label() : name;
        return state.threads.empty() ? commit(state.label, {}) : intern(std::move(state));
    }
    if (previous.label < 0) return state.threads.empty() ? LexingAutomaton::kDead : intern(std::move(state));
    state.relexing =
        relexing_.step(previous.residual.empty() ? relexing_.after(previous.label) : previous.relexing, byte);
    const bool viable = relexing_.viable(state.relexing);
    if (state.threads.empty() && !viable) return LexingAutomaton::kDead;
    state.label = previous.label;
    state.residual = previous.residual;
    if (pass_ != Pass::kSurvey || state.residual.empty()) state.residual.push_back(cls);
    if (state.threads.empty()) return commit(state.label, state.residual);
    if (!viable || (pass_ == Pass::kCut && looping_.contains(key_of(state, false)))) {
        state.label = state.relexing = -1;
        state.residual.clear();
    }
    return intern(std::move(state));
}

// Moves the keyword threads on; returns the name of a lexeme that `matched` ends here.
std::int32_t Determinizer::step_shadows(const State& from, std::uint8_t byte, std::int32_t matched,
                                        State& to) {
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

// After a survey: a fallback that waits in a loop of states waits for ever, whatever the bound.
void Determinizer::find_loops() {
    std::vector<std::vector<std::int32_t>> waiting(states_.size());
    const auto classes = static_cast<std::size_t>(out_.num_classes_);
    const auto waits = [&](std::int32_t at) {
        return at >= 0 && !states_[static_cast<std::size_t>(at)].residual.empty();
    };
    for (std::size_t at = 0; at < states_.size(); ++at) {
        if (!waits(static_cast<std::int32_t>(at))) continue;
        for (std::size_t cls = 0; cls < classes; ++cls)
            if (const auto next = out_.delta_[at * classes + cls]; waits(next)) waiting[at].push_back(next);
    }
    const auto component = components(waiting);
    std::vector<std::int32_t> size(states_.size(), 0);
    for (const auto id : component) ++size[static_cast<std::size_t>(id)];
    for (std::size_t at = 0; at < states_.size(); ++at) {
        const bool itself = std::find(waiting[at].begin(), waiting[at].end(), at) != waiting[at].end();
        if (size[static_cast<std::size_t>(component[at])] < 2 && !itself) continue;
        const auto& state = states_[at];
        looping_.intern(key_of(state, false));
        const bool known = std::any_of(out_.unbounded_.begin(), out_.unbounded_.end(),
                                       [&](const auto& finding) { return finding.label == state.label; });
        if (!known)
            out_.unbounded_.push_back(
                {state.label, path_to(static_cast<std::int32_t>(at)), shortest_loop(at, component)});
    }
}

// The shortest text that leads from a state of a loop back to it.
std::string Determinizer::shortest_loop(std::size_t start, const std::vector<std::int32_t>& component) const {
    const auto classes = static_cast<std::size_t>(out_.num_classes_);
    std::vector<std::pair<std::size_t, std::string>> open{{start, ""}};
    std::vector<bool> seen(states_.size(), false);
    for (std::size_t i = 0; i < open.size(); ++i) {
        for (std::size_t cls = 0; cls < classes; ++cls) {
            const auto next = out_.delta_[open[i].first * classes + cls];
            if (next < 0 || component[static_cast<std::size_t>(next)] != component[start]) continue;
            auto text = open[i].second + representative(static_cast<std::int32_t>(cls));
            if (static_cast<std::size_t>(next) == start) return text;
            if (seen[static_cast<std::size_t>(next)]) continue;
            seen[static_cast<std::size_t>(next)] = true;
            open.emplace_back(static_cast<std::size_t>(next), std::move(text));
        }
    }
    return {};
}

// A text that leads from the start of a lexeme to the state.
std::string Determinizer::path_to(std::int32_t at) const {
    std::string text;
    for (; states_[static_cast<std::size_t>(at)].parent >= 0;
         at = states_[static_cast<std::size_t>(at)].parent)
        text.push_back(static_cast<char>(
            representative_[static_cast<std::size_t>(states_[static_cast<std::size_t>(at)].via)]));
    std::reverse(text.begin(), text.end());
    return text;
}

std::int32_t Determinizer::commit(std::int32_t label, const std::vector<std::int32_t>& residual) {
    const auto word = out_.words_.intern(residual);
    const std::int32_t key[] = {label, word};
    const auto id = commit_ids_.intern(key);
    if (static_cast<std::size_t>(id) == out_.commits_.size()) out_.commits_.push_back({label, word});
    return LexingAutomaton::kDead - 1 - id;
}

std::int32_t Determinizer::intern(State&& state) {
    const auto id = state_ids_.intern(key_of(state, pass_ != Pass::kSurvey));
    if (static_cast<std::size_t>(id) == states_.size()) {
        states_.push_back(std::move(state));
        budget_.check_states(states_.size());
    }
    return id;
}

// What tells states apart: of a residual its text, or what can follow it.
std::vector<std::int32_t> Determinizer::key_of(const State& state, bool text) const {
    std::vector<std::int32_t> key{state.fresh, state.label, static_cast<std::int32_t>(state.threads.size())};
    key.insert(key.end(), state.threads.begin(), state.threads.end());
    key.push_back(static_cast<std::int32_t>(state.shadows.size()));
    for (const auto& shadow : state.shadows)
        key.insert(key.end(), {shadow.regex, shadow.keyword, shadow.position});
    if (text)
        key.insert(key.end(), state.residual.begin(), state.residual.end());
    else
        key.push_back(state.residual.empty() ? -1 : state.relexing);
    return key;
}

}  // namespace pdacon
