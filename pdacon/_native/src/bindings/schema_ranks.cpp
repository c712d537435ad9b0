#include "bindings/schema_ranks.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/memory.hpp"

namespace pdacon {

namespace nb = nanobind;

namespace {

void add(nb::handle text, nb::dict& ranks) {
    if (!PyUnicode_Check(text.ptr()) || ranks.contains(text)) return;
    ranks[text] = ranks.size();
}

void add_all(nb::handle given, nb::dict& ranks) {
    if (PyDict_Check(given.ptr())) {
        PyObject *name = nullptr, *schema = nullptr;
        Py_ssize_t at = 0;
        while (PyDict_Next(given.ptr(), &at, &name, &schema) != 0) add(name, ranks);
    } else if (PyList_Check(given.ptr())) {
        for (Py_ssize_t at = 0; at < PyList_GET_SIZE(given.ptr()); ++at)
            add(PyList_GET_ITEM(given.ptr(), at), ranks);
    } else {
        add(given, ranks);
    }
}

}  // namespace

void add_ranks(nb::list schemas, nb::dict names, nb::dict values) {
    const MemoryLimit::Lenient converted;
    const std::array<std::pair<nb::str, nb::dict*>, 4> keywords{{{nb::str("properties"), &names},
                                                                 {nb::str("required"), &names},
                                                                 {nb::str("const"), &values},
                                                                 {nb::str("enum"), &values}}};
    std::vector<PyObject*> pending;  // the next one last; what is in a schema lives as long as it
    const auto put = [&](PyObject* part) {
        if (PyDict_Check(part) || PyList_Check(part)) pending.push_back(part);
    };
    const auto put_all = [&](PyObject* node) {
        const auto before = static_cast<std::ptrdiff_t>(pending.size());
        if (PyList_Check(node)) {
            for (Py_ssize_t at = 0; at < PyList_GET_SIZE(node); ++at) put(PyList_GET_ITEM(node, at));
        } else {
            PyObject *key = nullptr, *part = nullptr;
            Py_ssize_t at = 0;
            while (PyDict_Next(node, &at, &key, &part) != 0) put(part);
        }
        std::reverse(pending.begin() + before, pending.end());
    };
    put_all(schemas.ptr());
    while (!pending.empty()) {
        auto* const node = pending.back();
        pending.pop_back();
        if (PyDict_Check(node))
            for (const auto& [keyword, ranks] : keywords) {
                auto* const given = PyDict_GetItemWithError(node, keyword.ptr());
                if (given == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
                if (given != nullptr) add_all(given, *ranks);
            }
        put_all(node);
    }
}

}  // namespace pdacon
