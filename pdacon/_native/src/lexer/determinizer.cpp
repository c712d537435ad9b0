#include "lexer/determinizer.hpp"

#include <optional>
#include <utility>

#include "lexer/lookahead_cycles.hpp"
#include "lexer/subset_construction.hpp"

namespace pdacon {

LexingTables determinize(const LexerSpec& spec, Budget& budget) {
    const ByteClasses bytes(spec.nfa, spec.lines());
    Relexing relexing(spec);
    {
        SubsetConstruction bounded(spec, bytes, relexing, nullptr, budget);
        if (bounded.run(SubsetConstruction::Pass::kBounded)) return std::move(bounded).tables();
    }
    LookaheadCycles cycles(spec, relexing, bytes.representative, budget);
    SubsetConstruction(spec, bytes, relexing, &cycles, budget).run(SubsetConstruction::Pass::kSurvey);
    auto unbounded = cycles.find();
    SubsetConstruction cut(spec, bytes, relexing, &cycles, budget);
    cut.run(SubsetConstruction::Pass::kCut);
    auto tables = std::move(cut).tables();
    tables.unbounded = std::move(unbounded);
    return tables;
}

}  // namespace pdacon
