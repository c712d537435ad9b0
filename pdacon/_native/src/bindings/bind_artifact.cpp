// The binding of constraints on disk.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "artifact/artifact.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "composition/token_pda.hpp"

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

// A constraint that was saved: what its start symbols share, and how to get the rest.
class Artifact {
  public:
    // `name` and `advice` are for errors.
    Artifact(nb::handle object, bool verify, std::shared_ptr<Tries> tries, std::string name,
             std::string advice)
        : origin_(std::make_shared<const Origin>(Origin{std::move(name), std::move(advice)})) {
        if (!tries) throw std::invalid_argument("artifact: tries are needed");
        auto buffer = std::make_shared<Buffer>(object);
        auto bytes = buffer->bytes();
        std::shared_ptr<const void> owner = buffer;
        if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) != 0) {
            auto copied = std::make_shared<std::vector<std::uint64_t>>(bytes.size() / 8 + 1);
            std::memcpy(copied->data(), bytes.data(), bytes.size());
            bytes = {reinterpret_cast<const std::uint8_t*>(copied->data()), bytes.size()};
            owner = std::move(copied);
        }
        const WithoutGil release;
        origin_->watch([&] {
            reader_ = std::make_shared<const ArtifactReader>(bytes, std::move(owner), origin_, verify);
            lexer_ = std::make_shared<const LexingAutomaton>(*reader_);
            trie_ = std::make_shared<const LazyTrie>(reader_, std::move(tries));
            labels_ = std::make_shared<const Labels>(*reader_, trie_->tokens().size());
        });
    }

    nb::bytes text(Part part) const {
        const auto bytes =
            origin_->watch([&] { return reader_->array<char>(part, ArtifactReader::kShared); });
        return nb::bytes(bytes.data(), bytes.size());
    }
    std::shared_ptr<TokenPda> pda(std::int32_t start) const {
        const WithoutGil release;
        return origin_->watch(
            [&] { return std::make_shared<TokenPda>(lexer_, trie_, labels_, *reader_, start); });
    }
    nb::list tokens() const {
        const auto& tokens = trie_->tokens();
        nb::list found;
        for (std::int32_t token = 0; static_cast<std::size_t>(token) < tokens.size(); ++token) {
            const auto bytes = tokens.bytes_of(token);
            if (!bytes.empty() && !tokens.is_end(token))
                found.append(nb::bytes(bytes.data(), bytes.size()));
            else
                found.append(nb::none());
        }
        return found;
    }

  private:
    std::shared_ptr<const Origin> origin_;
    std::shared_ptr<const ArtifactReader> reader_;
    std::shared_ptr<const LexingAutomaton> lexer_;
    std::shared_ptr<const LazyTrie> trie_;
    std::shared_ptr<const Labels> labels_;
};

nb::bytes save(nb::bytes settings, nb::bytes grammar, const std::vector<std::shared_ptr<TokenPda>>& pdas) {
    std::string file;
    {
        const WithoutGil release;
        ArtifactWriter writer;
        writer.add_bytes(Part::kSettings, ArtifactWriter::kShared, settings.c_str(), settings.size());
        writer.add_bytes(Part::kGrammar, ArtifactWriter::kShared, grammar.c_str(), grammar.size());
        for (std::size_t start = 0; start < pdas.size(); ++start)
            pdas[start]->save(writer, static_cast<std::int32_t>(start));
        file = writer.finish();
    }
    return nb::bytes(file.data(), file.size());
}

}  // namespace

void bind_artifact(nb::module_& m) {
    nb::class_<Artifact>(m, "Artifact")
        .def(nb::init<nb::handle, bool, std::shared_ptr<Tries>, std::string, std::string>(),
             nb::arg("buffer"), nb::arg("verify"), nb::arg("tries"), nb::arg("name"), nb::arg("advice"))
        .def("settings", [](const Artifact& artifact) { return artifact.text(Part::kSettings); })
        .def("grammar", [](const Artifact& artifact) { return artifact.text(Part::kGrammar); })
        .def("tokens", &Artifact::tokens)
        .def("pda", &Artifact::pda, nb::arg("start"));
    m.attr("ARTIFACT_VERSION") = kArtifactVersion;
    m.def("save_artifact", &save, nb::arg("settings"), nb::arg("grammar"), nb::arg("pdas"));
}

}  // namespace pdacon
