// The binding of the table of masks that a batch of any constraints uses.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
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
#include "bindings/whole_numbers.hpp"
#include "matching/mask_arena.hpp"
#include "matching/matcher.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

using Numbers = std::vector<std::int64_t>;
using Rows = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Masks = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The matchers of a step, null for None, each held against other threads; without tokens one may come several
// times.
class StepBatch {
  public:
    StepBatch(nb::handle matchers, bool may_repeat, std::size_t words) : kept_(matchers, true) {
        const void* known = nullptr;  // an owner of matchers, whose masks are not too long
        for (std::size_t at = 0; at < kept_.all().size(); ++at) {
            const auto* const matcher = kept_.all()[at];
            if (matcher == nullptr) continue;
            if (matcher->owner() != known && matcher->tokens().words() > words)
                throw nb::value_error((place_in_batch(at) + " has masks of " +
                                       std::to_string(matcher->tokens().words()) +
                                       " words, the table rows of " + std::to_string(words) +
                                       ": they are for another vocabulary")
                                          .c_str());
            known = matcher->owner();
            if (!uses_.add(*matcher)) refuse(at, may_repeat);
        }
    }

    std::span<Matcher* const> matchers() const { return kept_.all(); }

  private:
    // A matcher that is in use, by this batch or by another thread.
    void refuse(std::size_t at, bool may_repeat) const {
        const auto before = matchers().first(at);
        if (std::ranges::find(before, matchers()[at]) == before.end()) Matcher::Use::refuse();
        if (!may_repeat)
            throw nb::value_error(
                (place_in_batch(at) + " comes twice: a matcher takes one token a step").c_str());
    }

    KeptMatchers kept_;
    Matcher::Uses uses_{kept_.all().size()};
};

constexpr std::int64_t kNoToken = -1;

void require_places(const Rows& rows, const StepBatch& batch) {
    if (rows.size() < batch.matchers().size()) throw nb::value_error("rows has too few places");
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
void prefetch(std::span<Matcher* const> matchers, std::span<const std::int64_t> tokens, std::size_t at) {
    const auto ahead = [&](std::size_t by) {
        return at + by < matchers.size() ? matchers[at + by] : nullptr;
    };
    if (const auto* const matcher = ahead(8)) matcher->prefetch();
    if (const auto* const matcher = ahead(4)) matcher->prefetch_stack();
    if (const auto* const matcher = ahead(2)) matcher->prefetch_step(tokens[at + 2]);
}

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

// A step in which the matchers take their tokens, if there are any. Returns the indices of those whose masks
// are not known yet.
Numbers step(MaskArena& arena, nb::handle matchers, nb::handle tokens, Rows rows) {
    const StepBatch batch(matchers, tokens.is_none(), arena.words());
    const auto taken = tokens_of(tokens, batch.matchers().size());
    require_places(rows, batch);
    BatchFailures failures;
    for (std::size_t at = 0; at < taken.size(); ++at) {
        auto* const matcher = batch.matchers()[at];
        prefetch(batch.matchers(), taken, at);
        if (matcher == nullptr || taken[at] == kNoToken) continue;
        failures.watch(at, [&] {
            if (matcher->accept_kept(taken[at])) return;
            auto before = matcher->before(taken[at]);
            if (!answered(*matcher, [&] { return accept_token(*matcher, taken[at]); }))
                throw MatcherMisuse("token " + std::to_string(taken[at]) + " is not allowed");
            if (before) keep(*matcher, std::move(*before), taken[at]);
        });
    }
    failures.complain("the others have taken their tokens");
    arena.begin_step();
    KnownMasks known;
    Numbers missed;
    for (std::size_t at = 0; at < batch.matchers().size(); ++at) {
        const auto* const matcher = batch.matchers()[at];
        rows.data()[at] = -1;
        if (matcher == nullptr) continue;
        const auto mask = known.of(*matcher);
        if (mask.id < 0)
            missed.push_back(static_cast<std::int64_t>(at));
        else if (const auto row = arena.known_row(matcher->serial(), mask.id); row >= 0)
            rows.data()[at] = row;
        else
            rows.data()[at] = arena.row(matcher->serial(), mask, matcher->tokens().words());
    }
    return missed;
}

// The rest of a step: the rows of the matchers at some indices, whose masks are waited for.
void place(MaskArena& arena, nb::handle matchers, const Numbers& indices, Rows rows) {
    const StepBatch batch(matchers, true, arena.words());
    require_places(rows, batch);
    BatchFailures failures;
    for (const auto index : indices) {
        const auto at = static_cast<std::size_t>(index);
        if (index < 0 || at >= batch.matchers().size() || batch.matchers()[at] == nullptr)
            throw nb::index_error("no matcher is at this index");
        auto& matcher = *batch.matchers()[at];
        failures.watch(at, [&] {
            const auto mask = answered(matcher, [&] { return mask_of(matcher); });
            rows.data()[at] = arena.row(matcher.serial(), mask, matcher.tokens().words());
        });
    }
    failures.complain("the masks of the others are known");
}

// The rest of a step: the rows of masks that come with it, such as those of padding.
std::vector<std::int32_t> add(MaskArena& arena, Masks masks) {
    if (masks.shape(1) > arena.words()) throw nb::value_error("the masks have more words than the table");
    std::vector<std::int32_t> rows;
    for (std::size_t at = 0; at < masks.shape(0); ++at)
        rows.push_back(arena.row(std::span(masks.data() + at * masks.shape(1), masks.shape(1))));
    return rows;
}

// The indices of rows, -1 among them, whose masks allow nothing.
Numbers empty(const MaskArena& arena, Rows rows) {
    Numbers found;
    for (std::size_t at = 0; at < rows.size(); ++at)
        if (const auto row = rows.data()[at]; row >= 0 && arena.is_empty(row))
            found.push_back(static_cast<std::int64_t>(at));
    return found;
}

OwnedRows<std::int32_t> table(const MaskArena& arena) {
    using Kept = std::shared_ptr<std::int32_t[]>;
    auto kept = std::make_unique<Kept>(arena.table());
    auto* const data = kept->get();
    nb::capsule owner(kept.get(), [](void* of) noexcept { delete static_cast<Kept*>(of); });
    kept.release();
    return OwnedRows<std::int32_t>(data, {arena.capacity(), arena.words()}, owner);
}

}  // namespace

void bind_arena(nb::module_& m) {
    nb::class_<MaskArena>(m, "MaskArena",
                          "The masks that batches of any constraints have used last, as rows of one table.")
        .def(nb::init<std::size_t, std::size_t, std::size_t>(), nb::arg("words"), nb::arg("rows"),
             nb::arg("most_rows"))
        .def("step", &step, nb::arg("matchers").none(), nb::arg("tokens").none(), nb::arg("rows"))
        .def("place", &place, nb::arg("matchers"), nb::arg("indices"), nb::arg("rows"))
        .def("add", &add, nb::arg("masks"))
        .def("empty", &empty, nb::arg("rows"))
        .def("written", [](const MaskArena& arena) { return owned(std::vector(arena.written())); })
        .def("table", &table)
        .def_prop_ro("capacity", &MaskArena::capacity);
}

}  // namespace pdacon
