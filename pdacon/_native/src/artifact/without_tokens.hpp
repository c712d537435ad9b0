// A file without the sections of its vocabulary, for a reader that has the vocabulary: of a small constraint
// and a large vocabulary they are nearly all of it.
#pragma once

#include <string>

namespace pdacon {

// Of what `ArtifactWriter::finish` has returned. No file for others: most readers miss a section in it.
std::string without_tokens(const std::string& file);

}  // namespace pdacon
