#include "composition/label_conflicts.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace pdacon {

namespace {

class Search {
  public:
    Search(const LexingAutomaton& lexer, const Tokens& tokens, const Labels& labels, Budget& budget)
        : lexer_(lexer), tokens_(tokens), labels_(labels), budget_(budget), free_(labels.size(), -1) {
        for (std::size_t label = 0; label < labels.size(); ++label) {
            members_.emplace_back();
            for (std::int32_t token = 0; static_cast<std::size_t>(token) < tokens.size(); ++token)
                if (labels.has(label, token)) members_.back().push_back(token);
        }
    }

    std::vector<LabelConflict> run() {
        std::vector<std::uint8_t> hidden(labels_.size(), 0), shared(labels_.size() * labels_.size(), 0);
        std::vector<LabelConflict> found;
        for (std::int32_t state = 0; state < lexer_.num_states(); ++state) {
            std::vector<std::size_t> readable;
            for (std::size_t label = 0; label < labels_.size(); ++label)
                if (reads(state, static_cast<std::int32_t>(tokens_.size() + label)))
                    readable.push_back(label);
            for (std::size_t at = 0; at < readable.size(); ++at) {
                const auto label = readable[at];
                const auto before = std::span(readable).first(at);
                for (const auto other : before) {
                    auto& known = shared[other * labels_.size() + label];
                    const auto token = known != 0 ? -1 : common(other, label);
                    if (token < 0) continue;
                    known = 1;
                    found.push_back({number(other), number(label), token, prefix(state)});
                }
                if (hidden[label] != 0 || has_free(state, label, before)) continue;
                hidden[label] = 1;
                const auto token = members_[label].empty() ? -1 : members_[label].front();
                found.push_back({number(label), -1, token, prefix(state)});
            }
        }
        return found;
    }

  private:
    static std::int32_t number(std::size_t label) { return static_cast<std::int32_t>(label); }

    std::int32_t common(std::size_t label, std::size_t other) const {
        for (const auto token : members_[label])
            if (labels_.has(other, token)) return token;
        return -1;
    }

    // Whether a label has a token that a state reads neither as text nor as a label before it.
    bool has_free(std::int32_t state, std::size_t label, std::span<const std::size_t> before) {
        const auto is_free = [&](std::int32_t token) {
            return std::ranges::none_of(before, [&](auto other) { return labels_.has(other, token); }) &&
                   !reads(state, token);
        };
        if (free_[label] >= 0 && is_free(free_[label])) return true;  // what is free in one state is in most
        const auto token = std::ranges::find_if(members_[label], is_free);
        if (token == members_[label].end()) return false;
        free_[label] = *token;
        return true;
    }

    // Whether the lexer reads a token's text, or a label's spelling, on some stack.
    bool reads(std::int32_t state, std::int32_t token) {
        if (!tokens_.has_text(token)) return false;
        std::set<std::int32_t> states{state};
        for (const char byte : tokens_.bytes_of(token)) {
            states = step(states, lexer_.byte_class(static_cast<std::uint8_t>(byte)));
            if (states.empty()) return false;
        }
        return true;
    }

    std::set<std::int32_t> step(const std::set<std::int32_t>& from, std::int32_t byte_class) {
        using Word = std::vector<std::int32_t>;  // what is left to be read, from its back
        std::set<std::pair<std::int32_t, Word>> known;
        std::vector<std::pair<std::int32_t, Word>> open;
        std::set<std::int32_t> to;
        const auto add = [&](std::int32_t state, Word word) {
            if (state < 0) return;
            if (word.empty())
                to.insert(state);
            else if (known.emplace(state, word).second)
                open.emplace_back(state, std::move(word));
        };
        for (const auto state : from) add(state, {byte_class});
        while (!open.empty()) {
            budget_.tick();
            auto [state, word] = std::move(open.back());
            open.pop_back();
            const auto next = lexer_.next(state, word.back());
            word.pop_back();
            if (next == LexingAutomaton::kDead) continue;
            if (next >= 0) {
                add(next, std::move(word));
                continue;
            }
            const auto& commit = lexer_.commit(next);
            const auto back = lexer_.pushback(commit.pushback);
            word.insert(word.end(), back.rbegin(), back.rend());
            for (const auto context : lexer_.contexts_after(commit.label))
                add(lexer_.entry(context, commit.look_behind), word);
        }
        return to;
    }

    // The shortest text from the start of a lexeme to a state.
    std::string prefix(std::int32_t wanted) {
        if (reached_from_.empty()) find_prefixes();
        std::string text;
        for (auto state = wanted; state >= 0;) {
            const auto [before, byte] = reached_from_[state];
            if (before >= 0) text.push_back(static_cast<char>(byte));
            state = before;
        }
        std::ranges::reverse(text);
        return text;
    }

    void find_prefixes() {
        reached_from_.assign(static_cast<std::size_t>(lexer_.num_states()), {-2, 0});
        std::vector<std::int32_t> open;
        for (const auto state : lexer_.entries())
            if (state >= 0 && std::exchange(reached_from_[state], {-1, 0}).first == -2) open.push_back(state);
        for (std::size_t at = 0; at < open.size(); ++at)
            for (int byte = 0; byte < 256; ++byte) {
                const auto value = static_cast<std::uint8_t>(byte);
                const auto next = lexer_.next(open[at], lexer_.byte_class(value));
                if (next < 0 || reached_from_[next].first != -2) continue;
                reached_from_[next] = {open[at], value};
                open.push_back(next);
            }
    }

    const LexingAutomaton& lexer_;
    const Tokens& tokens_;
    const Labels& labels_;
    Budget& budget_;
    std::vector<std::vector<std::int32_t>> members_;  // of each label
    std::vector<std::int32_t> free_;                  // of each label: the last token that was found free
    std::vector<std::pair<std::int32_t, std::uint8_t>> reached_from_;  // -1: an entry, -2: nothing
};

}  // namespace

std::vector<LabelConflict> find_label_conflicts(const LexingAutomaton& lexer, const Tokens& tokens,
                                                const Labels& labels, Budget& budget) {
    return labels.size() == 0 ? std::vector<LabelConflict>() : Search(lexer, tokens, labels, budget).run();
}

}  // namespace pdacon
