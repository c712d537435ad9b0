// The binding of filters: automata over tokens that narrow constraints.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <map>
#include <memory>
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "detokenizer/shared_trie.hpp"
#include "filters/canonical_filter.hpp"
#include "filters/filter_definition.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

std::vector<std::int32_t> column(const Array<std::int32_t>& pairs, std::size_t number) {
    std::vector<std::int32_t> values;
    for (auto at = number; at < pairs.size(); at += 4) values.push_back(pairs.data()[at]);
    return values;
}

// `pairs`: four numbers for each, or none, and then `ranks` of the tokens say what merges. See
// FilterDefinition for the others.
std::shared_ptr<CanonicalFilter> find_filter(
    Filters& filters, const std::shared_ptr<SharedTrie>& trie, const Array<std::int32_t>& pairs,
    const Array<std::int32_t>& ranks, const Array<std::uint8_t>& roles, const Array<std::uint8_t>& classes,
    const Array<std::int32_t>& next, const Array<std::uint8_t>& ends, const Array<std::uint8_t>& free,
    const Array<std::uint8_t>& bytewise, const Array<std::int32_t>& text_classes,
    const Array<std::int32_t>& text_next, const Array<std::uint8_t>& settled,
    const Array<std::int32_t>& star_offset, const Array<std::uint8_t>& star_low,
    const Array<std::uint8_t>& star_high, const Array<std::int32_t>& star_target,
    const Array<std::uint8_t>& star_accepting, const Array<std::int32_t>& added, bool restarts,
    const Array<std::uint8_t>& words, std::int32_t most, const Array<double>& scores,
    const Array<double>& unknown, bool prefixed, bool spaced) {
    if (!trie || pairs.size() % 4 != 0)
        throw std::invalid_argument("canonical filter: the arrays do not fit together");
    const FilterDefinition definition{
        .left = column(pairs, 0),
        .right = column(pairs, 1),
        .rank = column(pairs, 2),
        .made = column(pairs, 3),
        .ranks = copy(ranks),
        .roles = copy(roles),
        .classes = copy(classes),
        .next = copy(next),
        .ends = copy(ends),
        .free = copy(free),
        .bytewise = copy(bytewise),
        .text_classes = copy(text_classes),
        .text_next = copy(text_next),
        .settled = copy(settled),
        .star_offset = copy(star_offset),
        .star_low = copy(star_low),
        .star_high = copy(star_high),
        .star_target = copy(star_target),
        .star_accepting = copy(star_accepting),
        .added = copy(added),
        .words = copy(words),
        .scores = copy(scores),
        .unknown = copy(unknown),
        .most = {most},
        .restarts = {restarts ? 1 : 0},
        .prefixed = {prefixed ? 1 : 0},
        .spaced = {spaced ? 1 : 0},
    };
    const WithoutGil release;
    return filters.of(trie->tokens(), definition.numbers());
}

Owned<std::int32_t> followers(CanonicalFilter& filter, std::int32_t token) {
    std::vector<std::int32_t> mask(filter.tokens().words(), 0);
    if (token < 0 || static_cast<std::size_t>(token) >= filter.tokens().size())
        throw std::out_of_range("no token has this id");
    {
        const WithoutGil release;
        filter.merges().add_followers(token, mask);
    }
    return owned(std::move(mask));
}

bool keeps(CanonicalFilter& filter, std::int32_t state, std::int32_t token) {
    if (token < 0 || static_cast<std::size_t>(token) >= filter.tokens().size())
        throw std::out_of_range("no token has this id");
    return filter.step(state, filter.tokens().bytes_of(token)) >= 0;
}

Owned<std::int32_t> encode(CanonicalFilter& filter, nb::bytes text) {
    return owned(filter.merges().encode({text.c_str(), text.size()}));
}

std::map<std::string, std::size_t> statistics(CanonicalFilter& filter) {
    const auto numbers = filter.statistics();
    return {{"states", numbers.states}, {"sets", numbers.sets},   {"places", numbers.places},
            {"rows", numbers.rows},     {"bytes", numbers.bytes}, {"unreachable", numbers.unreachable}};
}

}  // namespace

void bind_filters(nb::module_& m) {
    nb::class_<CanonicalFilter>(m, "CanonicalFilter")
        .def("step", nb::overload_cast<std::int32_t, std::int32_t>(&CanonicalFilter::step), nb::arg("state"),
             nb::arg("token"))
        .def("ends", &CanonicalFilter::ends, nb::arg("state"))
        .def("keeps", &keeps, nb::arg("state"), nb::arg("token"))
        .def_prop_ro("prefixed", &CanonicalFilter::prefixed)
        .def("definition",
             [](const CanonicalFilter& filter) {
                 const auto numbers = std::as_bytes(filter.definition());
                 return nb::bytes(numbers.data(), numbers.size());
             })
        .def_prop_ro("changes_texts", [](CanonicalFilter& filter) { return filter.settled() != nullptr; })
        .def("followers", &followers, nb::arg("token"))
        .def("encode", &encode, nb::arg("text"))
        .def("statistics", &statistics);
    nb::class_<Filters>(m, "Filters")
        .def(nb::init<>())
        .def("of", &find_filter, nb::arg("trie"), nb::kw_only(), nb::arg("pairs"), nb::arg("ranks"),
             nb::arg("roles"), nb::arg("classes"), nb::arg("next"), nb::arg("ends"), nb::arg("free"),
             nb::arg("bytewise"), nb::arg("text_classes"), nb::arg("text_next"), nb::arg("settled"),
             nb::arg("star_offset"), nb::arg("star_low"), nb::arg("star_high"), nb::arg("star_target"),
             nb::arg("star_accepting"), nb::arg("added"), nb::arg("restarts"), nb::arg("words"),
             nb::arg("most"), nb::arg("scores"), nb::arg("unknown"), nb::arg("prefixed"), nb::arg("spaced"));
}

}  // namespace pdacon
