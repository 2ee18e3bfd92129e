// `halmark tune --proposals`: Optuna proposes, Halmark evaluates.
#include <filesystem>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/python_with.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* two_phases = R"(
[[workload]]
phase = "prefill"
batch = [1]
new_tokens = 32
context = 32
)";

class Steered : public HalmarkTest {
 protected:
  // Priced at the roofline of a known device: the same figures at every run.
  std::string priced_sweep(const std::string& more = "") const {
    return write("priced.toml", R"(
name = "priced"
model = "qwen3-0.6b"
device_file = "h200"
latency = ["roofline"]
shards = [1, 2, 4, 8]
dtypes = ["bf16", "fp8", "int8"]
strategies = ["tensor", "pipeline"]
[[workload]]
phase = "decode"
batch = [8, 16, 32, 64, 128, 256]
context = 1024
)" + more);
  }

  Outcome steer(const std::string& python, const std::string& sweep, const std::string& kind,
                const std::string& mode) const {
    Launch out = base_;
    out.arguments = {python,
                     "-B",
                     test::in_source("/tests/integration/study/steer.py"),
                     test::in_build("/bin/halmark"),
                     base_.folder,
                     sweep,
                     kind,
                     mode};
    out.limit_s = 280;
    return run(out);
  }
};

class SteeredBackEnds : public Steered, public testing::WithParamInterface<std::string> {};

TEST_P(SteeredBackEnds, generations_of_optuna_are_evaluated_as_an_unsteered_run_has_them) {
  const bool needs_server = GetParam() == "postgresql";
  const auto python = test::python_with(needs_server ? "optuna, psycopg2" : "optuna");
  if (!python) GTEST_SKIP() << "there is no Python with Optuna (pip install optuna)";
  if (needs_server) {
    if (!std::filesystem::exists("/usr/lib/postgresql")) {
      GTEST_SKIP() << "there is no PostgreSQL server";
    }
    const Outcome refused = halmark({"study", "list", "--study", "postgresql:///x"});
    if (refused.exit_code == 5) GTEST_SKIP() << refused.err;
  }
  const Outcome done = steer(*python, priced_sweep(), GetParam(), "nsga2");
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr(GetParam() + " nsga2 ok"));
}

INSTANTIATE_TEST_SUITE_P(BackEnds, SteeredBackEnds,
                         testing::Values("sqlite", "journal", "postgresql"),
                         [](const auto& info) { return info.param; });

TEST_F(Steered, what_a_sampler_enqueues_is_measured_and_what_is_no_point_fails_with_its_reason) {
  const auto python = test::python_with("optuna");
  if (!python) GTEST_SKIP() << "there is no Python with Optuna (pip install optuna)";
  know_peaks();
  const Outcome done = steer(*python, tiny_sweep("fake", "shards = [1]"), "sqlite", "tpe");
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("sqlite tpe ok"));
}

TEST_F(Steered, a_served_space_with_conditions_is_searched_by_tpe_with_constraints) {
  const auto python = test::python_with("optuna");
  if (!python) GTEST_SKIP() << "there is no Python with Optuna (pip install optuna)";
  const std::string sweep = write("served.toml", R"(
name = "served"
model = "qwen3-0.6b"
device_file = "h200"
latency = ["roofline"]
shards = [2, 4]
dtypes = ["bf16", "fp8"]
strategies = ["tensor"]
objectives = ["ttft", "tpot", "tokens_per_s_per_device"]
network_gb_per_s = 50
[request]
input_tokens = 1024
output_tokens = 128
concurrency = [8, 32, 128]
token_budget = [2048, 8192]
modes = ["aggregated", "disaggregated"]
)");
  const Outcome done = steer(*python, sweep, "sqlite", "served");
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("sqlite served ok"));
}

TEST_F(Steered, two_processes_share_a_study_and_one_takes_over_from_the_other) {
  const auto python = test::python_with("optuna");
  if (!python) GTEST_SKIP() << "there is no Python with Optuna (pip install optuna)";
  const Outcome done = steer(*python, priced_sweep(), "sqlite", "two");
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("sqlite two ok"));
}

TEST_F(Steered, what_cannot_be_steered_is_refused_in_one_line_and_nothing_is_written) {
  const std::string priced = priced_sweep();
  const std::string both = write("both.toml", read("priced.toml") + two_phases);
  const std::vector<std::string> before = files();
  const std::vector<std::pair<Arguments, const char*>> refusals = {
      {{"tune", both, "--proposals", "sqlite:s.db"}, "decode and prefill"},
      {{"tune", priced, "--proposals", "sqlite:s.db", "--sampler", "tpe"}, "--sampler"},
      {{"tune", priced, "--sampler", "proposals"}, "--proposals"},
      {{"tune", priced, "--proposals", "mysql://u:secret@h/d"}, "MySQL"},
      {{"tune", priced, "--proposals", "s.db"}, "does not say"}};
  for (const auto& [arguments, expected] : refusals) {
    const Outcome done = halmark(arguments);
    EXPECT_EQ(done.exit_code, 2) << expected << done.out << done.err;
    EXPECT_TRUE(is_one_line(done.err)) << done.err;
    EXPECT_THAT(done.err, HasSubstr(expected));
    EXPECT_THAT(done.err, Not(HasSubstr("secret")));
  }
  EXPECT_EQ(files(), before);
}

TEST_F(Steered, without_a_proposal_the_search_says_so_and_the_study_says_what_to_propose) {
  const Outcome done =
      halmark({"tune", priced_sweep(), "--proposals", "sqlite:s.db", "--proposals-wait", "0"});
  EXPECT_EQ(done.exit_code, 4) << done.out << done.err;
  EXPECT_TRUE(is_one_line(done.err)) << done.err;
  EXPECT_THAT(done.err, HasSubstr("nothing was proposed within 0 s"));
  EXPECT_EQ(sql(path("s.db"), "SELECT study_name FROM studies"), "priced");
  EXPECT_THAT(
      sql(path("s.db"), "SELECT value_json FROM study_user_attributes WHERE key = 'halmark:space'"),
      HasSubstr("CategoricalDistribution"));
}

}  // namespace
}  // namespace halmark::integration
