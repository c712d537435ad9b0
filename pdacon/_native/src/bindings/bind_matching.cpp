// The binding of the matcher. On the hot path pointers come from the buffer protocol, or from a tensor's
// data_ptr.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/batches.hpp"
#include "bindings/bitmask.hpp"
#include "bindings/cancelling.hpp"
#include "bindings/gil.hpp"
#include "bindings/matcher_calls.hpp"
#include "bindings/module.hpp"
#include "bindings/whole_numbers.hpp"
#include "matching/lexeme_trace.hpp"
#include "matching/matcher.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

// What takes its time, or may have to wait for another thread, runs without the GIL.
constexpr std::size_t kLongText = 4096;

// What a matcher is asked, only while no other thread changes it.
template <class Answer, class AnyMatcher, class... Arguments>
auto guarded(Answer (*ask)(AnyMatcher&, Arguments...)) {
    return [ask](Matcher& matcher, Arguments... arguments) {
        const Matcher::Use use(matcher);
        return answered(matcher, [&] { return ask(matcher, arguments...); });
    };
}
// The same for what goes back in the text, which no automaton needs to be made for.
template <class... Arguments>
auto going_back(void (*change)(Matcher&, Arguments...)) {
    return [change](Matcher& matcher, Arguments... arguments) {
        const Matcher::Use use(matcher);
        const auto nested = matcher.shared_nested();
        const auto lock = nested ? held(nested->lock()) : std::unique_lock<std::recursive_mutex>();
        change(matcher, arguments...);
    };
}
// The same for what no automaton is needed for.
template <class Answer>
auto alone(Answer (*ask)(const Matcher&)) {
    return [ask](const Matcher& matcher) {
        const Matcher::Use use(matcher);
        return ask(matcher);
    };
}
template <class Answer>
auto guarded(Answer (Matcher::*ask)() const) {
    return [ask](const Matcher& matcher) {
        const Matcher::Use use(matcher);
        return (matcher.*ask)();
    };
}
// The same for what only the whole automaton answers.
template <class Answer, class AnyMatcher, class... Arguments>
auto of_whole(Answer (*ask)(AnyMatcher&, Arguments...)) {
    return [ask](Matcher& matcher, Arguments... arguments) {
        const Matcher::Use use(matcher);
        if (matcher.is_nested()) matcher.complete();
        return ask(matcher, arguments...);
    };
}

// Masks of constraints with a filter differ by the last token: they are written, and not kept.
[[noreturn]] void refuse_ids() {
    throw MatcherMisuse("masks of a constraint with canonical have no ids; use fill_bitmask");
}

std::int32_t mask_id(const Matcher& matcher) {
    if (matcher.is_filtered()) refuse_ids();
    return mask_of(matcher).id;
}

void fill_bitmask(const Matcher& matcher, nb::handle bitmask, nb::handle row) {
    const auto words = matcher.tokens().words();
    const auto index = whole_number(row, "row");
    auto mask = matcher.known_mask();
    if (mask.id < 0) {
        Bitmask(bitmask).row(index, words);  // what cannot take a mask is refused before one is computed
        mask = without_gil([&] { return matcher.mask(); });
    }
    // A tensor may be resized while the GIL is not held, so its address is asked for after that.
    const Bitmask target(bitmask);
    target.fill(target.row(index, words), mask.view, words);
}

// The matchers of a call, each held against other threads; one may come several times.
class Batch {
  public:
    explicit Batch(nb::handle matchers) : kept_(matchers, false) {
        auto distinct = kept_.all();
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        for (const auto* matcher : distinct) uses_.emplace_back(*matcher);
        for (auto* matcher : distinct)  // so that all masks can be had without the GIL
            if (matcher->is_nested()) answered(*matcher, [&] { return mask_of(*matcher); });
    }

    std::size_t size() const { return kept_.all().size(); }
    const Matcher& operator[](std::size_t at) const { return *kept_.all()[at]; }

  private:
    KeptMatchers kept_;
    std::deque<Matcher::Use> uses_;
};

// The masks of a batch, without a view where they cannot be had.
std::vector<Mask> masks_of(const Batch& batch, BatchFailures& failures) {
    std::vector<Mask> masks(batch.size());
    for (std::size_t at = 0; at < batch.size(); ++at)
        failures.watch<std::runtime_error>(at, [&] { masks[at] = batch[at].mask(); });
    return masks;
}

void fill_bitmasks(nb::handle matchers, nb::handle bitmask, nb::handle rows) {
    const Batch batch(matchers);
    std::vector<std::int64_t> places;
    if (rows.is_none())
        for (std::size_t at = 0; at < batch.size(); ++at) places.push_back(static_cast<std::int64_t>(at));
    else
        places = whole_numbers(rows, "row");
    if (places.size() != batch.size())
        throw nb::value_error((std::to_string(places.size()) + " rows for " + std::to_string(batch.size()) +
                               " matchers: one for each is needed")
                                  .c_str());
    auto sorted = places;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
        throw nb::value_error(("row " + std::to_string(*twice) + " is given twice").c_str());
    const auto rows_of = [&](const Bitmask& target) {
        std::vector<char*> found;
        for (std::size_t at = 0; at < batch.size(); ++at)
            found.push_back(target.row(places[at], batch[at].tokens().words()));
        return found;
    };
    rows_of(Bitmask(bitmask));
    BatchFailures failures;
    const auto masks = without_gil([&] { return masks_of(batch, failures); });
    // As in fill_bitmask: the rows may have moved.
    const Bitmask target(bitmask);
    const auto data = rows_of(target);
    for (std::size_t at = 0; at < batch.size(); ++at) {
        if (masks[at].view) target.fill(data[at], masks[at].view, batch[at].tokens().words());
    }
    failures.complain("the rows of the others are written");
}

Owned<std::int32_t> mask_ids(nb::handle matchers) {
    const Batch batch(matchers);
    for (std::size_t at = 1; at < batch.size(); ++at)
        if (batch[at].owner() != batch[0].owner())
            throw nb::value_error(("matchers[" + std::to_string(at) +
                                   "] has another constraint or start than matchers[0]: their ids are of "
                                   "different mask tables")
                                      .c_str());
    if (batch.size() > 0 && batch[0].is_filtered()) refuse_ids();
    std::vector<std::int32_t> ids(batch.size());
    without_gil([&] {
        BatchFailures failures;
        const auto masks = masks_of(batch, failures);
        failures.complain("ask for the others without it");
        std::ranges::transform(masks, ids.begin(), &Mask::id);
    });
    return owned(std::move(ids));
}

bool is_allowed(const Matcher& matcher, nb::handle token) {
    const auto id = whole_number(token, "token");
    const auto known = matcher.known_allowed(id);
    return known == Liveness::kUnknown ? allowed_token(matcher, id).has_value()
                                       : known == Liveness::kLiveOnAll;
}

bool accept_given_token(Matcher& matcher, nb::handle token) {
    return accept_token(matcher, whole_number(token, "token"));
}

// `spelled`: the bytes may have the spellings of labels, as a matcher's text has.
bool accept_text(Matcher& matcher, nb::handle object, bool spelled) {
    if (!PyBytes_Check(object.ptr()))
        throw nb::type_error((std::string("text must be bytes, not ") + nb::type_name(object.type()).c_str() +
                              (PyUnicode_Check(object.ptr()) ? "; encode it, as in text.encode()" : ""))
                                 .c_str());
    const auto bytes = nb::borrow<nb::bytes>(object);
    const std::string_view text(bytes.c_str(), bytes.size());
    if (!spelled && matcher.may_spell_label(text)) return false;
    if (text.size() < kLongText && !matcher.is_filtered())
        return accept(matcher, allowed_step(matcher, text));
    return without_gil([&] {
        auto step = matcher.step(text);
        if (step && !matcher.is_text_allowed(*step)) step.reset();
        return accept(matcher, std::move(step));
    });
}

bool accept_bytes(Matcher& matcher, nb::handle text) { return accept_text(matcher, text, false); }

bool accept_spelled(Matcher& matcher, nb::handle text) { return accept_text(matcher, text, true); }

// Whatever a filter says; that of an end token, too.
bool grammar_allows(const Matcher& matcher, std::int64_t token) {
    return without_gil([&] { return matcher.grammar_allows(token); });
}

std::size_t validate_tokens(const Matcher& matcher, nb::handle tokens) {
    const auto ids = whole_numbers(tokens, "token");
    return without_gil([&] { return matcher.validate_tokens(ids); });
}

// Only where the vocabulary is short of tokens for the start of a text.
bool is_stuck(const Matcher& matcher) { return mask_of(matcher).view.is_empty(matcher.tokens().words()); }

nb::bytes forced_bytes(const Matcher& matcher, nb::handle limit) {
    const auto most = whole_number(limit, "limit");
    if (most < 0) throw nb::value_error("limit must not be negative");
    const auto text = without_gil([&] { return matcher.forced_bytes(static_cast<std::size_t>(most)); });
    return nb::bytes(text.data(), text.size());
}

std::vector<std::int64_t> merged(const Matcher& matcher, nb::bytes forced) {
    return without_gil([&] { return matcher.merged({forced.c_str(), forced.size()}); });
}

std::size_t settled(const Matcher& matcher, nb::handle tokens, nb::bytes forced) {
    const auto ids = whole_numbers(tokens, "token");
    return without_gil([&] { return matcher.settled(ids, {forced.c_str(), forced.size()}); });
}

nb::bytes shortest_completion(const Matcher& matcher) {
    const auto text = without_gil([&] { return matcher.shortest_completion(look_once); });
    return nb::bytes(text.data(), text.size());
}

std::int64_t completion_length(const Matcher& matcher) {
    return without_gil([&] { return matcher.completion_length(); });
}

Matcher::Unit unit(bool in_bytes) { return in_bytes ? Matcher::Unit::kBytes : Matcher::Unit::kTokens; }

// Tokens and bytes that may follow, and with how many left nothing is begun any more; -1: any number.
auto left(const Matcher& matcher) {
    const auto [unit, left, soft] = matcher.limit();
    const bool in_bytes = unit == Matcher::Unit::kBytes;
    return std::tuple(in_bytes ? Matcher::kUnlimited : left, in_bytes ? left : Matcher::kUnlimited, soft);
}

std::int64_t least(const Matcher& matcher, bool in_bytes) {
    const auto least = without_gil([&] { return matcher.least(unit(in_bytes)); });
    return least == TokenDistances::kNone ? -1 : least;
}

auto completion_head(const Matcher& matcher, std::size_t most) {
    const auto [length, text] = without_gil([&] { return matcher.completion_head(most); });
    return std::tuple(length, nb::bytes(text.data(), text.size()));
}

nb::bytes text(const Matcher& matcher) { return nb::bytes(matcher.text().data(), matcher.text().size()); }

std::vector<std::pair<std::size_t, std::int32_t>> labelled(const Matcher& matcher) {
    std::vector<std::pair<std::size_t, std::int32_t>> found;
    for (const auto& [at, token] : matcher.labelled()) found.emplace_back(at, token);
    return found;
}

// Labels of what has been begun, and of what may begin.
auto outlook(const Matcher& matcher, nb::bytes text) {
    const auto found = without_gil([&] { return matcher.expected_terminals({text.c_str(), text.size()}); });
    return std::tuple(owned(std::vector(found.unfinished.begin(), found.unfinished.end())),
                      owned(std::vector(found.next.begin(), found.next.end())));
}

// Of any text that the matcher's constraint allows, whatever the matcher has read: how many lexemes become
// certain behind `since` bytes; of the last `most` ones label, begin, end, and whether the parser does not
// see it; where the lexeme begins that is open; the stack in symbols; the columns of the open blocks.
auto trace(const Matcher& matcher, nb::bytes text, std::size_t since, std::int64_t most) {
    const auto& machine = matcher.pda()->machine();
    auto found =
        without_gil([&] { return trace_lexemes(machine, {text.c_str(), text.size()}, since, most); });
    std::vector<std::int64_t> lexemes;
    for (const auto& [label, begin, end, dropped] : found.lexemes)
        lexemes.insert(lexemes.end(), {label, begin, end, dropped});
    return std::tuple(found.count, owned(std::move(lexemes)), found.begin, owned(std::move(found.symbols)),
                      owned(std::move(found.columns)));
}

std::pair<std::size_t, std::size_t> memory(const Matcher& matcher) {
    return {matcher.bytes(), matcher.stack_nodes()};
}

void rollback(Matcher& matcher, nb::handle count) { matcher.rollback(whole_number(count, "count")); }

void reset(Matcher& matcher) { matcher.reset(); }

bool is_accepting(const Matcher& matcher) { return matcher.is_accepting(); }

void set_limit(Matcher& matcher, std::int64_t most, std::int64_t soft, bool in_bytes) {
    matcher.set_limit(Matcher::Limit::of(unit(in_bytes), most, soft));
}

bool distances_are_exact(const Matcher& matcher) {
    return TokenDistances::are_exact(matcher.pda()->machine());
}

std::vector<std::int32_t> stack(const Matcher& matcher) { return matcher.stack(); }

std::int32_t filter_state(const Matcher& matcher) { return matcher.filter_state(); }

// A callable of Python, asked with its lock, which also its last owner has.
Matcher::Whole asked_of(nb::object whole) {
    const std::shared_ptr<nb::object> kept(new nb::object(std::move(whole)), [](nb::object* object) {
        const WithGil acquire;
        delete object;
    });
    return [kept] {
        const WithGil acquire;
        return nb::cast<std::shared_ptr<TokenPda>>((*kept)());
    };
}

void fork(Matcher* self, const Matcher& other) {
    const Matcher::Use use(other);
    new (self) Matcher(other);
}

void no_pickle(const Matcher&, nb::args) {
    throw nb::type_error(
        "a Matcher cannot be pickled; send the accepted tokens and replay them, or fork() it");
}

}  // namespace

void bind_matching(nb::module_& m) {
    nb::class_<Matcher>(m, "Matcher", R"(A position in a text that a Constraint allows, token by token.

Made by ``Constraint.matcher()``; keeps its constraint alive. One thread at a time: a second one gets a
MatcherError; forks are independent of each other. Cannot be pickled.)")
        .def(
            "__init__",
            [](Matcher* self, std::shared_ptr<TokenPda> pda, std::int64_t max_rollback, bool leading_space,
               bool keep_text, std::int64_t most, std::int64_t soft, bool in_bytes) {
                new (self) Matcher(std::move(pda), max_rollback, leading_space, keep_text,
                                   Matcher::Limit::of(unit(in_bytes), most, soft));
            },
            nb::arg("pda"), nb::arg("max_rollback"), nb::arg("leading_space") = false,
            nb::arg("keep_text") = true, nb::arg("most") = -1, nb::arg("soft") = -1,
            nb::arg("in_bytes") = false)
        .def(
            "__init__",
            [](Matcher* self, std::shared_ptr<NestedPda> nested,
               nb::typed<nb::callable, std::shared_ptr<TokenPda>()> whole, std::int64_t kept,
               bool leading_space, bool keep_text) {
                const auto lock = held(nested->lock());
                new (self) Matcher(nested, asked_of(std::move(whole)), kept, leading_space, keep_text);
            },
            nb::arg("nested"), nb::arg("whole"), nb::arg("max_rollback"), nb::arg("leading_space"),
            nb::arg("keep_text"))
        .def("__init__", &fork, nb::arg("other"))
        .def("fill_bitmask", guarded(&fill_bitmask), nb::arg("bitmask").none(), nb::arg("row").none() = 0,
             nb::sig("def fill_bitmask(self, bitmask: numpy.ndarray | torch.Tensor, row: "
                     "typing.SupportsIndex = 0) -> None"),
             R"(Write the mask of the allowed next tokens into one row.

Parameters
----------
bitmask : int32 array or CPU tensor, [rows, words] or [words]
    Bit t % 32 of word t // 32 is set iff token t is allowed. It needs ceil(V / 32) words; bits past V and
    further words become 0.
row : int
    Which row.

Raises TypeError, ValueError or IndexError for a bitmask that cannot take it. Cost: a lookup and a copy
of the row once the mask is known; at a miss the time to compute it.)")
        .def("mask_id", guarded(&mask_id),
             R"(The id of the mask of the allowed next tokens: its row in ``Constraint.mask_table()``.)")
        .def("is_allowed", guarded(&is_allowed), nb::arg("token").none(),
             nb::sig("def is_allowed(self, token: typing.SupportsIndex) -> bool"),
             R"(Whether ``accept_token(token)`` would succeed. IndexError for an id outside the vocabulary.)")
        .def("accept_token", guarded(&accept_given_token), nb::arg("token").none(),
             nb::sig("def accept_token(self, token: typing.SupportsIndex) -> bool"),
             R"(Go on by one token. False: it is not allowed, and nothing has changed.

An end token ends the text: after it the matcher is terminated and allows end tokens only. Raises IndexError
for an id outside the vocabulary, LimitExceededError("depth"). Cost: O(bytes of the token).)")
        .def(
            "accept_bytes", guarded(&accept_bytes), nb::arg("text").none(),
            nb::sig("def accept_bytes(self, text: bytes) -> bool"),
            R"(Go on by some bytes of text, as if one token spelled them. False: not allowed, nothing has changed.)")
        .def("validate_tokens", guarded(&validate_tokens), nb::arg("tokens").none(),
             nb::sig(
                 "def validate_tokens(self, tokens: collections.abc.Iterable[typing.SupportsIndex]) -> int"),
             R"(How many of the tokens, from the first, could be accepted in turn. Changes nothing.

Takes a sequence of ids, an array or a tensor, of one dimension. A token with which the stack would exceed
``Limits.depth`` cannot be accepted. IndexError for an id outside the vocabulary that all before it lead up to.)")
        .def(
            "rollback", going_back(&rollback), nb::arg("count").none(),
            nb::sig("def rollback(self, count: typing.SupportsIndex) -> None"),
            R"(Take back the last ``count`` successful accepts, of whatever kind. MatcherError if there are not so many.)")
        .def("reset", going_back(&reset), R"(Back to the start of the text, with an empty history.)")
        .def("is_accepting", guarded(&is_accepting),
             R"(Whether the text so far is a sentence of the grammar: whether an end token is allowed.

LimitExceededError where a constraint of little memory has none left to tell (docs/matcher.md); it does not guess.)")
        .def("is_terminated", guarded(&Matcher::is_terminated), R"(Whether an end token has been accepted.)")
        .def("shortest_completion", of_whole(&shortest_completion),
             R"(The text that completes the sentence with the fewest bytes; of those the least, byte by byte.

In a grammar with indentation the blanks that begin a line are not counted.

Cost: O(depth of the stack + length of the answer); the first call prepares what all others share.)")
        .def("forced_bytes", guarded(&forced_bytes), nb::arg("limit").none() = 1 << 16,
             nb::sig("def forced_bytes(self, limit: typing.SupportsIndex = 65536) -> bytes"),
             R"(What every continuation starts with. Changes nothing.

All bytes up to where the text may end, or may go on in two ways; where only one continuation is left, all of
it; b"" at the end of a text. At most ``limit`` of them: more may be forced. Where the vocabulary lacks single bytes,
"every continuation" means those that tokens can spell, and the bytes may end inside a token.

Cost: O(bytes of the answer), about half a microsecond each.)")
        .def("_least", of_whole(&least), nb::arg("in_bytes"))
        .def("_limit", of_whole(&set_limit), nb::arg("most"), nb::arg("soft"), nb::arg("in_bytes"))
        .def("_distances_are_exact", of_whole(&distances_are_exact))
        .def("_left", alone(&left))
        .def("_completion_length", of_whole(&completion_length))
        .def("_completion_head", of_whole(&completion_head), nb::arg("most"))
        .def("_merged", guarded(&merged), nb::arg("forced"))
        .def("_settled", guarded(&settled), nb::arg("tokens"), nb::arg("forced"))
        .def(
            "_is_nested", guarded(&Matcher::is_nested),
            R"(Whether what the matcher reads is still made as it reads, until more than steps and masks are asked.)")
        .def("_leading_space", guarded(&Matcher::leading_space))
        .def("_memory", alone(&memory))
        .def("_keeps_text", &Matcher::keeps_text)
        .def("_length", guarded(&Matcher::length))
        .def("_is_stuck", guarded(&is_stuck))
        .def("_is_filtered", &Matcher::is_filtered)
        .def("_grammar_allows", of_whole(&grammar_allows), nb::arg("token"))
        .def("_filter_state", of_whole(&filter_state))
        .def("_stack", of_whole(&stack))
        .def("_text", alone(&text))
        .def("_labelled", alone(&labelled))
        .def("_accept_spelled", of_whole(&accept_spelled), nb::arg("text"))
        .def("_outlook", of_whole(&outlook), nb::arg("text"))
        .def("_trace", of_whole(&trace), nb::arg("text"), nb::arg("since"), nb::arg("most"))
        .def("__reduce__", &no_pickle, nb::sig("def __reduce__(self) -> typing.NoReturn"))
        .def("__reduce_ex__", &no_pickle,
             nb::sig("def __reduce_ex__(self, protocol: typing.SupportsIndex, /) -> typing.NoReturn"));
    m.def("fill_bitmasks", &fill_bitmasks, nb::arg("matchers").none(), nb::arg("bitmask").none(),
          nb::arg("rows") = nb::none(),
          nb::sig("def fill_bitmasks(matchers: collections.abc.Sequence[Matcher], bitmask: numpy.ndarray | "
                  "torch.Tensor, "
                  "rows: collections.abc.Sequence[typing.SupportsIndex] | None = None) -> None"),
          R"(Write the masks of many matchers in one call.

Parameters
----------
matchers : sequence of Matcher
    Of any constraints. One may come more than once.
bitmask : int32 array or CPU tensor, [rows, words]
    As for `Matcher.fill_bitmask`. Rows that are not named stay as they are.
rows : sequence of int, optional
    The row of each matcher, no two the same; the i-th matcher's is i if they are not given.

Raises TypeError, ValueError or IndexError for arguments that do not fit, MatcherError if another thread uses one
of the matchers; nothing has been written then. Where a mask cannot be had (LimitExceededError, ArtifactError), the rows of all
others are written, and the error names the matcher by its index. Cost: that of the single calls, less what a call from Python
costs; the GIL is released once.)");
    m.def(
        "mask_ids", &mask_ids, nb::arg("matchers").none(),
        nb::sig(
            "def mask_ids(matchers: collections.abc.Sequence[Matcher]) -> numpy.typing.NDArray[numpy.int32]"),
        R"(The ids of the masks of many matchers in one call.

Parameters
----------
matchers : sequence of Matcher
    All of one constraint and start: ids are rows of one ``Constraint.mask_table()``. ValueError if they are not.

Returns
-------
numpy.ndarray, int32[n]

Raises LimitExceededError or ArtifactError where a mask cannot be had, with the index of the matcher.)");
}

}  // namespace pdacon
