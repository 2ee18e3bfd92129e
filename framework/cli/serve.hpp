// The page as a file.
#pragma once

#include <string>
#include <vector>

#include "cli/console/command.hpp"
#include "pages/serve/state/page_state.hpp"

namespace halmark::cli {

// Writes the page with a grid of states around `state` into `file`, and says so in `result`. Times
// are of these sources, or of those that the page has by itself.
void write_page(const GlobalOptions& global, const pages::PageState& state, const std::string& file,
                CommandResult& result, const std::vector<std::string>& latency = {});

}  // namespace halmark::cli
