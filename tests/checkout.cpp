#include "tests/checkout.hpp"

namespace halmark::test {

std::string in_source(std::string_view below) { return HALMARK_SOURCE_DIR + std::string(below); }
std::string in_build(std::string_view below) { return HALMARK_BINARY_DIR + std::string(below); }

}  // namespace halmark::test
