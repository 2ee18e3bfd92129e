// What a newcomer does in the first hour and met something in the way: nothing asked for is left
// out, nothing is lost, and a refusal points to the help that has the answer.
#include <filesystem>
#include <sstream>

#include "../unit/journal/rehash.hpp"
#include "halmark_fixture.hpp"

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class FirstHour : public HalmarkTest {};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST_F(FirstHour, simulate_writes_every_file_that_was_asked_for) {
  const Outcome o = halmark({"simulate", "qwen3-0.6b", "--device", "h100-sxm", "--fabric",
                             "nvlink-node", "--shards", "2", "--html", "page.html", "--perfetto",
                             "trace.json", "--events", "events.jsonl"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, testing::EndsWith("written: page.html\n"));
  EXPECT_THAT(o.out, HasSubstr(" a step: ")) << "the answer is printed beside the files";
  EXPECT_THAT(read("page.html"), HasSubstr("</html>"));
  EXPECT_FALSE(Json::parse(read("trace.json"))["traceEvents"].empty());
  std::istringstream events(read("events.jsonl"));
  std::string line;
  ASSERT_TRUE(std::getline(events, line));
  EXPECT_TRUE(Json::parse(line).is_object());
}

class ExportTwice : public FirstHour {
 protected:
  void SetUp() override {
    write("s.toml", served_sweep);
    ASSERT_EQ(halmark({"tune", "s.toml", "--db", "x.db"}).exit_code, 0);
  }
  Outcome exported(const std::string& pick, Arguments more = {}) const {
    Arguments all = {"export", "--db",   "x.db", "--as",  "vllm", "--server-version",
                     "0.24.0", "--pick", pick,   "--out", "out/"};
    all.insert(all.end(), more.begin(), more.end());
    return halmark(all);
  }
};

TEST_F(ExportTwice, a_config_that_was_edited_is_not_overwritten_unasked) {
  EXPECT_THAT(exported("best:tpot").out, HasSubstr("written: out/config.yaml"));
  EXPECT_THAT(exported("best:tpot").out, HasSubstr("unchanged: out/config.yaml"));
  const std::string edited = read("out/config.yaml") + "# by hand\n";
  write("out/config.yaml", edited);
  const std::string script = read("out/launch.sh");
  const Outcome refused = exported("best:tokens_per_s_per_device");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(is_one_line(refused.err)) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("--overwrite"));
  EXPECT_EQ(read("out/config.yaml"), edited);
  EXPECT_EQ(read("out/launch.sh"), script) << "all of them or none";
  const Outcome replaced = exported("best:tpot", {"--overwrite"});
  EXPECT_EQ(replaced.exit_code, 0) << replaced.err;
  EXPECT_THAT(replaced.out, HasSubstr("replaced: out/config.yaml"));
  EXPECT_THAT(read("out/config.yaml"), Not(HasSubstr("by hand")));
}

TEST_F(ExportTwice, figures_for_other_tools_are_written_anew_every_night) {
  const Arguments all = {"export", "--db", "x.db", "--as", "prometheus", "--front", "--out", "m/"};
  EXPECT_THAT(halmark(all).out, HasSubstr("written: m/halmark.prom"));
  write("m/halmark.prom", "of another night\n");
  EXPECT_THAT(halmark(all).out, HasSubstr("replaced: m/halmark.prom"));
}

TEST_F(FirstHour, a_history_says_what_is_there_before_it_says_why_there_is_no_verdict) {
  tiny_sweep("fake", "shards = [1]");
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;timer=device_event";
  tune_tiny("r.db");
  const Json data = data_of({"history", "--db", "r.db"});
  const Outcome o = halmark({"history", "--db", "r.db"});
  EXPECT_THAT(first_line(o.out),
              testing::AllOf(
                  StartsWith(std::to_string(data["series"].size()) + " series over 1 run up to 20"),
                  HasSubstr("needs 6 nights with sound rows, the longest has 1")));
  EXPECT_THAT(o.out, Not(HasSubstr("WAITING with")));
}

TEST_F(FirstHour, a_usage_error_points_to_the_help_of_its_own_command) {
  EXPECT_THAT(halmark({"model", "llama-3.1-8b", "--kernel-ms"}).err,
              HasSubstr("see halmark model --help"));
  EXPECT_THAT(halmark({"tune", "--shards-on"}).err, HasSubstr("see halmark tune --help"));
  EXPECT_THAT(halmark({"simulate", "serving", "--rate"}).err,
              HasSubstr("see halmark simulate serving --help"));
}

TEST_F(FirstHour, memory_is_said_in_units_that_can_be_compared) {
  const Outcome step = halmark({"model", "llama-3.1-70b", "--device", "h100-sxm"});
  EXPECT_THAT(step.out, HasSubstr("does not fit h100-sxm: 132 GiB a rank and 79.2 GiB there"));
  const Outcome tune = halmark({"tune", "llama-3.1-70b", "--device", "h100-sxm", "--devices", "8",
                                "--input", "2000", "--output", "300", "--db", "x.db", "--json"});
  // 115443122176 bytes = 107.51 GiB, of which 0.9 x 79.19 GiB = 71.27 GiB may be used.
  EXPECT_THAT(tune.out, testing::ContainsRegex("a rank needs [0-9.]+ GiB and [0-9.]+ GiB may be"));
  EXPECT_THAT(tune.out, Not(testing::ContainsRegex("a rank needs [0-9]+ bytes")));
}

TEST_F(FirstHour, a_file_of_studies_can_be_named_where_its_study_would_be) {
  write("s.toml", served_sweep);
  ASSERT_EQ(halmark({"tune", "s.toml", "--db", "x.db"}).exit_code, 0);
  const Json by_option = data_of({"study", "show", "--study", "sqlite:x.db.study"});
  EXPECT_EQ(data_of({"study", "show", "x.db.study"}), by_option);
  EXPECT_EQ(data_of({"study", "show", "sqlite:x.db.study"}), by_option);
  EXPECT_EQ(data_of({"study", "show", by_option["name"], "--db", "x.db"}), by_option);
  EXPECT_THAT(halmark({"study", "show", "x.db.studie", "--db", "x.db"}).err,
              HasSubstr("there is no study 'x.db.studie'"));
}

// A command that writes brings an older database forward; what it was lies beside it.
TEST_F(FirstHour, an_older_database_is_kept_before_it_is_changed) {
  write("s.toml", served_sweep);
  tiny_sweep("fake", "shards = [1]");
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;timer=device_event";
  tune_tiny("r.db");
  test::turn_into_version(path("r.db"), 2);
  write("backups", "a file where the folder would be");
  const Outcome blocked = halmark({"tune", "tiny.toml", "--db", "r.db", "--again"});
  EXPECT_EQ(blocked.exit_code, 1);
  EXPECT_THAT(blocked.err, HasSubstr("copied there before its schema changes"));
  EXPECT_EQ(sql(path("r.db"), "PRAGMA user_version"), "2") << "without a copy nothing changes";
  fs::remove(path("backups"));
  const auto runs = data_of({"history", "--list", "--db", "r.db"})["runs"];
  EXPECT_FALSE(fs::exists(path("backups"))) << "a reader changes nothing";
  ASSERT_EQ(undisturbed({"tune", "tiny.toml", "--db", "r.db", "--again"}).exit_code, 0);
  EXPECT_EQ(sql(path("r.db"), "PRAGMA user_version"), "3");
  ASSERT_TRUE(fs::exists(path("backups/r.db.schema-2")));
  EXPECT_EQ(sql(path("backups/r.db.schema-2"), "PRAGMA user_version"), "2");
  EXPECT_EQ(data_of({"history", "--list", "--db", "backups/r.db.schema-2"})["runs"], runs);
  EXPECT_EQ(halmark({"verify", "--db", "backups/r.db.schema-2"}).exit_code, 0);
}

}  // namespace
}  // namespace halmark::integration
