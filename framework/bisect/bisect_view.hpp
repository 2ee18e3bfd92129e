// What a search for a commit found, as a text and a document.
#pragma once

#include "bisect/bisect.hpp"
#include "core/text/error.hpp"
#include "report/views/view.hpp"

namespace halmark::bisect {

report::View bisect_view(const Search& search);
// ok: found; gate_failed (3): no change; partial (4): not decided yet.
ExitCode bisect_exit(const Search& search);

}  // namespace halmark::bisect
