// Fronts of searches that are over: stored as studies where they were priced, read from the journal
// where they were measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/deployment.hpp"
#include "report/report.hpp"
#include "report/served_report.hpp"
#include "study/values.hpp"
#include "tune/search/loop.hpp"
#include "tune/stored/stored_report.hpp"

namespace halmark::tune {

// Trials that a search leaves at most, those of its front first.
inline constexpr std::size_t stored_trials_max = 4096;

// A front that was priced, with what else was tried, as a study of its own; its name. The same
// result is stored once. `times`: when they were evaluated. "" where nothing was tried.
std::string store_front(StudyStore& store, const SearchedFront& front,
                        std::span<const Evaluation> tried, const TrialTimes& times = {});

struct StoredFront {
  std::string study, started_utc;
};
std::vector<StoredFront> stored_fronts(StudyStore& store);  // oldest first
// Throws Error (exit 2) where there is none of that name, or it cannot be read.
SearchedFront read_stored_front(StudyStore& store, const std::string& name);

// Stores the fronts that a priced search found, one for each kind of step, or that of its requests.
// Returns the names of their studies.
std::vector<std::string> keep_front(StudyStore& store, const ServedReport& report,
                                    SearchedFront like, const TrialTimes& times = {});
std::vector<std::string> keep_front(StudyStore& store, const RunReport& report, SearchedFront like,
                                    const TrialTimes& times = {});

// Where a front is looked for: the results database, and the studies beside it.
struct FrontPlace {
  std::string database, studies;
  std::string study;                // by name; "" = by run, or the latest of both
  std::optional<std::int64_t> run;  // of the database
};
// Which of both has the front that is asked for: a study by its name, or else a run.
struct FrontOrigin {
  std::string study;
  std::int64_t run = 0;
};
// Nothing where there is none. Opens for reading alone.
std::optional<FrontOrigin> latest_origin(const FrontPlace& place);
// Throws Error (exit 2) where there is none.
FrontOrigin front_origin(const FrontPlace& place);
SearchedFront find_front(const FrontPlace& place);

struct StoredKernels {
  RunReport report;
  std::vector<Measurement> rows;  // as they were measured
};
// Of a run, the latest one where none is named. Throws likewise.
StoredKernels stored_kernels(const FrontPlace& place, const ReportingMachine& machine);

}  // namespace halmark::tune
