// Runs joined by configuration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/page/runs_page.hpp"
#include "report/text/table.hpp"

namespace halmark::report {

std::string run_name(const NumberedReport& run);  // "run 3"

// One configuration in every run; null where a run did not evaluate it.
struct SideRow {
  std::string key, label;
  Phase phase = Phase::decode;
  std::vector<const Evaluation*> of_run;
  std::vector<bool> on_front;

  std::optional<double> latency_ns(std::size_t run) const;
  std::optional<double> tokens_per_s(std::size_t run) const;
  // Latency of the last run that has one against that of the first, minus 1; absent with fewer than
  // two.
  std::optional<double> change() const;
};

std::vector<SideRow> side_rows(const std::vector<NumberedReport>& runs);

// A row per run: what it was, how many configurations, the best of each figure.
Table runs_table(const std::vector<NumberedReport>& runs);
// A row per configuration of the phase: its latency and throughput in each run, and the change.
Table sides_table(const std::vector<NumberedReport>& runs, const std::vector<SideRow>& rows,
                  Phase phase);

}  // namespace halmark::report
