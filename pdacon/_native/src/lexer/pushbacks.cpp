#include "lexer/pushbacks.hpp"

#include <algorithm>

#include "lexer/automaton.hpp"

namespace pdacon {

std::int32_t Pushbacks::after_match(std::int32_t label, std::int32_t look_behind, std::int32_t byte_class) {
    return add(class_after(start(label, look_behind), byte_class), kNone, byte_class);
}

std::int32_t Pushbacks::after(std::int32_t pushback, std::int32_t byte_class) {
    return add(class_after(pushbacks_[pushback].cls, byte_class), pushback, byte_class);
}

std::vector<std::int32_t> Pushbacks::text(std::int32_t pushback) const {
    std::vector<std::int32_t> text;
    for (; pushback != kNone; pushback = pushbacks_[pushback].parent)
        text.push_back(pushbacks_[pushback].via);
    std::reverse(text.begin(), text.end());
    return text;
}

std::int32_t Pushbacks::add(std::int32_t cls, std::int32_t parent, std::int32_t byte_class) {
    if (cls == kNone) return kNone;
    const auto length = parent == kNone ? 1 : pushbacks_[parent].length + 1;
    const std::int32_t key[] = {cls, length};
    return pushbacks_.find_or_make(key, [&] { return Pushback{cls, length, parent, byte_class}; });
}

std::int32_t Pushbacks::start(std::int32_t label, std::int32_t look_behind) {
    const std::int32_t key[] = {label, look_behind};
    return starts_[starts_.find_or_make(key, [&] {
        std::vector<ScanResult> results;
        std::vector<std::int32_t> assignment{label, look_behind};
        for (const auto entry : lexer_.entries_after(label, look_behind)) {
            assignment.push_back(static_cast<std::int32_t>(results.size()));
            results.push_back({ScanResult::kInside, entry, {}, {}});
        }
        return intern(assignments_.intern(assignment), std::move(results));
    })];
}

// The needed classes have to be known first. They are found with an explicit stack: a pushback can be as long
// as a terminal, and consist of as many lexemes.
std::int32_t Pushbacks::class_after(std::int32_t cls, std::int32_t byte_class) {
    std::vector<std::int32_t> open{cls};
    while (!open.empty()) {
        const auto last = open.back();
        const auto before = open.size();
        if (!known(last, byte_class))
            for (const auto other : classes_[last].needed)
                if (!known(other, byte_class)) open.push_back(other);
        if (open.size() > before) continue;
        open.pop_back();
        if (!known(last, byte_class)) compute(last, byte_class);
    }
    return classes_[cls].after[byte_class];
}

bool Pushbacks::known(std::int32_t cls, std::int32_t byte_class) const {
    const auto& after = classes_[cls].after;
    return !after.empty() && after[byte_class] != kUnknown;
}

void Pushbacks::compute(std::int32_t cls, std::int32_t byte_class) {
    budget_.tick();
    auto& from = classes_[cls];
    std::vector<ScanResult> results;
    std::vector<std::int32_t> result_of;  // of each result so far
    bool changed = false;
    for (const auto& before : from.results) {
        const auto result = scan(before, byte_class);
        const auto known = std::ranges::find(results, result);
        changed = changed || result.kind == ScanResult::kDead || known != results.end();
        result_of.push_back(
            result.kind == ScanResult::kDead ? -1 : static_cast<std::int32_t>(known - results.begin()));
        if (result.kind != ScanResult::kDead && known == results.end()) results.push_back(result);
    }
    auto assignment = from.assignment;
    if (changed) {
        std::vector<std::int32_t> key(assignments_[assignment].begin(), assignments_[assignment].end());
        for (std::size_t entry = 2; entry < key.size(); ++entry)
            if (key[entry] >= 0) key[entry] = result_of[key[entry]];
        assignment = assignments_.intern(key);
    }
    const auto after = results.empty() ? kNone : intern(assignment, std::move(results));
    if (from.after.empty()) from.after.assign(static_cast<std::size_t>(num_classes_), kUnknown);
    from.after[byte_class] = after;
}

Pushbacks::ScanResult Pushbacks::scan(const ScanResult& from, std::int32_t byte_class) {
    if (from.kind == ScanResult::kDead) return {};
    if (from.kind == ScanResult::kEmission) {
        const auto left = class_after(from.target, byte_class);
        return left == kNone ? ScanResult{} : ScanResult{ScanResult::kEmission, left, {}, from.matched};
    }
    const auto next = lexer_.next(from.target, byte_class);
    if (next == LexingAutomaton::kDead) return {};
    LexerConfiguration lexing{from.target, from.now, from.matched};
    if (next >= 0) {
        lexer_.move(lexing, next, byte_class);
        return {ScanResult::kInside, next, lexing.now, lexing.matched};
    }
    const auto committed = lexer_.committed(next, lexing, byte_class);
    const auto left = committed.pushback == kNone ? start(committed.label, committed.look_behind)
                                                  : pushbacks_[committed.pushback].cls;
    return {ScanResult::kEmission, left, {}, committed.column};
}

std::int32_t Pushbacks::intern(std::int32_t assignment, std::vector<ScanResult> results) {
    std::vector<std::int32_t> key{assignment};
    for (const auto& [kind, target, now, matched] : results)
        key.insert(key.end(), {kind, target, now.value, matched.value});
    return classes_.find_or_make(key, [&] {
        budget_.check_states(classes_.size() + 1);
        std::vector<std::int32_t> needed;
        for (const auto& result : results) {
            if (result.kind == ScanResult::kEmission) needed.push_back(result.target);
            if (result.kind != ScanResult::kInside) continue;
            for (const auto pushback : lexer_.carried(result.target))
                needed.push_back(pushbacks_[pushback].cls);
        }
        return Class{assignment, std::move(results), std::move(needed), {}};
    });
}

}  // namespace pdacon
