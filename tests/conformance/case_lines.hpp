// What an author of a plugin reads: one line per case, and a summary.
#pragma once

namespace halmark::conformance {

// Replaces GoogleTest's printer, except where tests are only listed.
void print_case_lines();

}  // namespace halmark::conformance
