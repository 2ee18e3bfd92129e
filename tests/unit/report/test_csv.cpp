#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "report/report.hpp"
#include "synthetic_report.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using test::HasValues;

// RFC 4180, read independently of the writer.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        rows.back().back() += text[++i];
      } else if (c == '"') {
        is_quoted = false;
      } else {
        rows.back().back() += c;
      }
    } else if (c == '"') {
      is_quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

std::size_t column(const std::vector<std::vector<std::string>>& rows, const std::string& name) {
  const auto it = std::ranges::find(rows[0], name);
  EXPECT_NE(it, rows[0].end()) << name;
  return static_cast<std::size_t>(it - rows[0].begin());
}

TEST(csv_report, has_one_rectangular_row_per_evaluation) {
  const RunReport report = test::synthetic_report();
  const auto rows = read_csv(report_csv(report));
  ASSERT_EQ(rows.size(), report.evaluations.size() + 1);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
}

TEST(csv_report, numbers_read_back_equal) {
  const RunReport report = test::synthetic_report();
  const auto rows = read_csv(report_csv(report));
  const std::size_t latency = column(rows, "latency_ns");
  for (std::size_t i = 0; i < report.evaluations.size(); ++i) {
    if (!report.evaluations[i].estimate) continue;
    EXPECT_EQ(std::strtod(rows[i + 1][latency].c_str(), nullptr),
              report.evaluations[i].estimate->step_ns);
  }
}

TEST(csv_report, a_formula_never_starts_a_cell) {
  const auto rows = read_csv(kernels_csv(test::synthetic_report()));
  bool is_seen = false;
  for (const auto& row : rows) {
    for (const std::string& cell : row) {
      if (cell.empty()) continue;
      EXPECT_EQ(std::string("=+-@").find(cell[0]), std::string::npos) << cell;
      is_seen = is_seen || cell == std::string("'") + test::hostile_formula;
    }
  }
  EXPECT_TRUE(is_seen);
}

// Every column of both tables holds its own figure: rows whose fields all differ, by name.

// The only row by the names of its columns; no cell here has quotes or commas.
std::map<std::string, std::string> row_of(const std::string& csv) {
  const auto cells = [](const std::string& line) {
    std::vector<std::string> out;
    std::istringstream in(line.substr(0, line.find('\r')));
    for (std::string cell; std::getline(in, cell, ',');) out.push_back(cell);
    return out;
  };
  const std::size_t end = csv.find('\n');
  const auto names = cells(csv.substr(0, end)), values = cells(csv.substr(end + 1));
  std::map<std::string, std::string> out;
  for (std::size_t i = 0; i < names.size(); ++i) out[names[i]] = i < values.size() ? values[i] : "";
  return out;
}

KernelPoint distinct_kernel() {
  KernelPoint k{.key = "the key",
                .op = "gemm",
                .problem = "m=1 n=2",
                .dtype = "bf16",
                .place = "cpu:0/2.1",
                .mode = "rotate_const:4",
                .implementation = "brg",
                .isa = "avx2",
                .rounds = 3,
                .duration_ns = 11,
                .low_ns = 10,
                .high_ns = 12,
                .matmul_flops = 2000,
                .bytes = 300,
                .lower_bound_ns = 7,
                .roofline_fraction = 0.625};
  k.mfu = 0.5;
  k.path_fraction = 0.25;
  k.mfu_datasheet = 0.125;
  k.algbw_bytes_per_s = 5e9;
  k.busbw_bytes_per_s = 6e9;
  k.constant_bytes = 64;
  k.workspace_bytes = 128;
  k.one_time.create_ns = 21;
  k.one_time.pack_ns = 22;
  k.one_time.first_ns = 23;
  k.bandwidth_share = 0.52;
  k.clean_share = 0.875;
  k.bandwidth_reason = "not said beside a figure";
  return k;
}

TEST(CsvColumns, of_a_kernel_hold_its_figures) {
  const Json expected = Json::parse(R"({
      "op": "gemm", "problem": "m=1 n=2", "dtype": "bf16", "place": "cpu:0/2.1",
      "mode": "rotate_const:4", "implementation": "brg", "isa": "avx2",
      "provenance": "measured", "status": "ok", "reason": "", "clean_share": "0.875",
      "rounds": "3", "duration_ns": "11", "duration_ns_reason": "", "ci_low_ns": "10",
      "ci_high_ns": "12", "flops": "2000", "bytes": "300", "lower_bound_ns": "7", "mfu": "0.5",
      "path_fraction": "0.25", "mfu_datasheet": "0.125", "mfu_reason": "",
      "roofline_fraction": "0.625", "algbw_bytes_per_s": "5e+09", "busbw_bytes_per_s": "6e+09",
      "constant_bytes": "64", "workspace_bytes": "128", "create_ns": "21", "pack_ns": "22",
      "first_ns": "23", "bandwidth_share": "0.52", "bandwidth_share_reason": "",
      "key": "the key"})");
  RunReport report;
  report.kernels = {distinct_kernel()};
  auto row = row_of(kernels_csv(report));
  for (auto& [name, value] : row) {
    if (value == "5000000000") value = "5e+09";
    if (value == "6000000000") value = "6e+09";
  }
  EXPECT_EQ(Json(row), Json(expected.get<std::map<std::string, std::string>>()));
}

TEST(CsvColumns, of_a_kernel_without_a_time_say_why) {
  RunReport report;
  report.kernels = {{.key = "k", .op = "gemm"}};
  report.kernels[0].status = Status::timed_out;
  report.kernels[0].mfu_reason = "no time";
  report.kernels[0].bandwidth_reason = "not recorded";
  auto row = row_of(kernels_csv(report));
  EXPECT_THAT(row, HasValues(R"({"/provenance": "", "/duration_ns": "",
      "/duration_ns_reason": "no latency", "/mfu_reason": "no time", "/bandwidth_share": "",
      "/bandwidth_share_reason": "not recorded"})"));
  report.kernels[0].reason = "hung";
  row = row_of(kernels_csv(report));
  EXPECT_THAT(row, HasValues(R"({"/reason": "hung", "/duration_ns_reason": "hung"})"));
}

Evaluation distinct_evaluation() {
  Evaluation e;
  e.configuration.model = "m";
  e.configuration.workload = {.phase = Phase::prefill, .batch = 2, .new_tokens = 3, .context = 4};
  e.configuration.workload.routing_skew = 5;
  e.configuration.parallel = {.dp = 6, .tp = 7, .pp = 8, .ep = 9};
  e.estimate = Estimate{.step_ns = 11,
                        .low_ns = 10,
                        .high_ns = 12,
                        .lower_bound_ns = 9.5,
                        .tokens_per_s = 13,
                        .matmul_flops = 14,
                        .memory_bytes_per_rank = 15,
                        .memory_bytes_total = 16,
                        .mfu = 0.5,
                        .mfu_datasheet = 0.25,
                        .bottleneck = "gate"};
  e.measured_ns = 17;
  return e;
}

TEST(CsvColumns, of_an_evaluation_hold_its_figures) {
  RunReport report;
  report.evaluations = {distinct_evaluation()};
  auto row = row_of(report_csv(report));
  const Json expected = Json::parse(R"({
      "model": "m", "phase": "prefill", "batch": "2", "new_tokens": "3", "context": "4",
      "routing_skew_pct": "5", "dp": "6", "tp": "7", "pp": "8", "ep": "9", "on_front": "0",
      "status": "ok", "latency_ns": "11", "latency_ns_reason": "", "low_ns": "10",
      "high_ns": "12", "lower_bound_ns": "9.5", "tokens_per_s": "13", "matmul_flops": "14",
      "memory_bytes_per_rank": "15", "memory_bytes": "16", "mfu": "0.5",
      "mfu_datasheet": "0.25", "bottleneck": "gate", "measured_ns": "17",
      "measured_ns_reason": ""})");
  for (const auto& [name, value] : expected.items()) EXPECT_EQ(row[name], value) << name;
}

TEST(CsvColumns, of_an_evaluation_give_reasons_for_what_is_absent) {
  RunReport report;
  report.evaluations = {distinct_evaluation()};
  report.evaluations[0].measured_ns.reset();
  report.evaluations[0].estimate->mfu.reset();
  report.evaluations[0].estimate->mfu_reason = "no peak";
  auto row = row_of(report_csv(report));
  EXPECT_THAT(row, HasValues(R"({"/measured_ns": "",
      "/measured_ns_reason": "never confronted with a run", "/mfu": "", "/mfu_reason": "no peak"})"));
  report.evaluations[0].estimate.reset();
  report.evaluations[0].status = Status::refused;
  row = row_of(report_csv(report));
  EXPECT_THAT(row, HasValues(R"({"/latency_ns_reason": "refused", "/mfu_reason": "refused",
      "/memory_bytes": ""})"));
}

TEST(CsvColumns, of_a_front_point_give_its_class_and_probability) {
  RunReport report;
  report.evaluations = {distinct_evaluation()};
  report.evaluations[0].standing.emplace();
  report.evaluations[0].standing->front_class = FrontClass::possible;
  report.evaluations[0].standing->probability = 0.75;
  report.front = {{.evaluation = 0}};
  auto row = row_of(report_csv(report));
  EXPECT_THAT(row, HasValues(R"({"/on_front": "1", "/front_class": "possible",
      "/front_probability": "0.75"})"));
}

}  // namespace
}  // namespace halmark
