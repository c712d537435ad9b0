// Productions in: the tables of an LALR(1) parser.
#include <exception>

#include "lalr/tables.hpp"
#include "productions.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzzing::Input input(data, size);
    try {
        const auto productions = fuzzing::productions(input, input.count(0, 6), input.count(0, 6), 12);
        pdacon::lalr::build_tables(productions, {500, 32 << 20});
    } catch (const std::exception&) {  // every one becomes an exception in Python
    }
    return 0;
}
