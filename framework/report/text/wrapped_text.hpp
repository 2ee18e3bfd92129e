// Text of several words in lines that fit a terminal.
#pragma once

#include <limits>
#include <string>
#include <string_view>

namespace halmark::report {

// Of files and pipes: nothing is cut or broken.
inline constexpr int unlimited_width = std::numeric_limits<int>::max();

// Lines of at most `width` terminal columns, broken between words; later ones are indented. A word
// that is longer stands alone, whole. Spaces within a line are kept. Ends with a newline.
std::string wrapped(std::string_view text, int width, std::size_t indent = 2);

// Each line of `text` so; empty ones stay.
std::string wrapped_lines(std::string_view text, int width);

}  // namespace halmark::report
