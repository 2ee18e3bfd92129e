// Factors between the units that figures are stored in and those they are given in.
#pragma once

namespace halmark {

inline constexpr double ns_per_s = 1e9;

}  // namespace halmark
