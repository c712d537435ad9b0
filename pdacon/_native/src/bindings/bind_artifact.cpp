// The binding of constraints on disk.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "artifact/artifact.hpp"
#include "artifact/without_tokens.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "composition/stored_constraint.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

// Somebody else's memory, such as a mapped file's, for as long as anything here uses it.
class Buffer {
  public:
    explicit Buffer(nb::handle object) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    }
    ~Buffer() {
        if (!nb::is_alive()) return;
        const WithGil hold;
        PyBuffer_Release(&view_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    std::span<const std::uint8_t> bytes() const {
        return {static_cast<const std::uint8_t*>(view_.buf), static_cast<std::size_t>(view_.len)};
    }

  private:
    Py_buffer view_{};
};

std::shared_ptr<StoredConstraint> load(nb::handle object, bool verify, std::shared_ptr<Tries> tries,
                                       Filters& filters, std::string name, std::string advice,
                                       std::shared_ptr<SharedTrie> trie) {
    if (!tries) throw std::invalid_argument("artifact: tries are needed");
    auto buffer = std::make_shared<Buffer>(object);
    const auto bytes = buffer->bytes();
    const WithoutGil release;
    return std::make_shared<StoredConstraint>(bytes, std::move(buffer), verify, std::move(tries), filters,
                                              std::move(name), std::move(advice), std::move(trie));
}

template <Part kPart>
nb::bytes text(const StoredConstraint& stored) {
    const auto bytes = stored.text(kPart);
    return nb::bytes(bytes.data(), bytes.size());
}

std::vector<std::optional<nb::bytes>> tokens(const StoredConstraint& stored) {
    const auto& all = stored.tokens();
    std::vector<std::optional<nb::bytes>> found;
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < all.size(); ++token) {
        const auto bytes = all.bytes_of(token);
        if (!bytes.empty() && !all.is_end(token))
            found.emplace_back(nb::bytes(bytes.data(), bytes.size()));
        else
            found.emplace_back();
    }
    return found;
}

nb::bytes save(nb::bytes settings, nb::bytes grammar, const std::vector<std::shared_ptr<TokenPda>>& pdas,
               bool with_tokens) {
    std::string file;
    {
        const WithoutGil release;
        ArtifactWriter writer;
        writer.add_bytes(Part::kSettings, ArtifactWriter::kShared, settings.c_str(), settings.size());
        writer.add_bytes(Part::kGrammar, ArtifactWriter::kShared, grammar.c_str(), grammar.size());
        for (std::size_t start = 0; start < pdas.size(); ++start)
            pdas[start]->save(writer, static_cast<std::int32_t>(start));
        file = writer.finish();
        if (!with_tokens) file = without_tokens(file);
    }
    return nb::bytes(file.data(), file.size());
}

}  // namespace

void bind_artifact(nb::module_& m) {
    nb::class_<StoredConstraint>(m, "StoredConstraint")
        .def("settings", &text<Part::kSettings>)
        .def("grammar", &text<Part::kGrammar>)
        .def("tokens", &tokens)
        .def("filter", &StoredConstraint::filter)
        .def("pdas", &StoredConstraint::pdas);
    m.def("load_artifact", &load, nb::arg("buffer"), nb::arg("verify"), nb::arg("tries"), nb::arg("filters"),
          nb::arg("name"), nb::arg("advice"), nb::arg("trie").none() = nb::none());
    m.attr("ARTIFACT_VERSION") = kArtifactVersion;
    m.def("save_artifact", &save, nb::arg("settings"), nb::arg("grammar"), nb::arg("pdas"),
          nb::arg("with_tokens"));
}

}  // namespace pdacon
