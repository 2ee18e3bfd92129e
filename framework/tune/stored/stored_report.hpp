// A run as the journal has it, folded into a report: not from the memory of the process that made
// it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "journal/run_identity.hpp"
#include "report/page/runs_page.hpp"
#include "report/report.hpp"

namespace halmark::tune {

// What rows of one device are judged by.
struct JudgingDevice {
  std::string device;  // "cuda:0"
  int cores = 1;
  std::optional<Device> measured, datasheet;
};

// The machine that looks at the report. Its peaks judge rows that were measured on it, no others.
struct ReportingMachine {
  std::string fingerprint;
  int cores = 1;
  std::optional<Device> measured, datasheet;
  std::vector<std::string> lines;           // what it is, for people
  EarlierIdentity earlier;                  // of runs of versions before the fingerprint
  std::vector<JudgingDevice> devices = {};  // of rows of other devices; those without one: as above
};

RunReport stored_report(const Store& store, std::int64_t run, const ReportingMachine& machine);

// Of several runs of one database, in the order named. Throws Error (exit 2) for a run that is
// named twice or more than runs_max of them.
std::vector<NumberedReport> stored_reports(const Store& store, std::span<const std::int64_t> runs,
                                           const ReportingMachine& machine);

// Indices of the front of evaluations that a run with this plan has stored, each configuration
// once.
std::vector<std::size_t> stored_front(std::span<const Evaluation> evaluations,
                                      const std::string& plan_text);

// Rows folded per case, in the order of first appearance, with what the host says about them.
// Failed rounds give their status and reason where no round has a latency.
std::vector<KernelPoint> kernel_points(std::span<const Measurement> rows,
                                       const ReportingMachine& machine);
// The same by the key of the case.
std::map<std::string, KernelPoint> points_by_key(std::span<const Measurement> rows,
                                                 const ReportingMachine& machine);

}  // namespace halmark::tune
