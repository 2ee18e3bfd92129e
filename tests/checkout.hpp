// Where the tree under test and its build lie. Their paths are compiled into one object, so that
// all others are the same in every clone, and a compiler cache finds them again.
#pragma once

#include <string>
#include <string_view>

namespace halmark::test {

// Absolute paths; `below` begins with a slash or is empty.
std::string in_source(std::string_view below = "");
std::string in_build(std::string_view below = "");

}  // namespace halmark::test
