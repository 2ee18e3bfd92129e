// Large counts for people, the same in every locale.
#pragma once

#include <cstdint>
#include <string>

namespace halmark::report {

std::string grouped_text(std::int64_t count);      // "40,960"
std::string four_digits_text(double value);        // "2,968,000", "51.0"
std::string short_count_text(std::int64_t count);  // "8.03 B"

std::string flop_text(double flops);  // "15.5 GFLOP", "156 PFLOP"

}  // namespace halmark::report
