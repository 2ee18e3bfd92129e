// What engines measured of themselves, as a table; and one step in a line.
#pragma once

#include <span>
#include <string>

#include "core/measured/engine_step.hpp"
#include "report/views/view.hpp"

namespace halmark::report {

// {"imports"}; a row per step, and a line per import that says where it is from.
View engine_steps_view(std::span<const EngineImport> imports);

// "imported from llama-bench, r.json (sha256 0123456789ab), b5163 (8cf427ff)".
std::string origin_text(const EngineImport& imported, const EngineStep& step);
// "decode, batch 1, 128 tokens behind 0: 8.41 ms, deviation 74.3 us".
std::string engine_step_text(const EngineStep& step);

}  // namespace halmark::report
