// Measured memory in words, for the terminal and the pages.
#pragma once

#include <string>

#include "core/measured/validation.hpp"

namespace halmark::report {

// "+0.4 %: within 5 %"; "+0.4 %: too small to judge"; "-" with no figure.
std::string set_size_text(const MemoryOfRank& rank);
// "tied table held twice +297 MiB; packed by the plugin +1.2 MiB"; bytes that no cause explains
// come last.
std::string causes_text(const RoleMemory& role);
// The roles of the largest rank as a table, and a line per set size.
std::string memory_text(const Validation& validation);
// Of all runs in one line; empty where none measured its memory.
std::string memory_line(const std::vector<Validation>& rows);

}  // namespace halmark::report
