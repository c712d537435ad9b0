// The binding of the matcher. On the hot path pointers come from the buffer protocol, or from a tensor's
// data_ptr.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "matcher.hpp"
#include "module.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

// A row of a caller's bitmask: int32, its words next to each other, writable, on the CPU.
class BitmaskRow {
  public:
    BitmaskRow(nb::handle bitmask, std::int64_t row, std::size_t words) {
        if (PyObject_GetBuffer(bitmask.ptr(), &view_, PyBUF_FORMAT | PyBUF_STRIDES | PyBUF_WRITABLE) == 0) {
            held_ = true;
            const std::string_view format = view_.format != nullptr ? view_.format : "B";
            if (view_.itemsize != 4 || (format != "i" && format != "l")) fail("must have dtype int32");
            locate(static_cast<char*>(view_.buf), view_.ndim, view_.shape, view_.strides, row, words);
            return;
        }
        PyErr_Clear();
        if (!nb::hasattr(bitmask, "data_ptr")) fail("must be a writable int32 NumPy array or a CPU tensor");
        from_tensor(bitmask, row, words);
    }
    ~BitmaskRow() { release(); }
    BitmaskRow(const BitmaskRow&) = delete;
    BitmaskRow& operator=(const BitmaskRow&) = delete;

    // Copies a mask into the row; words beyond the mask become 0.
    void fill(const std::int32_t* mask, std::size_t words) const {
        std::memcpy(data_, mask, words * sizeof(std::int32_t));
        std::memset(data_ + words, 0, (size_ - words) * sizeof(std::int32_t));
    }

  private:
    void release() {
        if (held_) PyBuffer_Release(&view_);
        held_ = false;
    }
    [[noreturn]] void fail(const std::string& what) {
        release();
        throw nb::type_error(("bitmask " + what).c_str());
    }

    void locate(char* data, int dimensions, const Py_ssize_t* shape, const Py_ssize_t* strides,
                std::int64_t row, std::size_t words) {
        if (dimensions != 1 && dimensions != 2) fail("must have one or two dimensions");
        const auto rows = dimensions == 2 ? shape[0] : 1;
        const auto columns = shape[dimensions - 1];
        if (row < 0 || row >= rows) {
            release();
            throw nb::index_error(
                ("row " + std::to_string(row) + " of a bitmask with " + std::to_string(rows) + " rows")
                    .c_str());
        }
        if (columns < static_cast<Py_ssize_t>(words)) {
            release();
            throw nb::value_error(("bitmask has " + std::to_string(columns) +
                                   " words a row; the vocabulary needs " + std::to_string(words))
                                      .c_str());
        }
        if (columns > 1 && strides[dimensions - 1] != 4) fail("rows must be contiguous");
        data_ = reinterpret_cast<std::int32_t*>(data + (dimensions == 2 ? row * strides[0] : 0));
        size_ = static_cast<std::size_t>(columns);
    }

    void from_tensor(nb::handle tensor, std::int64_t row, std::size_t words) {
        const auto text_of = [&](const char* attribute) {
            const nb::object value = tensor.attr(attribute);
            return std::string(nb::str(value).c_str());
        };
        if (text_of("dtype") != "torch.int32") fail("must have dtype int32");
        if (text_of("device") != "cpu") fail("must be on the CPU");
        Py_ssize_t shape[2] = {1, 1}, strides[2] = {4, 4};
        const auto dimensions = nb::cast<int>(tensor.attr("ndim"));
        if (dimensions != 1 && dimensions != 2) fail("must have one or two dimensions");
        for (int at = 0; at < dimensions; ++at) {
            shape[at] = nb::cast<Py_ssize_t>(tensor.attr("shape")[at]);
            strides[at] = 4 * nb::cast<Py_ssize_t>(tensor.attr("stride")(at));
        }
        const auto address = nb::cast<std::uintptr_t>(tensor.attr("data_ptr")());
        if (address == 0) fail("has no memory of its own");
        locate(reinterpret_cast<char*>(address), dimensions, shape, strides, row, words);
    }

    Py_buffer view_{};
    bool held_ = false;
    std::int32_t* data_ = nullptr;
    std::size_t size_ = 0;
};

// A mask that must be computed takes its time without the GIL.
std::int32_t mask_id(const Matcher& matcher) {
    const Matcher::Use use(matcher);
    const auto known = matcher.known_mask_id();
    if (known >= 0) return known;
    const nb::gil_scoped_release release;
    return matcher.mask_id();
}

void fill_bitmask(const Matcher& matcher, nb::handle bitmask, std::int64_t row) {
    const auto id = mask_id(matcher);
    const auto words = matcher.pda().trie().words();
    BitmaskRow(bitmask, row, words).fill(matcher.pda().mask(id), words);
}

bool accept_token(Matcher& matcher, std::int64_t token) {
    const Matcher::Use use(matcher);
    return matcher.accept_token(token);
}

bool accept_bytes(Matcher& matcher, nb::bytes bytes) {
    const Matcher::Use use(matcher);
    return matcher.accept_bytes({bytes.c_str(), bytes.size()});
}

std::size_t validate_tokens(const Matcher& matcher, const std::vector<std::int64_t>& tokens) {
    const Matcher::Use use(matcher);
    return matcher.validate_tokens(tokens);
}

nb::bytes shortest_completion(const Matcher& matcher) {
    std::string text;
    {
        const Matcher::Use use(matcher);
        const nb::gil_scoped_release release;
        text = matcher.shortest_completion();
    }
    return nb::bytes(text.data(), text.size());
}

nb::bytes text(const Matcher& matcher) {
    const Matcher::Use use(matcher);
    return nb::bytes(matcher.text().data(), matcher.text().size());
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
            [](Matcher* self, std::shared_ptr<TokenPda> pda, std::int64_t max_rollback) {
                new (self) Matcher(std::move(pda), max_rollback);
            },
            nb::arg("pda"), nb::arg("max_rollback"))
        .def("__init__", &fork, nb::arg("other"))
        .def("fill_bitmask", &fill_bitmask, nb::arg("bitmask"), nb::arg("row") = 0,
             R"(Write the mask of the allowed next tokens into one row.

Parameters
----------
bitmask : int32 array or CPU tensor, [rows, words] or [words]
    Bit t % 32 of word t // 32 is set iff token t is allowed. It needs ceil(V / 32) words; bits past V and
    further words become 0.
row : int
    Which row.

Raises TypeError, ValueError or IndexError for a bitmask that cannot take it. Cost: a lookup and a copy
of the row once the mask is known; at first sight the time to compute it.)")
        .def("mask_id", &mask_id,
             R"(The id of the mask of the allowed next tokens: its row in ``Constraint.mask_table()``.)")
        .def(
            "is_allowed",
            [](const Matcher& matcher, std::int64_t token) {
                const Matcher::Use use(matcher);
                return matcher.is_allowed(token);
            },
            nb::arg("token"),
            R"(Whether ``accept_token(token)`` would succeed. IndexError for an id outside the vocabulary.)")
        .def("accept_token", &accept_token, nb::arg("token"),
             R"(Go on by one token. False: it is not allowed, and nothing has changed.

An end token ends the text: after it the matcher is terminated and allows end tokens only. Raises IndexError
for an id outside the vocabulary, LimitExceededError("depth"). Cost: O(bytes of the token).)")
        .def(
            "accept_bytes", &accept_bytes, nb::arg("text"),
            R"(Go on by some bytes of text, as if one token spelled them. False: not allowed, nothing has changed.)")
        .def("validate_tokens", &validate_tokens, nb::arg("tokens"),
             R"(How many of the tokens, from the first, could be accepted in turn. Changes nothing.)")
        .def(
            "rollback",
            [](Matcher& matcher, std::int64_t count) {
                const Matcher::Use use(matcher);
                matcher.rollback(count);
            },
            nb::arg("count"),
            R"(Take back the last ``count`` successful accepts, of whatever kind. MatcherError if there are not so many.)")
        .def(
            "reset",
            [](Matcher& matcher) {
                const Matcher::Use use(matcher);
                matcher.reset();
            },
            R"(Back to the start of the text, with an empty history.)")
        .def(
            "is_accepting",
            [](const Matcher& matcher) {
                const Matcher::Use use(matcher);
                return matcher.is_accepting();
            },
            R"(Whether the text so far is a sentence of the grammar: whether an end token is allowed.)")
        .def("is_terminated", &Matcher::is_terminated, R"(Whether an end token has been accepted.)")
        .def("shortest_completion", &shortest_completion,
             R"(The text that completes the sentence with the fewest bytes; of those the least, byte by byte.

Cost: O(depth of the stack + length of the answer); the first call prepares what all others share.)")
        .def("_stack", &Matcher::stack)
        .def("_text", &text)
        .def("__reduce__", &no_pickle)
        .def("__reduce_ex__", &no_pickle);
}

}  // namespace pdacon
