#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "report/report.hpp"
#include "synthetic_report.hpp"

namespace halmark {
namespace {

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

}  // namespace
}  // namespace halmark
