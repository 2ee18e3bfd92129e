// Rows that are kept without being asked for: what happens where they cannot be.
// The pages of results/schema/reference are what the program writes now.
// Kernels beside a baseline: what it is called, what is measured for it, and the scores it gives.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "measure/campaign/gate/validity.hpp"
#include "report/glossary.hpp"
#include "simulate/fabric/fabric_schema.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tune/reference/reference.hpp"
#include "tune/stored/baseline.hpp"
#include "tune/stored/kept_rows.hpp"

namespace halmark::tune {
namespace {

using testing::HasSubstr;

class KeptRowsTest : public testing::Test {
 protected:
  Measurement row() const {
    Measurement out;
    out.status = Status::ok;
    out.kernel_case.problem = {"copy", {{"bytes", 64}}};
    return out;
  }
  std::string database() const { return (folder_.path() / "kept.db").string(); }
  // A file where a folder is needed: nobody can write below it.
  std::string unwritable() const { return "/proc/version/kept.db"; }

  test::ScratchFolder folder_;
  const RunInfo run_{.command = "halmark bench", .fingerprint = "here"};
};

TEST_F(KeptRowsTest, stand_in_a_run_of_their_own_with_its_machine) {
  KeptRows kept({.database = database()}, run_, {"cpu: one"});
  kept.append(row());
  ASSERT_TRUE(kept.run());
  EXPECT_EQ(kept.reason(), "");
  const auto store = open_store_read_only(database());
  EXPECT_EQ(store->run_measurements(*kept.run()).size(), 1u);
  EXPECT_EQ(store->machine(*kept.run())->lines, std::vector<std::string>{"cpu: one"});
  EXPECT_FALSE(store->latest_sweep());
}

TEST_F(KeptRowsTest, that_cannot_be_kept_leave_a_reason_unless_they_were_asked_for) {
  KeptRows kept({.database = unwritable()}, run_, {});
  EXPECT_FALSE(kept.run());
  EXPECT_THAT(kept.reason(), testing::HasSubstr("/proc/version"));
  kept.append(row());
  const Error error = halmark::test::error_of(
      [&] { KeptRows({.database = unwritable(), .is_asked = true}, run_, {}); });
  EXPECT_NE(error.exit_code(), ExitCode::ok);
}

TEST_F(KeptRowsTest, are_off_where_that_is_wanted) {
  KeptRows kept({.database = database(), .is_off = true}, run_, {});
  kept.append(row());
  EXPECT_FALSE(kept.run());
  EXPECT_EQ(kept.reason(), "");
  EXPECT_FALSE(std::filesystem::exists(database()));
}

const std::filesystem::path pages =
    std::filesystem::path(halmark::test::in_source()) / "results/schema/reference";

TEST(Reference, no_page_is_stale) {
  for (const std::string& name : reference_names()) {
    std::ifstream file(pages / (name + ".md"));
    const std::string stored{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(stored, reference_markdown(name))
        << "write it again: halmark config schema " << name
        << " --markdown > results/schema/reference/" << name << ".md";
  }
}

TEST(Reference, there_is_no_page_of_something_else) {
  std::set<std::string> known = {"README.md", "commands.md", "envelope.md"};
  for (const std::string& name : reference_names()) known.insert(name + ".md");
  for (const auto& entry : std::filesystem::directory_iterator(pages)) {
    EXPECT_TRUE(known.contains(entry.path().filename().string())) << entry.path();
  }
}

TEST(Reference, an_unknown_one_names_the_nearest) {
  halmark::test::expect_error([] { reference_json("sweeps"); }, "'sweep'", ExitCode::refused);
}

TEST(Reference, every_key_of_a_fabric_has_a_meaning_and_every_meaning_a_key) {
  const FileSchema schema = fabric::fabric_schema();
  std::set<std::string_view> used;
  for (const auto& [path, key] : schema.keys) {
    EXPECT_FALSE(meaning_of(schema, path).empty()) << path;
    used.insert(meaning_of(schema, path));
  }
  for (const KeyMeaning& meaning : schema.meanings) {
    EXPECT_TRUE(used.contains(meaning.text)) << meaning.key;
  }
  EXPECT_GT(schema.keys.size(), 50u);
}

TEST(Baseline, is_a_backend_or_a_kernel_of_one) {
  EXPECT_EQ(parse_baseline("cpu").backend, "cpu");
  EXPECT_EQ(parse_baseline("cpu").kernel, "");
  EXPECT_EQ(parse_baseline("cpu:gemm_onednn").backend, "cpu");
  EXPECT_EQ(parse_baseline("cpu:gemm_onednn").kernel, "gemm_onednn");
  for (const char* bad : {"", ":", "cpu:", ":gemm"}) {
    const Error error = halmark::test::error_of([&] { parse_baseline(bad); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused) << bad;
    EXPECT_THAT(error.line(),
                halmark::test::has_all({"--baseline: '" + std::string(bad) + "' names no baseline",
                                        "BACKEND:KERNEL"}));
  }
}

KernelCase copy_of(std::int64_t bytes, const std::string& kernel = {}) {
  KernelCase out;
  out.problem = {"copy", {{"bytes", bytes}}};
  out.backend = "opencl";
  out.kernel = kernel;
  if (!kernel.empty()) out.config.params.set("tile", 4);
  return out;
}

TEST(Baseline, runs_each_problem_once_in_its_own_way) {
  const std::vector<KernelCase> cases = {copy_of(1, "a"), copy_of(1, "b"), copy_of(2, "a")};
  const auto base = baseline_cases(cases, {.backend = "cpu", .kernel = "c"});
  ASSERT_EQ(base.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(base[i].problem, copy_of(static_cast<std::int64_t>(i) + 1).problem);
    EXPECT_EQ(base[i].backend, "cpu");
    EXPECT_EQ(base[i].kernel, "c");
    EXPECT_TRUE(base[i].config.text().empty());
  }
  EXPECT_EQ(joined(cases, base).size(), 5u);
  EXPECT_EQ(joined(cases, std::vector{cases[1]}).size(), 3u) << "its own baseline";
  EXPECT_EQ(joined({}, base), base);
}

KernelPoint point(const std::string& problem, std::optional<double> ns, double bound_ns = 10,
                  const std::string& mode = "hot") {
  KernelPoint out;
  out.key = problem + mode;
  out.problem = problem;
  out.mode = mode;
  out.duration_ns = ns;
  out.lower_bound_ns = bound_ns;
  out.reason = "because " + problem;
  out.place = "cpu:0";
  out.implementation = "base";
  return out;
}

// S = 1 / (1 + (T - 10) / (30 - 10)): 0.5 at the baseline's 30, 0.8 at 15.
TEST(Baseline, scores_a_point_by_the_one_of_its_problem_and_mode) {
  std::vector<KernelPoint> points = {point("p", 15), point("q", 15), point("p", 15, 10, "cold")};
  score_points(points, std::vector{point("r", 1), point("p", 30)});
  ASSERT_TRUE(points[0].score);
  EXPECT_DOUBLE_EQ(*points[0].score, 0.8);
  EXPECT_EQ(points[0].baseline, "cpu:0 base");
  EXPECT_EQ(points[0].score_reason, "");
  for (const std::size_t without : {1u, 2u}) {
    EXPECT_FALSE(points[without].score);
    EXPECT_EQ(points[without].baseline, "");
    EXPECT_EQ(points[without].score_reason, "");
  }
}

TEST(Baseline, says_which_time_is_missing) {
  std::vector<KernelPoint> points = {point("p", 15), point("q", std::nullopt), point("r", 15, 0)};
  score_points(points, std::vector{point("p", std::nullopt), point("q", 1), point("r", 1)});
  EXPECT_EQ(points[0].score_reason, "the baseline has no time: because p");
  EXPECT_EQ(points[1].score_reason, "no time: because q");
  EXPECT_THAT(points[2].score_reason, HasSubstr("no bound: this device has no measured peaks"));
  for (const KernelPoint& p : points) EXPECT_FALSE(p.score);
}

TEST(Baseline, may_be_among_the_points) {
  const KernelCase base = copy_of(1);
  std::vector<KernelPoint> points = {point("p", 15), point("p", 30)};
  points[1].key = base.key();
  score_beside(points, std::vector{copy_of(9), base});
  EXPECT_DOUBLE_EQ(points[0].score.value(), 0.8);
  EXPECT_DOUBLE_EQ(points[1].score.value(), 0.5) << "against itself";
}

}  // namespace
}  // namespace halmark::tune
