// The page as one file that needs no server: the same modules, with the answers of a grid of
// states inside.
#pragma once

#include <string>

#include "pages/serve/simulator_page.hpp"

namespace halmark::pages {

inline constexpr std::size_t static_page_bytes_max = std::size_t{24} << 20;

// The grid: `base` with shards and batches in powers of two, a few contexts, decode,
// prefill and a few loads of a server; or training as the base has it; or its server under its load
// and other numbers of clients. Refusals are answers too.
// Throws Error (exit 2) where the base itself is not possible, and for a file beyond the limit.
std::string static_page(SimulatorPage& page, const PageState& base);

}  // namespace halmark::pages
