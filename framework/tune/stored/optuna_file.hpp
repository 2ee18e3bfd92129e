// Fronts and runs as the bytes of a storage file that Optuna opens: for a file of its own, beside
// the studies that halmark keeps. A SQLite file where the `path` that they are for ends in .db,
// .sqlite, .sqlite3 or .study, else Optuna's journal.
#pragma once

#include <span>
#include <string>

#include "core/measured/measurement.hpp"
#include "report/report.hpp"
#include "tune/stored/stored_front.hpp"

namespace halmark::tune {

// The study of a stored front with every trial it has; of a measured sweep a study for each kind of
// step, "SWEEP decode", with every configuration that it evaluated, at the time of its run. Throws
// Error as find_front does.
std::string optuna_front(const FrontPlace& place, const std::string& path);

// The kernels of a run as one study "TITLE kernels": a trial for each case, in the order in which
// they were first measured; its parameters are what differs between cases, its attributes what does
// not, its value duration_ns, to be minimised. What has no latency failed, with its reason. `rows`:
// of that run.
std::string optuna_kernels(const RunReport& report, std::span<const Measurement> rows,
                           const std::string& path);

}  // namespace halmark::tune
