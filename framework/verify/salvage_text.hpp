// What a salvaged database holds and what was left out, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/json/json_type.hpp"
#include "verify/salvage.hpp"

namespace halmark {

// A line each; of a file that lost all of its runs the first 100.
std::string left_out_text(const std::vector<LeftOut>& left);
Json left_out_json(const std::vector<LeftOut>& left);
// Triggers and the like are no loss.
bool names_rows(const std::vector<LeftOut>& left);

// A row is missing, or a run is not what it was.
bool misses_rows(const Salvage& done);
// `from`, `to`: the paths as the user typed them.
std::string salvage_text(const Salvage& done, const std::string& from, const std::string& to);
Json salvage_json(const Salvage& done, const std::string& from, const std::string& to);

}  // namespace halmark
