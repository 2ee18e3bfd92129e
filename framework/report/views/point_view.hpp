// What the label of a point says: "x16 t8192 fp8 tp8", "b4 bf16 dp2 tp2".
#pragma once

#include <optional>
#include <string_view>

#include "report/views/view.hpp"

namespace halmark::report {

// A line per part; nothing where a word is no part of a label.
std::optional<View> point_view(std::string_view label, int width);

}  // namespace halmark::report
