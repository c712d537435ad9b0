// Lexer states that read many characters alike: self-loops, and chains of states that count characters.
//
// Strings, names and comments are such states. What tokens do in them depends on the set of characters and on
// the vocabulary alone, so it is looked up in the vocabulary's LoopCache instead of being walked for each
// state.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/budget.hpp"
#include "base/in_range.hpp"
#include "detokenizer/shared_trie.hpp"
#include "lexer/automaton.hpp"
#include "liveness/coaccessibility.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class CharacterSteps {
  public:
    // One step of a lexer state by whole characters: all of `characters` lead to `next`. That is the state
    // itself if any character leads back to it, otherwise the state that most ASCII characters lead to.
    // Characters outside ASCII are among them by their first byte: see `after_lead`.
    struct Step {
        std::int32_t next = LexingAutomaton::kDead;
        CharacterSet characters;
        // Of a self-loop on many characters, once asked for.
        const LoopCharacters* loop = nullptr;
        const LoopExits* exits = nullptr;
    };

    CharacterSteps(const Pushdown& machine, const Coaccessibility& futures, const SharedTrie& trie,
                   Budget& budget)
        : lexer_(machine.lexer),
          futures_(futures),
          trie_(trie),
          budget_(budget),
          number_(static_cast<std::size_t>(lexer_.num_states()), -1) {}

    // Finds the exits of self-loops before a mask needs them. Costs a walk over the trie for each set of
    // characters that the vocabulary's cache does not know.
    void find_loops();

    const Step& of(std::int32_t lexer_state) {
        const auto known = number_[in_range(lexer_state, number_.size())];
        return known >= 0 ? steps_[known] : describe(lexer_state);
    }
    // The step of a self-loop on many characters that keeps no columns, with its exits; otherwise nullptr.
    const Step* loop(std::int32_t lexer_state);
    // The self-loop, as `loop` gives it, that all characters with this first byte lead to from a lexer state.
    const Step* loop_after_lead(std::int32_t lexer_state, std::uint8_t lead) {
        const auto after = after_lead(lexer_state, lead);
        return after < 0 ? nullptr : loop(after);
    }
    // How many characters of its step a lexer state reads one after another, all with the same set and the
    // same future: 0 for any number, as LoopCache counts them. Nothing where a walk costs less than keeping
    // the result.
    std::optional<std::uint8_t> loop_length(std::int32_t lexer_state);

    std::size_t bytes() const { return bytes_; }
    void forget();

  private:
    Step& describe(std::int32_t lexer_state);
    std::int32_t commonest_next(std::int32_t lexer_state) const;
    // The lexer state that all characters with this first byte lead to, through states with the future of
    // that state; kDead if there is none.
    std::int32_t after_lead(std::int32_t lexer_state, std::uint8_t lead);
    std::int32_t after_rest(std::int32_t state, int left, int low, int high) const;
    LoopCharacters characters_of(std::int32_t loop, const CharacterSet& set);

    const LexingAutomaton& lexer_;
    const Coaccessibility& futures_;
    const SharedTrie& trie_;
    Budget& budget_;
    std::vector<std::int32_t> number_;  // of each lexer state: which step is its; -1: nobody has asked for it
    std::deque<Step> steps_;            // they stay where they are
    std::unordered_map<std::uint64_t, std::int32_t> after_leads_;  // by the state after the byte, and it
    std::map<LoopCharacters, std::shared_ptr<const LoopExits>> exits_;
    std::size_t bytes_ = 0;
};

}  // namespace pdacon
