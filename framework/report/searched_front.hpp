// The front of a report as a value that is stored, chosen from and exported, and back.
#pragma once

#include <optional>

#include "core/chosen/deployment.hpp"
#include "report/report.hpp"
#include "report/served_report.hpp"

namespace halmark {

// What a report says of its front; `like` has the rest: device, memory fraction, levels.
SearchedFront searched_front(const ServedReport& report, SearchedFront like);
SearchedFront searched_front(const RunReport& report, SearchedFront like);

// The report of a front of requests as a study keeps it: points and levels, without where the times
// of each are from. Nothing of a front of steps.
std::optional<ServedReport> served_report(const SearchedFront& front);

}  // namespace halmark
