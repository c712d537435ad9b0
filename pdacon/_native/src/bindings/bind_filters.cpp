// The binding of filters: automata over tokens that narrow constraints.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "base/in_range.hpp"
#include "bindings/arrays.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "detokenizer/shared_trie.hpp"
#include "filters/canonical_filter.hpp"
#include "filters/greedy_words.hpp"
#include "filters/text_automaton.hpp"
#include "filters/unigram_paths.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

// The automaton over the bytes of texts, as pdacon.frontends.texts makes it; a text may end where
// `accepting`.
VocabularyStar star_of(const Array<std::int32_t>& offset, const Array<std::uint8_t>& low,
                       const Array<std::uint8_t>& high, const Array<std::int32_t>& target,
                       const Array<std::uint8_t>& accepting) {
    VocabularyStar star;
    if (offset.size() == 0) return star;
    star.edges.resize(offset.size() - 1);
    for (std::size_t state = 0; state + 1 < offset.size(); ++state)
        for (auto at = offset.data()[state]; at < offset.data()[state + 1]; ++at) {
            const auto edge = in_range(at, std::min({low.size(), high.size(), target.size()}));
            for (int byte = low.data()[edge]; byte <= high.data()[edge]; ++byte)
                star.edges[state].push_back({static_cast<std::uint8_t>(byte), target.data()[edge]});
        }
    star.boundary = copy(accepting);
    return star;
}

// `pairs`: four numbers for each, or none, and then `ranks` of the tokens say what merges. `roles`: see
// MergeTable; `bytewise`: of the classes; without it texts begin as bytes, else as characters. `texts`: those
// that are left as they are, by class of code points; none: all. `added`: tokens that are added words.
// `words`, `most`: see GreedyWords, or, with `scores` and `unknown`,
// UnigramPaths; none: the tokenizer merges.
std::shared_ptr<CanonicalFilter> make_filter(
    const std::shared_ptr<SharedTrie>& trie, const Array<std::int32_t>& pairs,
    const Array<std::int32_t>& ranks, const Array<std::uint8_t>& roles, const Array<std::uint8_t>& classes,
    const Array<std::int32_t>& next, const Array<std::uint8_t>& ends, const Array<std::uint8_t>& free,
    const Array<std::uint8_t>& bytewise, const Array<std::int32_t>& text_classes,
    const Array<std::int32_t>& text_next, const Array<std::uint8_t>& settled,
    const Array<std::int32_t>& star_offset, const Array<std::uint8_t>& star_low,
    const Array<std::uint8_t>& star_high, const Array<std::int32_t>& star_target,
    const Array<std::uint8_t>& star_accepting, const Array<std::int32_t>& added, bool restarts,
    const Array<std::uint8_t>& words, std::int32_t most, const Array<double>& scores, double unknown,
    bool spaced) {
    if (!trie || pairs.size() % 4 != 0 || ends.size() == 0)
        throw std::invalid_argument("canonical filter: the arrays do not fit together");
    const auto& tokens = trie->tokens();
    std::vector<MergeTable::Pair> merged;
    for (std::size_t at = 0; at < pairs.size(); at += 4)
        merged.push_back(
            {pairs.data()[at], pairs.data()[at + 1], pairs.data()[at + 2], pairs.data()[at + 3]});
    const auto num_classes = static_cast<std::int32_t>(next.size() / ends.size() / 2);
    std::unique_ptr<TextStates> texts;
    const WithoutGil release;
    if (text_classes.size() > 0) {
        const auto text = copy(text_classes);
        const auto most = std::max(0, *std::ranges::max_element(text));
        texts = std::make_unique<TextAutomaton>(
            tokens, text, copy(text_next), most + 1,
            star_of(star_offset, star_low, star_high, star_target, star_accepting), view(added), restarts);
    }
    if (words.size() > 0) {
        auto star = star_of(star_offset, star_low, star_high, star_target, star_accepting);
        if (scores.size() > 0)
            texts =
                std::make_unique<UnigramPaths>(tokens, copy(words), copy(scores), unknown, std::move(star));
        else
            texts = std::make_unique<GreedyWords>(tokens, copy(words), most, std::move(star));
    }
    if (ranks.size() > 0) merged = MergeTable::by_rank(*tokens, view(ranks));
    return std::make_shared<CanonicalFilter>(
        MergeTable(tokens, std::move(merged), copy(roles), bytewise.size() > 0),
        Pretokens(tokens, copy(classes), copy(next), num_classes, copy(ends), copy(free), copy(bytewise),
                  view(settled)),
        std::move(texts), spaced);
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

bool keeps(CanonicalFilter& filter, std::int32_t state, std::int32_t token) {
    if (token < 0 || static_cast<std::size_t>(token) >= filter.tokens().size())
        throw std::out_of_range("no token has this id");
    return filter.step(state, filter.tokens().bytes_of(token)) >= 0;
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
                    nb::arg("roles"), nb::arg("classes"), nb::arg("next"), nb::arg("ends"), nb::arg("free"),
                    nb::arg("bytewise"), nb::arg("text_classes"), nb::arg("text_next"), nb::arg("settled"),
                    nb::arg("star_offset"), nb::arg("star_low"), nb::arg("star_high"), nb::arg("star_target"),
                    nb::arg("star_accepting"), nb::arg("added"), nb::arg("restarts"), nb::arg("words"),
                    nb::arg("most"), nb::arg("scores"), nb::arg("unknown"), nb::arg("spaced"))
        .def("step", nb::overload_cast<std::int32_t, std::int32_t>(&CanonicalFilter::step), nb::arg("state"),
             nb::arg("token"))
        .def("ends", &CanonicalFilter::ends, nb::arg("state"))
        .def("keeps", &keeps, nb::arg("state"), nb::arg("token"))
        .def_prop_ro("changes_texts", [](CanonicalFilter& filter) { return filter.settled() != nullptr; })
        .def("followers", &followers, nb::arg("token"))
        .def("encode", &encode, nb::arg("text"))
        .def("statistics", &statistics);
}

}  // namespace pdacon
