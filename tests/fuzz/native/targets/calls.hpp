// What a matcher is asked for, by the fuzzer's bytes.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "composition/eager/eager_masks.hpp"
#include "input.hpp"
#include "matching/matcher.hpp"

namespace fuzzing {

// The mask and the single tokens have to agree.
inline void compare(const pdacon::Matcher& matcher) {
    const auto mask = matcher.mask();
    const auto size = matcher.pda()->tokens().size();
    for (std::size_t token = 0; token < size; ++token) {
        const auto id = static_cast<std::int64_t>(token);
        const auto step = matcher.step(id);
        const bool allowed = step && matcher.is_allowed(*step);
        const auto known = matcher.known_allowed(id);
        const bool agrees = known == pdacon::Liveness::kLiveOnAll   ? allowed
                            : known == pdacon::Liveness::kDeadOnAll ? !allowed
                                                                    : true;
        if (agrees && allowed == mask.view.has(static_cast<std::int32_t>(token))) continue;
        std::fprintf(stderr, "token %zu: the mask and the step differ\n", token);
        std::abort();
    }
}

template <class Work>
void attempt(Work work) {
    try {
        work();
    } catch (const std::exception&) {  // every one becomes an exception in Python
    }
}

// One call after the other; what one cannot do does not keep the next from being made. `agree`: whether masks
// have to agree with steps.
inline void call(const std::shared_ptr<pdacon::TokenPda>& pda, Input& input, bool agree) {
    std::vector<std::unique_ptr<pdacon::Matcher>> matchers;
    attempt([&] {
        matchers.push_back(
            std::make_unique<pdacon::Matcher>(pda, input.count(0, 40) - 1, input.flag(), input.flag()));
    });
    if (matchers.empty()) return;
    for (int calls = 0; calls < 40 && !input.empty(); ++calls) {
        auto& matcher = *matchers[input.byte() % matchers.size()];
        const auto tokens = static_cast<std::int32_t>(pda->tokens().size());
        attempt([&] {
            switch (input.byte() % 17) {
                case 0:
                case 1:
                case 2: {
                    const auto step = matcher.step(std::int64_t{input.below(tokens)});
                    if (step && matcher.is_allowed(*step)) matcher.accept(*step);
                    break;
                }
                case 3:
                case 4: {
                    const auto text = input.text(12);
                    const auto step = matcher.step(std::string_view(text));
                    if (step && matcher.is_allowed(*step)) matcher.accept(*step);
                    break;
                }
                case 5:
                case 6:
                    if (agree)
                        compare(matcher);
                    else
                        matcher.mask();
                    break;
                case 7:
                    matcher.rollback(input.below(4));
                    break;
                case 8:
                    matcher.forced_bytes(64);
                    break;
                case 9:
                    matcher.shortest_completion();
                    break;
                case 10: {
                    std::vector<std::int64_t> ids;
                    for (const auto token : input.list(0, 6, tokens)) ids.push_back(token);
                    matcher.validate_tokens(ids);
                    break;
                }
                case 11: {
                    const auto forced = matcher.forced_bytes(16);
                    matcher.settled(matcher.merged(forced), forced);
                    break;
                }
                case 12:
                    if (matchers.size() < 4) matchers.push_back(std::make_unique<pdacon::Matcher>(matcher));
                    break;
                case 13:
                    matcher.stack();
                    matcher.is_accepting();
                    matcher.completion_length();
                    break;
                case 14:
                    pda->mask(input.below(static_cast<std::int32_t>(pda->num_masks())));
                    pda->statistics();
                    break;
                case 15: {
                    // No budget is below what the text needs: callers refuse that.
                    const auto unit = input.count(0, 1) == 0 ? pdacon::Matcher::Unit::kTokens
                                                             : pdacon::Matcher::Unit::kBytes;
                    const auto least = matcher.least(unit);
                    if (least != pdacon::TokenDistances::kNone)
                        matcher.set_limit({unit, static_cast<std::int32_t>(least + input.count(0, 3)),
                                           static_cast<std::int32_t>(input.count(0, 4)) - 1});
                    break;
                }
                default:
                    matcher.reset();
            }
        });
    }
}

// What is asked of a constraint as a whole.
inline void ask(pdacon::TokenPda& pda, Input& input) {
    attempt([&] { pda.reached(pdacon::Budget(2000, 0)); });
    attempt([&] { pdacon::EagerMasks(pda, input.count(0, 3), pdacon::Budget(500, 2)).run(); });
    attempt([&] { pda.plain().leading_mask(); });
}

}  // namespace fuzzing
