// Variants compared, winners stored, listed and used. The fake's scripted clock makes block 32 with
// wide the fastest way of its gemm; without a choice it runs naive.
#include "tests/integration/halmark_fixture.hpp"

#include "tests/unit/case_name.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

// Longer than what the fake needs to compute, which a sanitizer makes ten times as long.
#ifdef __SANITIZE_ADDRESS__
constexpr const char* scripted_latency = "latency_ns=6000000";
#else
constexpr const char* scripted_latency = "latency_ns=300000";
#endif

class Variants : public HalmarkTest {
 protected:
  Variants() {
    base_.environment["HALMARK_FAKE_SCRIPT"] =
        std::string("timer=device_event;") + scripted_latency;
  }

  Arguments bench(Arguments more) const {
    Arguments out{"bench", "--op",      "gemm", "--params",  "m=8,n=16,k=32", "--dtype",
                  "f32",   "--backend", "fake", "--seconds", "0.002"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  // On a machine without a quiet moment a round or two may be quarantined: the others decide.
  void store_winners(const std::string& sweep) const {
    const Outcome o =
        halmark({"bench", "--sweep", sweep, "--op", "gemm", "--variants", "fake_gemm:impl=wide",
                 "--backend", "fake", "--seconds", "0.002", "--store"});
    EXPECT_THAT(o.exit_code, testing::AnyOf(0, 4)) << o.out << o.err;
  }
  std::string database() const { return path("state/halmark/halmark.db"); }
};

TEST_F(Variants, all_are_measured_and_the_fastest_wins) {
  const Outcome text = halmark(bench({"--variants", "all"}));
  EXPECT_THAT(text.exit_code, testing::AnyOf(0, 4)) << text.err;
  EXPECT_THAT(text.out, HasSubstr("winner: fake_gemm block=32 impl=wide"));
  EXPECT_THAT(text.out, HasSubstr("not measured: 1 configs of fake_gemm"));
  const Json data = envelope_of(halmark(bench({"--variants", "all", "--json"})).out)["data"];
  EXPECT_EQ(data["rows"].size(), 7u);
  const Json& problem = data["problems"][0];
  EXPECT_THAT(problem["key"].get<std::string>(), HasSubstr("fake:0/1x1 | rotate_const"));
  EXPECT_EQ(problem["winner"]["chosen"]["config"]["labels"]["impl"], "wide");
  EXPECT_EQ(problem["winner"]["chosen"]["is_default"], false);
  EXPECT_EQ(sql_count(path("state/halmark/halmark.db"),
                      "SELECT count(*) FROM entry WHERE kind = 'winner'"),
            0);
}

// Without a sweep in the database, report says what was printed last.
TEST_F(Variants, rows_of_a_bench_are_reported_as_they_were_printed) {
  const Outcome printed = halmark(bench({}));
  EXPECT_THAT(printed.exit_code, testing::AnyOf(0, 4)) << printed.err;
  const Outcome reported = halmark({"report"});
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_THAT(reported.out, HasSubstr(printed.out.substr(printed.out.find("\nproblem "))));
  EXPECT_THAT(reported.out, testing::StartsWith("halmark bench --op gemm"));
  for (const char* of_a_front : {"no front", "composition error"}) {
    EXPECT_THAT(reported.out, testing::Not(HasSubstr(of_a_front)));
  }
}

TEST_F(Variants, a_stored_winner_is_listed_verified_and_used_by_tune) {
  const std::string sweep = tiny_sweep("fake", "shards = [1]\n");
  const Json before = data_of({"tune", sweep, "--plan"});
  EXPECT_EQ(before["winners"], 0);

  store_winners(sweep);
  const Json listed = data_of({"winners"})["winners"];
  ASSERT_FALSE(listed.empty());
  for (const Json& w : listed) {
    EXPECT_THAT(w["key"].get<std::string>(), HasSubstr("gemm"));
    EXPECT_EQ(w["winner"]["chosen"]["config"]["labels"]["impl"], "wide");
  }

  const Json plan = data_of({"tune", sweep, "--plan"});
  EXPECT_NE(plan["hash"], before["hash"]);
  EXPECT_GE(plan["winners"], listed.size());
  std::size_t wide = 0;
  for (const Json& kernel : plan["kernels"]) {
    const bool is_gemm = kernel.get<std::string>().starts_with("gemm ");
    EXPECT_EQ(kernel.get<std::string>().find("impl=wide") != std::string::npos, is_gemm);
    wide += is_gemm;
  }
  EXPECT_EQ(plan["winners"], wide);
  EXPECT_THAT(halmark({"tune", sweep, "--plan"}).out, HasSubstr("kernels run a stored winner"));
  EXPECT_EQ(data_of({"tune", sweep, "--plan", "--no-winners"})["hash"], before["hash"]);

  EXPECT_EQ(halmark({"verify"}).exit_code, 0);
  EXPECT_EQ(sql_count(database(), "SELECT count(*) FROM entry WHERE kind = 'winner'"),
            static_cast<std::int64_t>(listed.size()));
}

TEST_F(Variants, tune_measures_the_winning_variant) {
  know_peaks();
  const std::string sweep = tiny_sweep("fake", "shards = [1]\n");
  store_winners(sweep);
  const Outcome tuned = halmark({"tune", sweep});
  EXPECT_THAT(tuned.exit_code, testing::AnyOf(0, 4)) << tuned.out << tuned.err;
  EXPECT_GT(sql_count(database(),
                      "SELECT count(*) FROM entry WHERE kind = 'measurement' AND key LIKE 'gemm%' "
                      "AND key LIKE '%impl=wide%' AND run = (SELECT max(id) FROM run)"),
            0);
  EXPECT_EQ(sql_count(database(),
                      "SELECT count(*) FROM entry WHERE kind = 'measurement' AND key LIKE 'gemm%' "
                      "AND key NOT LIKE '%impl=wide%' AND run = (SELECT max(id) FROM run)"),
            0);
}

struct Refusal {
  Arguments arguments;
  const char* part;  // of the one line on stderr
};

class VariantRefusal : public Variants, public testing::WithParamInterface<Refusal> {};

TEST_P(VariantRefusal, says_what_is_wrong_in_one_line_and_writes_nothing) {
  const Outcome o = halmark(GetParam().arguments);
  EXPECT_EQ(o.exit_code, 2) << o.out;
  EXPECT_THAT(o.err, HasSubstr(GetParam().part));
  EXPECT_TRUE(is_one_line(o.err));
  EXPECT_EQ(o.out, "");
  EXPECT_THAT(files(), testing::IsEmpty());
}

const Arguments gemm{"bench",    "--op",          "gemm",    "--backend", "fake",
                     "--params", "m=8,n=16,k=32", "--dtype", "f32",       "--variants"};

Arguments with(Arguments base, const Arguments& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

INSTANTIATE_TEST_SUITE_P(
    Examples, VariantRefusal,
    testing::Values(Refusal{with(gemm, {"fake_gem"}), "did you mean 'fake_gemm'"},
                    Refusal{with(gemm, {"fake_copy"}), "is of op copy"},
                    Refusal{with(gemm, {"fake_gemm:block"}), "is not parameter=value"},
                    Refusal{with(gemm, {"fake_gemm:block=9"}), "no value '9'"},
                    Refusal{with(gemm, {"all", "--kernel", "fake_gemm"}), "--kernel"},
                    Refusal{with(gemm, {"all", "--store", "--rounds", "2"}), "3 rounds"},
                    Refusal{{"bench", "--sweep", "a.toml"}, "--sweep is for --variants"},
                    Refusal{{"bench", "--dtype", "f32"}, "--op is required"},
                    Refusal{{"new-plugin", "My-NPU"}, "is no name of a backend"},
                    Refusal{{"new-plugin", ""}, "is no name of a backend"}),
    [](const auto& info) {
      return test::case_name({info.param.arguments.back(), info.param.part});
    });

TEST_F(Variants, new_plugin_writes_a_project_into_an_empty_folder_only) {
  const Json data = data_of({"new-plugin", "npu", "--out", path("npu")});
  EXPECT_THAT(data["files"], testing::ElementsAre("CMakeLists.txt", "README.md", "plugin.cpp"));
  for (const Json& file : data["files"]) {
    const std::string text = read("npu/" + file.get<std::string>());
    EXPECT_THAT(text, testing::Not(HasSubstr("@NAME@"))) << file;
    EXPECT_THAT(text, HasSubstr("npu")) << file;
  }
  const Outcome again = halmark({"new-plugin", "npu", "--out", path("npu")});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("not empty"));
  write("file", "x");
  EXPECT_THAT(halmark({"new-plugin", "npu", "--out", path("file")}).err,
              HasSubstr("a file of this name"));
}

}  // namespace
}  // namespace halmark::integration
