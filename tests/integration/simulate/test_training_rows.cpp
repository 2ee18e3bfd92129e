// Published training figures through the program: every row of tests/data/published_mfu.json as a
// question to `halmark model`, and the memory of published runs.
#include <cmath>
#include <cstdio>
#include <map>

#include "core/numeric/statistics.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/unit/model/utilisation/training_memory_rows.hpp"
#include "tests/unit/model/utilisation/training_rows.hpp"

namespace halmark::integration {
namespace {

using published::TrainingError;
using published::TrainingKind;
using published::TrainingRow;
using testing::HasSubstr;

class TrainingRows : public HalmarkTest {
 protected:
  double flops_of(const TrainingRow& row) const {
    Arguments arguments = {"model",
                           row.config.empty() ? row.model : write("config.json", row.config)};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    arguments.emplace_back("--json");
    return data_of(arguments)["convention"]["flops_per_step"].get<double>();
  }

  std::vector<TrainingError> errors() const {
    return published::training_errors(rows_, [this](const TrainingRow& r) { return flops_of(r); });
  }

  published::TrainingRows rows_ = published::training_rows();
};

std::vector<TrainingError> of_kind(const std::vector<TrainingError>& all, TrainingKind kind) {
  std::vector<TrainingError> out;
  for (const TrainingError& e : all) {
    if (e.row->kind == kind) out.push_back(e);
  }
  return out;
}

void print(const char* what, const std::vector<TrainingError>& errors) {
  std::printf("%s: %zu figures, median %.4f %%, largest %.3f %%\n", what, errors.size(),
              100 * published::median_error(errors), 100 * published::largest_error(errors));
}

TEST_F(TrainingRows, every_row_is_stated_as_printed_or_has_its_reason) {
  EXPECT_EQ(rows_.rows, 302);
  int without = 0;
  for (const auto& [reason, count] : rows_.reasons) {
    std::printf("%d rows: %s\n", count, reason.c_str());
    EXPECT_THAT(reason, testing::Not(HasSubstr("nobody reads")));
    without += count;
  }
  EXPECT_EQ(without, 16);
  const std::vector<TrainingError> all = errors();
  print("all", all);
  for (const TrainingKind kind : {TrainingKind::dense, TrainingKind::mixture,
                                  TrainingKind::fine_tuning, TrainingKind::count}) {
    print(std::string(published::kind_name(kind)).c_str(), of_kind(all, kind));
  }
  // Beyond what the last printed places allow of figure and rate.
  for (const TrainingError& e : all) {
    const double limit = e.row->kind == TrainingKind::count ? 0.0105 : 0.01;
    EXPECT_LT(std::abs(e.relative), limit + e.row->rounding) << e.row->name;
  }
  EXPECT_LE(published::median_error(of_kind(all, TrainingKind::dense)), 4e-4);
}

// Reserved is more than allocated, which is what the program states.
TEST_F(TrainingRows, memory_of_published_runs_is_near_what_was_reserved) {
  std::vector<double> errors;
  for (const published::MemoryRow& row : published::memory_rows()) {
    Arguments arguments = {"model", write("config.json", row.config)};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    arguments.emplace_back("--json");
    const Json training = data_of(arguments)["training"];
    EXPECT_EQ(training["memory_kind"], "allocated");
    EXPECT_EQ(row.kind, "reserved");
    const double gib = training["memory"]["total_bytes"].get<double>() / 0x1p30;
    errors.push_back(std::abs(gib / row.printed_gib - 1));
    std::printf("%s: %.1f of %.1f GiB\n", row.name.c_str(), gib, row.printed_gib);
    EXPECT_LE(errors.back(), 0.3) << row.name;
  }
  ASSERT_EQ(errors.size(), 19u);
  EXPECT_LE(median(errors), 0.15);
}

}  // namespace
}  // namespace halmark::integration
