// Runs joined by configuration: every cell by hand.
#include "report/page/run_sides.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "core/json/json.hpp"
#include "report/page/runs_page.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Evaluation evaluated(std::int64_t batch, double step_ns, double tokens_per_s, Phase phase) {
  Evaluation out;
  out.configuration = {
      .model = "m",
      .precision = {.name = "bf16"},
      .workload = {.phase = phase, .batch = batch, .new_tokens = 1, .context = 64}};
  out.estimate = Estimate{.step_ns = step_ns, .tokens_per_s = tokens_per_s};
  out.estimate->memory_bytes_total = batch << 30;
  return out;
}

// Batches 1 and 2 in both runs, 4 in the second alone; a prefill in the first; one refused.
std::vector<NumberedReport> two_runs() {
  NumberedReport first{3, {.title = "one", .model = "m", .started_utc = "2026-11-21"}},
      second{7, {.title = "two", .model = "m", .started_utc = "2026-11-22"}};
  first.report.evaluations = {evaluated(1, 1e6, 1000, Phase::decode),
                              evaluated(2, 2e6, 1500, Phase::decode),
                              evaluated(1, 9e6, 7000, Phase::prefill)};
  second.report.evaluations = {evaluated(2, 1.5e6, 2000, Phase::decode),
                               evaluated(1, 1.1e6, 900, Phase::decode),
                               evaluated(4, 5e5, 4000, Phase::decode)};
  second.report.evaluations[2].status = Status::invalid;
  first.report.front = {{.evaluation = 0}};
  second.report.front = {{.evaluation = 0}, {.evaluation = 1}};
  return {first, second};
}

std::vector<std::string> texts_of(const std::vector<TableCell>& row) {
  std::vector<std::string> out;
  for (const TableCell& cell : row) out.push_back(cell.text);
  return out;
}

TEST(RunsSideBySide, each_run_has_the_best_of_its_figures) {
  const Table table = runs_table(two_runs());
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_THAT(texts_of(table.rows[0]), ElementsAre("run 3", "one", "m", "2026-11-21", "3", "1",
                                                   "1.00 ms", "7000", "1.00 GiB"));
  EXPECT_THAT(texts_of(table.rows[1]), ElementsAre("run 7", "two", "m", "2026-11-22", "3", "2",
                                                   "1.10 ms", "2000", "1.00 GiB"))
      << "without the one that is invalid";
  EXPECT_EQ(table.rows[1][6].value, 1.1e6);
  std::vector<NumberedReport> none = two_runs();
  for (Evaluation& e : none[0].report.evaluations) e.estimate.reset();
  EXPECT_THAT(texts_of(runs_table(none).rows[0]),
              ElementsAre("run 3", "one", "m", "2026-11-21", "3", "1", "-", "-", "-"));
}

TEST(RunsSideBySide, each_configuration_has_its_figures_in_every_run) {
  const std::vector<NumberedReport> runs = two_runs();
  const std::vector<SideRow> rows = side_rows(runs);
  ASSERT_EQ(rows.size(), 4u);
  const Table table = sides_table(runs, rows, Phase::decode);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_THAT(texts_of(table.rows[0]), ElementsAre(testing::StartsWith("b1 "), "1.00 ms", "1.10 ms",
                                                   "+10.0 %", "1000", "900", "run 3, run 7"));
  EXPECT_THAT(texts_of(table.rows[1]), ElementsAre(testing::StartsWith("b2 "), "2.00 ms", "1.50 ms",
                                                   "-25.0 %", "1500", "2000", "run 7"));
  EXPECT_THAT(texts_of(table.rows[2]),
              ElementsAre(testing::StartsWith("b4 "), "-", "-", "-", "-", "-", "-"));
  EXPECT_EQ(table.rows[0][0].note, rows[0].key);
  EXPECT_EQ(sides_table(runs, rows, Phase::prefill).rows.size(), 1u);
  EXPECT_EQ(rows[2].change(), std::nullopt) << "evaluated once";
}

TEST(RunsSideBySide, a_time_that_is_none_is_absent) {
  std::vector<NumberedReport> runs = two_runs();
  runs[0].report.evaluations[0].estimate->step_ns = 0;
  runs[0].report.evaluations[1].estimate->step_ns = std::numeric_limits<double>::infinity();
  const std::vector<SideRow> rows = side_rows(runs);
  EXPECT_EQ(rows[0].latency_ns(0), std::nullopt);
  EXPECT_EQ(rows[1].tokens_per_s(0), std::nullopt);
  EXPECT_EQ(rows[0].latency_ns(1), 1.1e6);
}

TEST(RunsSideBySide, are_written_by_suffix) {
  const test::ScratchFolder folder;
  const std::vector<NumberedReport> runs = two_runs();
  write_runs(runs, folder / "a.md");
  const std::string text = test::file_bytes(folder / "a.md");
  EXPECT_THAT(text, testing::StartsWith("# 2 runs side by side\n\n| run | sweep |"));
  EXPECT_THAT(text, HasSubstr("\n## decode\n\n| configuration |"));
  EXPECT_THAT(text, HasSubstr("\n## prefill\n\n| configuration |"));
  EXPECT_THAT(text, testing::EndsWith("which of them are more than noise.\n"));
  EXPECT_THAT(runs_text(runs, 200), HasSubstr("\nprefill\nconfiguration"));
  write_runs(runs, folder / "a.json");
  EXPECT_EQ(parse_json(test::file_bytes(folder / "a.json"), "a"), runs_json(runs));
  EXPECT_EQ(runs_json(runs)["configurations"][1]["runs"][0]["is_on_front"], false);
  EXPECT_EQ(runs_json(runs)["runs"][1]["front"], 2);
  write_runs(runs, folder / "a.html");
  EXPECT_EQ(test::file_bytes(folder / "a.html"), runs_html(runs));
  test::expect_error([&] { write_runs(runs, folder / "a.csv"); },
                     "unknown format of several runs '.csv'", ExitCode::refused);
}

}  // namespace
}  // namespace halmark::report
