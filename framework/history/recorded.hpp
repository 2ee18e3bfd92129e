// The series of a database's latest runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "history/nights.hpp"
#include "history/step_changes.hpp"
#include "journal/store.hpp"

namespace halmark::history {

struct HistoryQuery {
  std::string op;                            // kernels of this op; "" = all
  std::string model;                         // configurations of this model, instead of kernels
  std::string device;                        // "cpu:0"; "" = all
  std::size_t nights = 60;                   // the latest runs that are looked at
  std::optional<std::int64_t> through = {};  // as it was told then: later runs are left out
  FrontOf front_of = {};                     // left to who knows what a front is
};

// Of the last change of build, where it is recent: pairs go on until every series has an answer.
struct OpenPairs {
  std::string old_build, new_build;  // ids; "" = nothing changed
  std::size_t open = 0, series = 0;
};

struct NightReport {
  std::string fingerprint;         // of the latest run's machine: the others are not looked at
  std::vector<std::int64_t> runs;  // oldest first
  std::string last_started_utc;
  std::vector<SeriesHistory> series;  // worst first
  HistoryRules rules;
  OpenPairs pairs = {};
  ChangedSteps changed = {};  // of all kernels, or of the configurations of the query's model

  int count(Change change) const;
};

// Throws Error (exit 2) where the database has no run, or none that the query asks for; what had
// none by an earlier run has no series.
NightReport night_report(const Store& store, const HistoryQuery& query, const HistoryRules& rules,
                         const std::string& path);

}  // namespace halmark::history
