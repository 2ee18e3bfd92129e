// The main job in small: plan, measure, front, reports, resume, check.
#include "tests/integration/halmark_fixture.hpp"
#include "tests/unit/journal/rehash.hpp"

namespace halmark::integration {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::StartsWith;

class Tune : public HalmarkTest {
 protected:
  static Arguments command(const Arguments& more) {
    Arguments out = {"tune", "tiny.toml", "--db", "r.db"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  Outcome tune(const Arguments& more = {}) const { return halmark(command(more)); }
  Outcome undisturbed_tune(const Arguments& more = {}) const { return undisturbed(command(more)); }
  std::int64_t measurements() const {
    return sql_count(path("r.db"), "SELECT count(*) FROM entry WHERE kind = 'measurement'");
  }
  std::int64_t rows() const { return sql_count(path("r.db"), "SELECT count(*) FROM entry"); }
};

TEST_F(Tune, the_plan_opens_no_device_and_writes_nothing) {
  tiny_sweep("fake", "shards = [1]");
  // The plugin leaves a mark as soon as anything creates it.
  base_.environment["HALMARK_FAKE_SCRIPT"] = "exit=create;once_file=" + path("opened");
  const std::vector<std::string> before = files();
  const Outcome o = tune({"--plan"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_THAT(o.out, testing::AllOf(HasSubstr("kernels"), HasSubstr("predicted"),
                                    HasSubstr("replicate"), HasSubstr("decode batch 2 f32")));
  EXPECT_EQ(files(), before);
  // The same script does leave its mark where a device is opened.
  halmark({"devices"});
  EXPECT_NE(files(), before);
}

TEST_F(Tune, the_plan_is_the_same_each_time_and_hashes_what_it_would_do) {
  tiny_sweep("fake", "shards = [1]");
  const Json first = data_of({"tune", "tiny.toml", "--plan"});
  EXPECT_EQ(data_of({"tune", "tiny.toml", "--plan"}), first);
  EXPECT_EQ(first["configurations"].size(), 2u);
  EXPECT_GT(first["kernels"].size(), 10u);
  tiny_sweep("fake", "shards = [1]\nseed = 2");
  EXPECT_NE(data_of({"tune", "tiny.toml", "--plan"})["hash"], first["hash"]);
}

TEST_F(Tune, measures_a_front_and_writes_every_report) {
  tiny_sweep("fake", "shards = [1]");
  const Outcome o = undisturbed_tune(
      {"--json", "--out", "r.html", "--out", "r.json", "--out", "r.csv", "--out", "r.md"});
  ASSERT_EQ(o.exit_code, 0) << o.out << o.err;
  const Json front = envelope_of(o.out)["data"]["front"];
  ASSERT_FALSE(front.empty());
  for (const Json& point : front) {
    EXPECT_THAT(keys(point), IsSupersetOf({"config", "objectives", "interval", "provenance",
                                           "bottleneck", "predicted_ns", "measured_ns"}));
    EXPECT_EQ(point["provenance"], "measured");
    const double predicted = point["predicted_ns"];
    EXPECT_GT(predicted, 0);
    EXPECT_LE(point["interval"]["low_ns"], predicted);
    EXPECT_GE(point["interval"]["high_ns"], predicted);
    // One new token a sequence and step.
    const double batch = point["config"]["batch"];
    EXPECT_NEAR(point["objectives"]["tokens_per_s"].get<double>(), batch / predicted * 1e9,
                batch / predicted);
    // Never validated here: absent, with a reason.
    EXPECT_TRUE(point["measured_ns"].is_null());
    EXPECT_NE(point["measured_ns_reason"], "");
  }
  EXPECT_EQ(measurements(), 2 * static_cast<std::int64_t>(
                                    data_of({"tune", "tiny.toml", "--plan"})["kernels"].size()));

  EXPECT_EQ(parse_json(read("r.json"), "r.json")["front"], front);
  EXPECT_THAT(read("r.html"), testing::AllOf(StartsWith("<!doctype html>"),
                                             HasSubstr("id=\"front\""), HasSubstr("<svg")));
  // Nothing is loaded, and the one script is within.
  EXPECT_THAT(read("r.html"), testing::Not(testing::ContainsRegex("(src|href) ?= ?.?https?:")));
  ASSERT_THAT(read("r.html"), HasSubstr("<script>"));
  EXPECT_EQ(read("r.html").find("<script>"), read("r.html").rfind("<script"));
  EXPECT_THAT(read("r.md"), HasSubstr("| "));
  const std::string csv = read("r.csv");
  EXPECT_THAT(csv, HasSubstr("\r\n"));
  for (const char* name : {"r.html", "r.json", "r.csv", "r.md"}) {
    const std::string text = read(name);
    for (const char* absent : {"NaN", "nan,", ",inf", "Infinity"}) {
      EXPECT_EQ(text.find(absent), std::string::npos) << name << " has " << absent;
    }
  }
}

TEST_F(Tune, the_configurations_are_a_study_beside_the_database) {
  tiny_sweep("fake", "shards = [1]");
  ASSERT_EQ(undisturbed_tune().exit_code, 0);
  const Json studies = data_of({"study", "list", "--db", "r.db"})["studies"];
  ASSERT_EQ(studies.size(), 1u) << studies;
  const std::string name = studies[0]["name"];
  EXPECT_THAT(name, HasSubstr("decode"));
  const Json shown = data_of({"study", "show", name, "--all", "--db", "r.db"});
  EXPECT_EQ(shown["states"]["COMPLETE"], 2);
  EXPECT_EQ(shown["trials_all"][0]["params"], Json({{"batch", 1}})) << "the rest has one value";
  // The same command again adds nothing.
  ASSERT_EQ(tune().exit_code, 0);
  EXPECT_EQ(data_of({"study", "show", name, "--db", "r.db"})["trials"], 2);
}

TEST_F(Tune, a_study_file_of_somebody_else_is_left_alone_and_nothing_is_lost) {
  tiny_sweep("fake", "shards = [1]");
  write("r.db.study", "a letter");
  const Outcome o = undisturbed_tune();
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out + o.err, HasSubstr("W-STUDY-02"));
  EXPECT_EQ(read("r.db.study"), "a letter");
}

TEST_F(Tune, a_second_run_measures_nothing_again) {
  tiny_sweep("fake", "shards = [1]");
  const Outcome first = undisturbed_tune({"--json"});
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  const std::int64_t before = rows();
  // Whatever were measured now would be a failed row.
  base_.environment["HALMARK_FAKE_SCRIPT"] = "crash=prepare";
  const Outcome second = tune({"--json"});
  EXPECT_EQ(second.exit_code, 0) << second.out << second.err;
  EXPECT_EQ(rows(), before);
  EXPECT_EQ(envelope_of(second.out)["data"]["front"], envelope_of(first.out)["data"]["front"]);
  EXPECT_EQ(sql_count(path("r.db"), "SELECT count(*) FROM run"), 1);
  EXPECT_THAT(envelope_of(second.out)["data"]["notes"].dump(),
              testing::AllOf(HasSubstr("stored figures of run 1"), HasSubstr("--rerun")));
  EXPECT_EQ(envelope_of(first.out)["data"]["notes"].dump().find("stored figures"),
            std::string::npos);
  // A run of its own, and none of the first one's rows.
  const Outcome again = tune({"--again", "--json"});
  EXPECT_EQ(again.exit_code, 4) << again.err;
  EXPECT_EQ(envelope_of(again.out)["data"]["validity"], "none");
  EXPECT_EQ(sql_count(path("r.db"), "SELECT count(*) FROM run"), 2);
  EXPECT_EQ(rows(), 2 * before) << "each failure is a row";
}

TEST_F(Tune, a_report_is_about_the_machine_of_its_run) {
  tiny_sweep("fake", "shards = [1]");
  ASSERT_EQ(undisturbed_tune({"--json"}).exit_code, 0);
  const Json there = data_of({"report", "--db", "r.db"})["machine"];
  EXPECT_THAT(there.dump(), HasSubstr("fingerprint"));
  sql(path("r.db"), "UPDATE run SET fingerprint = 'another machine'");
  test::rehash(path("r.db"));  // as if it had been measured there
  EXPECT_EQ(data_of({"report", "--db", "r.db"})["machine"], there);
}

TEST_F(Tune, a_worker_that_dies_once_is_replaced_and_its_row_says_so) {
  tiny_sweep("fake", "shards = [1]");
  base_.environment["HALMARK_FAKE_SCRIPT"] =
      "crash=enqueue;after=40;once_file=" + path("crashed_once");
  const Outcome o = undisturbed_tune({"--json"});
  EXPECT_EQ(o.exit_code, 0) << o.out << o.err;
  EXPECT_TRUE(std::filesystem::exists(path("crashed_once"))) << "no worker was crashed";
  EXPECT_EQ(sql_count(path("r.db"),
                      "SELECT count(*) FROM entry WHERE body LIKE '%worker_replaced%crashed%'"),
            1);
}

TEST_F(Tune, a_sweep_whose_every_trial_failed_ends_with_4_and_an_empty_front) {
  tiny_sweep("fake", "shards = [1]");
  base_.environment["HALMARK_FAKE_SCRIPT"] = "crash=prepare";
  const Outcome o = tune({"--json"});
  EXPECT_EQ(o.exit_code, 4) << o.err;
  const Json e = envelope_of(o.out);
  EXPECT_EQ(e["status"], "partial");
  EXPECT_TRUE(e["data"]["front"].empty());
  // Every case has its row for every round all the same.
  EXPECT_EQ(measurements(), 50);
  EXPECT_GT(sql_count(path("r.db"), "SELECT count(*) FROM entry WHERE body LIKE '%\"crashed\"%'"),
            0);
}

TEST_F(Tune, report_tells_the_stored_run_again_without_a_plugin) {
  tiny_sweep("fake", "shards = [1]");
  const Outcome o = undisturbed_tune({"--json"});
  ASSERT_EQ(o.exit_code, 0) << o.out << o.err;
  base_.environment["HALMARK_PLUGIN_PATH"] = path("nothing-here");
  EXPECT_EQ(data_of({"report", "--db", "r.db", "--out", "again.html"})["front"],
            envelope_of(o.out)["data"]["front"]);
  EXPECT_THAT(read("again.html"), HasSubstr("id=\"front\""));
}

TEST_F(Tune, verify_passes_and_finds_one_changed_byte) {
  tiny_sweep("fake", "shards = [1]");
  ASSERT_EQ(undisturbed_tune().exit_code, 0);
  const Json good = data_of({"verify", "r.db"});
  EXPECT_EQ(good["runs"], 1);
  EXPECT_EQ(good["entries"], rows());
  EXPECT_TRUE(good["findings"].empty());
  sql(path("r.db"),
      "UPDATE entry SET body = replace(body, '\"fake\"', '\"fakE\"') WHERE id = "
      "(SELECT min(id) FROM entry WHERE kind = 'measurement' AND body LIKE '%\"fake\"%')");
  const std::string row =
      sql(path("r.db"), "SELECT min(id) FROM entry WHERE body GLOB '*\"fakE\"*'");
  ASSERT_NE(row, "");
  const Outcome o = halmark({"verify", "r.db", "--json"});
  EXPECT_EQ(o.exit_code, 2);
  const Json findings = envelope_of(o.out)["data"]["findings"];
  ASSERT_FALSE(findings.empty());
  bool is_named = false;
  for (const Json& f : findings) is_named |= f["table"] == "entry" && f["row"].dump() == row;
  EXPECT_TRUE(is_named) << findings.dump();
}

TEST_F(Tune, works_on_the_cpu_with_validation) {
#ifndef HALMARK_HAS_CPU
  GTEST_SKIP() << "the cpu plugin was not built";
#endif
  tiny_sweep("cpu", "shards = [1]");
  know_peaks();
  const Outcome o = undisturbed_tune({"--validate=all", "--json"});
  ASSERT_EQ(o.exit_code, 0) << o.out << o.err;
  const Json front = envelope_of(o.out)["data"]["front"];
  ASSERT_FALSE(front.empty());
  for (const Json& point : front) {
    EXPECT_TRUE(is_figure_or_has_reason(point, "measured_ns"));
    EXPECT_TRUE(is_figure_or_has_reason(point, "prediction_error"));
    EXPECT_TRUE(is_figure_or_has_reason(point, "composition_error"));
  }
  EXPECT_EQ(sql_count(path("r.db"), "SELECT count(*) FROM entry WHERE kind = 'validation'"),
            static_cast<std::int64_t>(front.size()));
  EXPECT_TRUE(data_of({"verify", "r.db"})["findings"].empty());
}

}  // namespace
}  // namespace halmark::integration
