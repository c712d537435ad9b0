// The binding of the table of masks that a batch of any constraints uses.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/batches.hpp"
#include "bindings/matcher_calls.hpp"
#include "bindings/module.hpp"
#include "bindings/step_members.hpp"
#include "bindings/whole_numbers.hpp"
#include "matching/mask_arena.hpp"
#include "matching/matcher.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

using Numbers = std::vector<std::int64_t>;
using Rows = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Masks = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// An arena with the matchers of its last step, which it keeps alive until others come.
class SteppedArena : public MaskArena {
  public:
    using MaskArena::MaskArena;

    // Those of a call, which keeps them while Python's lock is released.
    std::shared_ptr<StepMembers> members(nb::handle matchers) {
        if (!members_ || !members_->are(matchers))
            members_ = std::make_shared<StepMembers>(matchers, words());
        return members_;
    }

  private:
    std::shared_ptr<StepMembers> members_;
};

constexpr std::int64_t kNoToken = -1;

void require_places(const Rows& rows, std::size_t count) {
    if (rows.size() < count) throw nb::value_error("rows has too few places");
}

Numbers tokens_of(nb::handle tokens, std::size_t count) {
    Numbers taken;
    if (tokens.is_none()) return taken;
    Array<std::int64_t> array;
    taken = nb::try_cast(tokens, array, false) ? copy(array) : whole_numbers(tokens, "token");
    if (taken.size() != count)
        throw nb::value_error((std::to_string(taken.size()) + " tokens for " + std::to_string(count) +
                               " matchers: one for each is needed, -1 for those that take none")
                                  .c_str());
    return taken;
}

// Brings into the cache what the next matchers of a batch are about to be read from: each lies elsewhere.
class Prefetch {
  public:
    Prefetch(std::span<const StepMember> members, std::span<const std::int64_t> tokens)
        : members_(members), tokens_(tokens) {
        if (tokens.empty()) return;
        for (std::size_t at = 0; at < kStep; ++at) places_[at] = found(at);
    }

    // To be called for each index in turn. Returns where the step of its matcher is kept.
    TokenSteps::Place at(std::size_t at) {
        if (const auto* const matcher = ahead(at + kMatcher)) matcher->prefetch();
        if (tokens_.empty()) return {};
        if (const auto* const matcher = ahead(at + kStack)) matcher->prefetch_stack();
        return std::exchange(places_[at % kStep], found(at + kStep));
    }

  private:
    static constexpr std::size_t kMatcher = 12, kStack = 8, kStep = 4;  // how far ahead

    const Matcher* ahead(std::size_t at) const {
        return at < members_.size() ? members_[at].matcher : nullptr;
    }
    // Of a matcher that another thread uses nothing is read.
    TokenSteps::Place found(std::size_t at) const {
        const auto* const matcher = ahead(at);
        return matcher == nullptr || matcher->is_in_use() ? TokenSteps::Place{}
                                                          : matcher->place_of_step(tokens_[at]);
    }

    std::span<const StepMember> members_;
    std::span<const std::int64_t> tokens_;
    std::array<TokenSteps::Place, kStep> places_{};
};

// What is known of the masks of matchers. Those of one constraint that follow each other are looked up behind
// its lock, which is taken once; nothing waits for it.
class KnownMasks {
  public:
    Mask of(const Matcher& matcher) {
        if (const auto& kept = matcher.kept_mask(); kept.id >= 0) return kept;
        auto* const lock = matcher.mask_lock();
        if (held_.mutex() != lock)
            held_ = lock == nullptr ? std::unique_lock<std::mutex>()
                                    : std::unique_lock<std::mutex>(*lock, std::try_to_lock);
        if (lock == nullptr) return matcher.known_mask();
        return held_.owns_lock() ? matcher.known_mask_behind_lock() : Mask{};
    }

  private:
    std::unique_lock<std::mutex> held_;
};

// Keeps what a token did, if that can be. The matcher has taken it: what fails here fails again where it is
// asked for, and is told there.
void keep(Matcher& matcher, Matcher::Before&& before, std::int32_t token) {
    try {
        matcher.keep_step(std::move(before), token);
    } catch (const std::exception&) {  // not enough memory, or a stored mask that is damaged
    }
}

// Takes a token by a kept step. False: nothing has changed, and `take` says more.
bool takes_kept(Matcher& matcher, std::int64_t token, const TokenSteps::Place& place) {
    try {
        return matcher.accept_kept(token, place);
    } catch (const std::exception&) {  // not enough memory
        return false;
    }
}

// Takes any token, and keeps what that did. False: it is not allowed, and nothing has changed.
bool take(Matcher& matcher, std::int64_t token) {
    const Matcher::Use use(matcher);
    auto before = matcher.before(token);
    if (!answered(matcher, [&] { return accept_token(matcher, token); })) return false;
    if (before) keep(matcher, std::move(*before), token);
    return true;
}

bool is_in_vocabulary(const Matcher& matcher, std::int64_t token) {
    return token >= 0 && static_cast<std::size_t>(token) < matcher.tokens().size();
}

// The row of the mask that a member is known to have; else -1.
std::int32_t known_row(MaskArena& arena, const StepMember& member) {
    const auto id = member.matcher->kept_mask().id;
    return id >= 0 && member.entries != nullptr && member.owner == member.matcher->owner()
               ? arena.known_row(*member.entries, id)
               : -1;
}

// The same for one whose row has to be looked for.
std::int32_t found_row(MaskArena& arena, StepMember& member, const Mask& mask) {
    auto& matcher = *member.matcher;
    const auto row = arena.row(matcher.serial(), mask, matcher.tokens().words());
    member.owner = matcher.owner();
    member.entries = arena.entries_of(matcher.serial());
    return row;
}

// A step in which the matchers take their tokens, if there are any. Returns the indices of those whose masks
// are not known yet. `refused`: a list, to which the indices of those are added whose tokens are not allowed
// or not in the vocabulary; None: that is an error.
//
// Most rows are done in one pass, which takes no lock and holds no matcher: only who has Python's lock begins
// to use one, and it is not given up in this pass.
Numbers step(SteppedArena& arena, nb::handle matchers, nb::handle tokens, Rows rows, nb::handle refused) {
    const auto batch = arena.members(matchers);
    const auto members = batch->all();
    if (!tokens.is_none() && batch->repeated())
        throw nb::value_error(
            (place_in_batch(*batch->repeated()) + " comes twice: a matcher takes one token a step").c_str());
    const auto taken = tokens_of(tokens, members.size());
    require_places(rows, members.size());
    batch->begin_step(arena.times_forgotten());
    arena.begin_step();
    Numbers without_token, without_row, missed;
    Prefetch prefetch(members, taken);
    for (std::size_t at = 0; at < members.size(); ++at) {
        const auto place = prefetch.at(at);
        const auto& member = members[at];
        auto& row = rows.data()[at];
        row = -1;
        if (member.matcher == nullptr) continue;
        const bool takes = !taken.empty() && taken[at] != kNoToken;
        const bool is_free = !member.matcher->is_in_use();
        if (takes && !(is_free && takes_kept(*member.matcher, taken[at], place)))
            without_token.push_back(static_cast<std::int64_t>(at));
        else if (is_free)
            row = known_row(arena, member);
        if (row < 0) without_row.push_back(static_cast<std::int64_t>(at));
    }
    BatchFailures failures;
    for (const auto index : without_token) {
        const auto at = static_cast<std::size_t>(index);
        failures.watch(at, [&] {
            auto& matcher = *members[at].matcher;
            if (!refused.is_none() && !is_in_vocabulary(matcher, taken[at])) {
                nb::cast<nb::list>(refused).append(index);
            } else if (!take(matcher, taken[at])) {
                if (refused.is_none())
                    throw MatcherMisuse("token " + std::to_string(taken[at]) + " is not allowed");
                nb::cast<nb::list>(refused).append(index);
            }
        });
    }
    failures.complain("the others have taken their tokens");
    KnownMasks known;
    for (const auto index : without_row) {
        const auto at = static_cast<std::size_t>(index);
        failures.watch<MatcherMisuse>(at, [&] {
            const Matcher::Use use(*members[at].matcher);
            const auto mask = known.of(*members[at].matcher);
            if (mask.id < 0)
                missed.push_back(index);
            else
                rows.data()[at] = found_row(arena, members[at], mask);
        });
    }
    failures.complain("the masks of the others are known");
    return missed;
}

// The rest of a step: the rows of the matchers at some indices, whose masks are waited for.
void place(SteppedArena& arena, nb::handle matchers, const Numbers& indices, Rows rows) {
    const auto batch = arena.members(matchers);
    const auto members = batch->all();
    require_places(rows, members.size());
    BatchFailures failures;
    for (const auto index : indices) {
        const auto at = static_cast<std::size_t>(index);
        if (index < 0 || at >= members.size() || members[at].matcher == nullptr)
            throw nb::index_error("no matcher is at this index");
        auto& matcher = *members[at].matcher;
        failures.watch(at, [&] {
            const Matcher::Use use(matcher);
            const auto mask = answered(matcher, [&] { return mask_of(matcher); });
            rows.data()[at] = found_row(arena, members[at], mask);
        });
    }
    failures.complain("the masks of the others are known");
}

// The rest of a step: the rows of masks that come with it, such as those of padding.
std::vector<std::int32_t> add(SteppedArena& arena, Masks masks) {
    if (masks.shape(1) > arena.words()) throw nb::value_error("the masks have more words than the table");
    std::vector<std::int32_t> rows;
    for (std::size_t at = 0; at < masks.shape(0); ++at)
        rows.push_back(arena.row(std::span(masks.data() + at * masks.shape(1), masks.shape(1))));
    return rows;
}

// The indices of rows, -1 among them, whose masks allow nothing.
Numbers empty(const SteppedArena& arena, Rows rows) {
    Numbers found;
    for (std::size_t at = 0; at < rows.size(); ++at)
        if (const auto row = rows.data()[at]; row >= 0 && arena.is_empty(row))
            found.push_back(static_cast<std::int64_t>(at));
    return found;
}

OwnedRows<std::int32_t> table(const SteppedArena& arena) {
    using Kept = std::shared_ptr<std::int32_t[]>;
    auto kept = std::make_unique<Kept>(arena.table());
    auto* const data = kept->get();
    nb::capsule owner(kept.get(), [](void* of) noexcept { delete static_cast<Kept*>(of); });
    kept.release();
    return OwnedRows<std::int32_t>(data, {arena.capacity(), arena.words()}, owner);
}

}  // namespace

void bind_arena(nb::module_& m) {
    nb::class_<SteppedArena>(
        m, "MaskArena", "The masks that batches of any constraints have used last, as rows of one table.")
        .def(nb::init<std::size_t, std::size_t, std::size_t>(), nb::arg("words"), nb::arg("rows"),
             nb::arg("most_rows"))
        .def("step", &step, nb::arg("matchers").none(), nb::arg("tokens").none(), nb::arg("rows"),
             nb::arg("refused") = nb::none())
        .def("place", &place, nb::arg("matchers"), nb::arg("indices"), nb::arg("rows"))
        .def("add", &add, nb::arg("masks"))
        .def("empty", &empty, nb::arg("rows"))
        .def("written", [](const SteppedArena& arena) { return owned(std::vector(arena.written())); })
        .def_prop_ro("num_written", [](const SteppedArena& arena) { return arena.written().size(); })
        .def("table", &table)
        .def_prop_ro("capacity", [](const SteppedArena& arena) { return arena.capacity(); });
}

}  // namespace pdacon
