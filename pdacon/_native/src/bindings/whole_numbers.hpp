// Token ids, rows and counts as callers give them: Python's numbers, NumPy's, tensors, and lists of them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace pdacon {

// A whole number of any kind: int, NumPy's, a tensor without dimensions; True is none. `what` is for the
// error.
inline std::int64_t whole_number(nanobind::handle value, const char* what) {
    nanobind::object index = nanobind::borrow(value);
    if (!PyLong_CheckExact(value.ptr())) {
        if (PyBool_Check(value.ptr()) || !PyIndex_Check(value.ptr()))
            throw nanobind::type_error(
                (std::string(what) + " must be a whole number, not " +
                 nanobind::type_name(value.type()).c_str() +
                 (PyUnicode_Check(value.ptr()) && std::string(what) == "token"
                      ? ": accept(text) takes text, and matcher.fork().accept(text) only "
                        "asks"
                      : ""))
                    .c_str());
        index = nanobind::steal(PyNumber_Index(value.ptr()));
        if (!index.is_valid()) throw nanobind::python_error();
    }
    int overflow = 0;
    const auto number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow == 0) return number;
    throw std::out_of_range(std::string(what) + " " + nanobind::str(index).c_str() + " is out of range");
}

inline std::vector<std::int64_t> whole_numbers(nanobind::handle values, const char* what) {
    if (PyBytes_Check(values.ptr()) || PyByteArray_Check(values.ptr()) || PyUnicode_Check(values.ptr()))
        throw nanobind::type_error((std::string(what) + "s must be a sequence of whole numbers, not " +
                                    nanobind::type_name(values.type()).c_str())
                                       .c_str());
    nanobind::object list = nanobind::borrow(values);
    if (!PyList_Check(values.ptr()) && !PyTuple_Check(values.ptr())) {
        // Arrays and tensors make a list of themselves faster than it can be made from outside.
        list = nanobind::hasattr(values, "tolist") ? nanobind::object(values.attr("tolist")())
                                                   : nanobind::steal(PySequence_List(values.ptr()));
        if (!list.is_valid()) throw nanobind::python_error();
        if (!PyList_Check(list.ptr()))
            throw nanobind::type_error((std::string(what) + "s must be a sequence of whole numbers").c_str());
    }
    std::vector<std::int64_t> numbers;
    numbers.reserve(nanobind::len(list));
    for (const auto value : list) numbers.push_back(whole_number(value, what));
    return numbers;
}

}  // namespace pdacon
