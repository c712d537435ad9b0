// Pushback classes beside their definition, with a small longest-match lexer: two texts behind a match are in
// one class if every context that can follow scans them to the same.
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "check.hpp"
#include "lexer/automaton.hpp"
#include "lexer/pushbacks.hpp"

namespace {

using Word = std::vector<std::int32_t>;

constexpr std::int32_t kDead = -1, kNoLabel = -1;
constexpr int kBytes = 3;

// A DFA whose states match at most one label each. Contexts are start states; none of them matches.
struct Dfa {
    std::vector<std::vector<std::int32_t>> next;    // by state and byte class
    std::vector<std::int32_t> label;                // by state, or kNoLabel
    std::vector<std::vector<std::int32_t>> follow;  // by label: the start states that can follow it
};

Dfa random_dfa(pdacon::test::Random& random) {
    Dfa dfa;
    const auto states = 3 + random.below(6), labels = 1 + random.below(3), starts = 1 + random.below(2);
    for (int state = 0; state < states; ++state) {
        dfa.next.emplace_back();
        for (int byte = 0; byte < kBytes; ++byte)
            dfa.next.back().push_back(random.below(4) == 0 ? kDead : starts + random.below(states - starts));
        dfa.label.push_back(state < starts || random.below(2) == 0 ? kNoLabel : random.below(labels));
    }
    for (int label = 0; label < labels; ++label) {
        dfa.follow.emplace_back();
        for (int start = 0; start < starts; ++start)
            if (dfa.follow.back().empty() || random.below(2) == 0) dfa.follow.back().push_back(start);
    }
    return dfa;
}

// The definition, on whole texts.
class Definition {
  public:
    explicit Definition(const Dfa& dfa) : dfa_(dfa) {}

    // The class of a text behind a match of the label, or nothing if no context can scan it.
    std::optional<int> of(std::int32_t label, const Word& word) {
        std::vector<Result> results;
        bool dead = !word.empty();
        for (const auto start : dfa_.follow[static_cast<std::size_t>(label)]) {
            results.push_back(scan(start, word));
            dead = dead && results.back().kind == 0;
        }
        if (dead) return std::nullopt;
        return classes_.try_emplace({label, results}, static_cast<int>(classes_.size())).first->second;
    }

  private:
    // Dead; a commit, and the class of what is left behind it; or a state inside a lexeme, with its last
    // match, and the class and length of what was read behind that.
    struct Result {
        int kind = 0, state = 0, label = 0, cls = -1, length = 0;
        auto operator<=>(const Result&) const = default;
    };

    Result scan(std::int32_t state, const Word& word) {
        auto label = kNoLabel;
        auto match = word.begin();
        for (auto at = word.begin(); at != word.end(); ++at) {
            state = dfa_.next[static_cast<std::size_t>(state)][static_cast<std::size_t>(*at)];
            if (state == kDead) {
                if (label == kNoLabel) return {};
                const auto left = of(label, Word(match, word.end()));
                return left ? Result{1, 0, label, *left, 0} : Result{};
            }
            if (const auto here = dfa_.label[static_cast<std::size_t>(state)]; here != kNoLabel)
                std::tie(label, match) = std::pair(here, at + 1);
            else if (label != kNoLabel && !of(label, Word(match, at + 1)))
                label = kNoLabel;  // it cannot be committed any more
        }
        if (label == kNoLabel) return {2, state, label, -1, 0};
        if (match == word.end()) return {2, state, label, -1, 0};
        return {2, state, label, *of(label, Word(match, word.end())), static_cast<int>(word.end() - match)};
    }

    const Dfa& dfa_;
    std::map<std::pair<std::int32_t, std::vector<Result>>, int> classes_;
};

// The lexer as Pushbacks asks for it. Its states are (DFA state, last match, pushback behind that).
class Lexer final : public pdacon::Pushbacks::Lexer {
  public:
    Lexer(const Dfa& dfa, pdacon::Budget& budget) : pushbacks(*this, kBytes, budget), dfa_(dfa) {}

    std::vector<std::int32_t> entries_after(std::int32_t label, std::int32_t) override {
        std::vector<std::int32_t> entries;
        for (const auto start : dfa_.follow[static_cast<std::size_t>(label)])
            entries.push_back(number(states_, {start, kNoLabel, kNone}));
        return entries;
    }
    std::int32_t next(std::int32_t state, std::int32_t byte) override {
        auto [at, label, pushback] = states_[static_cast<std::size_t>(state)];
        const auto to = dfa_.next[static_cast<std::size_t>(at)][static_cast<std::size_t>(byte)];
        if (to != kDead && dfa_.label[static_cast<std::size_t>(to)] != kNoLabel)
            return number(states_, {to, dfa_.label[static_cast<std::size_t>(to)], kNone});
        if (label != kNoLabel) {
            pushback =
                pushback == kNone ? pushbacks.after_match(label, 0, byte) : pushbacks.after(pushback, byte);
            if (pushback == kNone) label = kNoLabel;
        }
        if (to != kDead) return number(states_, {to, label, pushback});
        if (label == kNoLabel) return kDead;
        return pdacon::LexingAutomaton::commit_with(number(commits_, {0, label, pushback}));
    }
    std::vector<std::int32_t> carried(std::int32_t state) const override {
        const auto pushback = std::get<2>(states_[static_cast<std::size_t>(state)]);
        return pushback == kNone ? std::vector<std::int32_t>{} : std::vector{pushback};
    }
    void move(pdacon::LexerConfiguration&, std::int32_t, std::int32_t) const override {}
    pdacon::Pushbacks::Committed committed(std::int32_t commit, const pdacon::LexerConfiguration&,
                                           std::int32_t) override {
        const auto number = pdacon::LexingAutomaton::commit_number(commit);
        const auto [state, label, pushback] = commits_[static_cast<std::size_t>(number)];
        return {label, 0, pushback, {}};
    }

    pdacon::Pushbacks pushbacks;

  private:
    static constexpr auto kNone = pdacon::Pushbacks::kNone;
    using State = std::tuple<std::int32_t, std::int32_t, std::int32_t>;
    static std::int32_t number(std::vector<State>& known, const State& state) {
        const auto at = std::ranges::find(known, state) - known.begin();
        if (at == std::ssize(known)) known.push_back(state);
        return static_cast<std::int32_t>(at);
    }

    const Dfa& dfa_;
    std::vector<State> states_, commits_;
};

// Returns how often a limit on the classes was met. What is asked again then is answered alike, or refused.
int check_one(unsigned seed, std::int64_t max_classes) {
    pdacon::test::Random random(seed);
    const auto dfa = random_dfa(random);
    pdacon::Budget budget(max_classes, 0);
    Definition definition(dfa);
    Lexer lexer(dfa, budget);
    auto& pushbacks = lexer.pushbacks;
    std::map<std::pair<int, std::int32_t>, std::int32_t> known;  // by class and length
    std::map<std::int32_t, std::pair<int, std::int32_t>> meant;
    int refused = 0;
    for (int step = 0; step < 120; ++step) {
        const auto label = random.below(static_cast<int>(dfa.follow.size()));
        Word word;
        auto pushback = pdacon::Pushbacks::kNone;
        for (int left = 1 + random.below(7); left > 0; --left) {
            word.push_back(random.below(kBytes));
            try {
                pushback = word.size() == 1 ? pushbacks.after_match(label, 0, word.back())
                                            : pushbacks.after(pushback, word.back());
            } catch (const pdacon::LimitExceeded&) {
                CHECK(max_classes > 0);
                ++refused;
                break;
            }
            const auto expected = definition.of(label, word);
            CHECK((pushback != pdacon::Pushbacks::kNone) == expected.has_value());
            if (!expected) break;
            const std::pair pair(*expected, static_cast<std::int32_t>(word.size()));
            CHECK(pushbacks.length(pushback) == pair.second);
            CHECK(known.try_emplace(pair, pushback).first->second == pushback);
            CHECK(meant.try_emplace(pushback, pair).first->second == pair);
            const auto text = pushbacks.text(pushback);
            CHECK(text.size() == word.size() && definition.of(label, text) == expected);
        }
    }
    return refused;
}

}  // namespace

int main() {
    int refused = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        check_one(seed, 0);
        for (const std::int64_t most : {1, 2, 3, 5, 8}) refused += check_one(seed, most);
    }
    CHECK(refused > 1000);
}
