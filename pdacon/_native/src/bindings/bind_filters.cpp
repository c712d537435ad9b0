// The binding of filters: automata over tokens that narrow constraints.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "detokenizer/shared_trie.hpp"
#include "filters/canonical_filter.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

// `pairs`: four numbers for each, or none, and then `ranks` of the tokens say what merges.
std::shared_ptr<CanonicalFilter> make_filter(
    const std::shared_ptr<SharedTrie>& trie, const Array<std::int32_t>& pairs,
    const Array<std::int32_t>& ranks, const Array<std::uint8_t>& used, const Array<std::uint8_t>& classes,
    const Array<std::int32_t>& next, const Array<std::uint8_t>& ends, const Array<std::uint8_t>& free) {
    if (!trie || pairs.size() % 4 != 0 || ends.size() == 0)
        throw std::invalid_argument("canonical filter: the arrays do not fit together");
    const auto& tokens = trie->tokens();
    std::vector<MergeTable::Pair> merged;
    for (std::size_t at = 0; at < pairs.size(); at += 4)
        merged.push_back(
            {pairs.data()[at], pairs.data()[at + 1], pairs.data()[at + 2], pairs.data()[at + 3]});
    const auto num_classes = static_cast<std::int32_t>(next.size() / ends.size() / 2);
    const WithoutGil release;
    if (ranks.size() > 0) merged = MergeTable::by_rank(*tokens, view(ranks));
    return std::make_shared<CanonicalFilter>(
        MergeTable(tokens, std::move(merged), copy(used)),
        Pretokens(tokens, copy(classes), copy(next), num_classes, copy(ends), copy(free)));
}

nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>> followers(CanonicalFilter& filter, std::int32_t token) {
    std::vector<std::int32_t> mask(filter.tokens().words(), 0);
    if (token < 0 || static_cast<std::size_t>(token) >= filter.tokens().size())
        throw std::out_of_range("no token has this id");
    {
        const WithoutGil release;
        filter.merges().add_followers(token, mask);
    }
    return owned(std::move(mask));
}

nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>> encode(CanonicalFilter& filter, nb::bytes text) {
    return owned(filter.merges().encode({text.c_str(), text.size()}));
}

nb::dict statistics(CanonicalFilter& filter) {
    const auto numbers = filter.statistics();
    nb::dict out;
    out["states"] = numbers.states;
    out["sets"] = numbers.sets;
    out["places"] = numbers.places;
    out["rows"] = numbers.rows;
    out["bytes"] = numbers.bytes;
    out["unreachable"] = numbers.unreachable;
    return out;
}

}  // namespace

void bind_filters(nb::module_& m) {
    nb::class_<CanonicalFilter>(m, "CanonicalFilter")
        .def_static("make", &make_filter, nb::arg("trie"), nb::arg("pairs"), nb::arg("ranks"),
                    nb::arg("used"), nb::arg("classes"), nb::arg("next"), nb::arg("ends"), nb::arg("free"))
        .def("step", &CanonicalFilter::step, nb::arg("state"), nb::arg("token"))
        .def("ends", &CanonicalFilter::ends, nb::arg("state"))
        .def("followers", &followers, nb::arg("token"))
        .def("encode", &encode, nb::arg("text"))
        .def("statistics", &statistics);
}

}  // namespace pdacon
