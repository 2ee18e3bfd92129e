// What other tools are handed: one row per kernel of a run, or per point of a front.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/chosen/deployment.hpp"
#include "core/chosen/objective.hpp"
#include "export/exchange/timeline.hpp"
#include "report/report.hpp"

namespace halmark::exports {

struct Metric {
  std::string name;  // "duration_ns", "mfu_ratio": its unit is its last word
  double value = 0;
  std::optional<double> low = {}, high = {};
  bool is_bigger_better = false;
};

struct MetricRow {
  std::string name, op, device, status, provenance;
  int processes = 0;  // that the figure rests on; 0 = it was not measured
  std::vector<Metric> metrics;
};

struct MetricTable {
  std::string title, origin, started_utc, fingerprint, tool;
  bool is_of_kernels = false;
  std::vector<MetricRow> rows;      // with a figure
  std::map<std::string, int> left;  // without one, by status
  std::vector<TimelineGroup> timeline;
  // Bytes of a storage of Optuna; from who knows studies, made when they are wanted.
  std::function<std::string()> study;
};

// Of an objective: the unit stands last, as everywhere; rates keep the names that they have.
std::string metric_name(const ObjectiveRow& row);

// `rows`: of the run, as they were measured.
MetricTable kernel_rows(const RunReport& report, std::span<const Measurement> rows);
MetricTable front_rows(const SearchedFront& front);

}  // namespace halmark::exports
