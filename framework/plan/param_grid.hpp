// The text of --params: every combination of the values that it gives for each parameter.
#pragma once

#include <string_view>
#include <vector>

#include "core/problem.hpp"

namespace halmark {

// "name=value,name=[value,...],...". A value is an integer, or a dtype where the name ends in
// "dtype"; inside brackets also a range of integers, both ends included where the step meets them:
// first..last*factor or first..last+step. The last name varies fastest; values keep their order.
// An empty text is one empty set. Throws Error (exit 2) naming the parameter and what is wrong;
// also for a name given twice, a value given twice, and more than `combinations_max` combinations.
std::vector<Params> parse_param_grid(std::string_view text);

inline constexpr std::size_t combinations_max = 4096;

}  // namespace halmark
