// What a mask is written to, given as a NumPy array or a CPU tensor.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "detokenizer/kept_mask.hpp"

namespace pdacon {

// A caller's bitmask: int32 rows whose words are next to each other, writable, on the CPU.
class Bitmask {
  public:
    explicit Bitmask(nanobind::handle bitmask) {
        if (PyObject_GetBuffer(bitmask.ptr(), &view_, PyBUF_FORMAT | PyBUF_STRIDES | PyBUF_WRITABLE) == 0) {
            held_ = true;
            const std::string_view format = view_.format != nullptr ? view_.format : "B";
            // "=i": a NumPy array that is not aligned.
            if (view_.itemsize != 4 || (format != "i" && format != "l" && format != "=i" && format != "<i"))
                fail("must have dtype int32");
            locate(static_cast<char*>(view_.buf), view_.ndim, view_.shape, view_.strides);
            return;
        }
        PyErr_Clear();
        if (!nanobind::hasattr(bitmask, "data_ptr"))
            fail("must be a writable int32 NumPy array or a CPU tensor");
        from_tensor(bitmask);
    }
    ~Bitmask() { release(); }
    Bitmask(const Bitmask&) = delete;
    Bitmask& operator=(const Bitmask&) = delete;

    // Where a row is; it has room for so many words. Throws IndexError, ValueError.
    char* row(std::int64_t index, std::size_t words) const {
        if (index < 0 || index >= rows_)
            throw nanobind::index_error(
                ("row " + std::to_string(index) + " of a bitmask with " + std::to_string(rows_) + " rows")
                    .c_str());
        if (columns_ < static_cast<Py_ssize_t>(words))
            throw nanobind::value_error(("bitmask has " + std::to_string(columns_) +
                                         " words a row; the vocabulary needs " + std::to_string(words))
                                            .c_str());
        return data_ + index * stride_;
    }

    // Copies a mask into a row; words beyond the mask become 0.
    void fill(char* row, MaskView mask, std::size_t words) const {
        const auto size = words * sizeof(std::int32_t);
        mask.write(row, words);
        std::memset(row + size, 0, static_cast<std::size_t>(columns_) * sizeof(std::int32_t) - size);
    }

  private:
    void release() {
        if (held_) PyBuffer_Release(&view_);
        held_ = false;
    }
    [[noreturn]] void fail(const std::string& what) {
        release();
        throw nanobind::type_error(("bitmask " + what).c_str());
    }

    void locate(char* data, int dimensions, const Py_ssize_t* shape, const Py_ssize_t* strides) {
        if (dimensions != 1 && dimensions != 2) fail("must have one or two dimensions");
        rows_ = dimensions == 2 ? shape[0] : 1;
        stride_ = dimensions == 2 ? strides[0] : 0;
        columns_ = shape[dimensions - 1];
        if (columns_ > 1 && strides[dimensions - 1] != 4) fail("rows must be contiguous");
        data_ = data;
    }

    void from_tensor(nanobind::handle tensor) {
        const auto text_of = [&](const char* attribute) {
            const nanobind::object value = tensor.attr(attribute);
            return std::string(nanobind::str(value).c_str());
        };
        if (text_of("dtype") != "torch.int32") fail("must have dtype int32");
        if (text_of("device") != "cpu") fail("must be on the CPU");
        Py_ssize_t shape[2] = {1, 1}, strides[2] = {4, 4};
        const auto dimensions = nanobind::cast<int>(tensor.attr("ndim"));
        if (dimensions != 1 && dimensions != 2) fail("must have one or two dimensions");
        for (int at = 0; at < dimensions; ++at) {
            shape[at] = nanobind::cast<Py_ssize_t>(tensor.attr("shape")[at]);
            strides[at] = 4 * nanobind::cast<Py_ssize_t>(tensor.attr("stride")(at));
        }
        const auto address = nanobind::cast<std::uintptr_t>(tensor.attr("data_ptr")());
        if (address == 0) fail("has no memory of its own");
        locate(reinterpret_cast<char*>(address), dimensions, shape, strides);
    }

    Py_buffer view_{};
    bool held_ = false;
    char* data_ = nullptr;
    Py_ssize_t rows_ = 0, stride_ = 0, columns_ = 0;
};

}  // namespace pdacon
