// Where the times of a figure are from: which tables and series beside which provenance, and what
// of them was not believed. One wording for all reports.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/table_use.hpp"
#include "core/json/json_type.hpp"
#include "core/latency.hpp"

namespace halmark {

// Shares of one step's time.
struct TimesFrom {
  std::map<Provenance, double> provenance;
  std::map<std::string, double> series;  // by origin: "gemm.csv: gemm bf16 torch_flow"
  std::size_t quarantined = 0;           // operators with a more trusted time that cannot be true
  std::string example;                   // its operator and why

  void add(const std::string& name, double ns, const Latency& latency);
  void finish(double total_ns);  // times become shares
};

TimesFrom times_from(const Estimate& estimate);

namespace report {

// "imported 10.4 %, interpolated 85.0 %"; between rows of forecasts alone it is "forecast".
std::string shares_text(const std::map<Provenance, double>& shares,
                        const std::vector<TableUse>& tables = {});
// "gemm.csv: gemm bf16 torch_flow 55.1 %; ..."
std::string series_text(const TimesFrom& from);
// "imported 10.4 % [1], interpolated 85.0 % [1][2]": with the numbers of table_lines.
std::string times_text(const TimesFrom& from, const std::vector<TableUse>& tables);

// Every table with what of it was used, numbered, and what was passed over.
std::vector<std::string> table_lines(const std::vector<TableUse>& tables);

Json times_json(const TimesFrom& from);

}  // namespace report
}  // namespace halmark
