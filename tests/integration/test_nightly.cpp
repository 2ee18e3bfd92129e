// Sweeps with [nightly]: a run of its own at every call, the same one after a kill, and what the
// history says of a week in which one kernel became slower.
#include <csignal>

#include "halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class Nightly : public HalmarkTest {
 protected:
  void sweep(const std::string& nightly) const {
    tiny_sweep("fake", "shards = [1]");
    write("night.toml", read("tiny.toml") + nightly);
  }
  Outcome night(const std::string& date, const std::string& script = {}) {
    base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;noise=0.004" + script;
    return halmark({"tune", "night.toml", "--db", "r.db", "--night", date});
  }
};

constexpr const char* ten_seconds = "\n[nightly]\nminutes = 0.2\n";

TEST_F(Nightly, every_call_is_a_run_of_its_own) {
  sweep(ten_seconds);
  for (const char* date : {"2026-11-16", "2026-11-17", "2026-11-17"}) {
    const Outcome o = night(date);
    EXPECT_EQ(o.exit_code, 0) << o.err;
    EXPECT_THAT(o.out, Not(HasSubstr("stored figures")));
  }
  const Json listed = data_of({"history", "--list", "--db", "r.db"})["runs"];
  ASSERT_THAT(listed, SizeIs(3));
  EXPECT_THAT(listed[0]["started_utc"].get<std::string>(), testing::StartsWith("2026-11-16T"));
  EXPECT_THAT(listed[2]["started_utc"].get<std::string>(), testing::StartsWith("2026-11-17T"));
  EXPECT_GT(listed[0]["rows"], 20);
  EXPECT_EQ(listed[0]["rows"], listed[2]["rows"]);
  EXPECT_EQ(listed[0]["configurations"], 2);
}

TEST_F(Nightly, a_killed_night_goes_on_and_the_next_call_is_another) {
  sweep(ten_seconds);
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;nap=prepare;nap_ns=100000000";
  {
    Process killed(launch({"tune", "night.toml", "--db", "r.db", "--night", "2026-11-16"}));
    ASSERT_TRUE(killed.await_lines("tune ", 3));
    killed.signal(SIGKILL);
    killed.wait();
  }
  const Outcome o = night("2026-11-16");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("went on"));
  EXPECT_EQ(night("2026-11-16").exit_code, 0);
  EXPECT_THAT(data_of({"history", "--list", "--db", "r.db"})["runs"], SizeIs(2));
}

TEST_F(Nightly, a_week_with_one_slower_kernel_names_it_and_nothing_else) {
  sweep(ten_seconds);
  for (int day = 1; day <= 7; ++day) {
    const Outcome o = night("2026-11-1" + std::to_string(day), day >= 6 ? ";slow=rope:1.5" : "");
    ASSERT_EQ(o.exit_code, 0) << o.err;
  }
  const Outcome history = halmark({"history", "--db", "r.db", "--json"});
  EXPECT_EQ(history.exit_code, 3) << history.err;
  std::vector<std::string> slower;
  for (const Json& series : envelope_of(history.out)["data"]["series"]) {
    if (series["change"] == "SLOWER" || series["change"] == "FASTER") {
      slower.push_back(series["series"]);
    }
  }
  EXPECT_THAT(slower, AllOf(Not(testing::IsEmpty()), Each(testing::StartsWith("rope "))));
  // Single nights against each other say the same.
  const Outcome compared = halmark({"compare", "2026-11-11", "2026-11-17", "--db", "r.db"});
  EXPECT_THAT(compared.out, Not(HasSubstr("SLOWER  gemm")));
}

TEST_F(Nightly, kernels_and_sentinels_besides_the_model_are_measured) {
  sweep(std::string(ten_seconds) +
        "[[nightly.kernel]]\nop = \"rmsnorm\"\nparams = \"rows=[1,8],cols=64\"\n"
        "dtypes = [\"f32\"]\n[[nightly.sentinel]]\nop = \"copy\"\nparams = \"bytes=4096\"\n"
        "dtypes = [\"u8\"]\n");
  ASSERT_EQ(night("2026-11-16").exit_code, 0);
  const auto rows_of = [&](const std::string& what) {
    return sql_count(path("r.db"), "SELECT count(*) FROM entry WHERE kind = 'measurement' AND "
                                   "key LIKE '%" + what + "%'");
  };
  EXPECT_EQ(rows_of("bytes=4096"), 3);  // before, between and after two rounds
}

TEST_F(Nightly, samples_of_nights_before_the_latest_are_retired) {
  sweep(std::string(ten_seconds) + "keep_samples_nights = 2\n");
  for (const char* date : {"2026-11-16", "2026-11-17", "2026-11-17", "2026-11-18"}) {
    const Outcome o = night(date);
    ASSERT_EQ(o.exit_code, 0) << o.err;
  }
  const auto rows_with_samples = [&](const std::string& run) {
    return sql_count(path("r.db"),
                     "SELECT count(*) FROM sample_block JOIN entry ON entry.id = "
                     "sample_block.entry WHERE run = " +
                         run);
  };
  EXPECT_EQ(rows_with_samples("1"), 0);
  for (const char* run : {"2", "3", "4"}) EXPECT_GT(rows_with_samples(run), 20) << run;
  const Json checked = data_of({"verify", "r.db"});
  EXPECT_EQ(checked["findings"], Json::array());
  EXPECT_EQ(checked["samples_retired"][0]["run"], 1);
  EXPECT_EQ(halmark({"history", "--db", "r.db"}).exit_code, 0);
}

TEST_F(Nightly, what_does_not_fit_waits_for_another_night) {
  sweep("\n[nightly]\nminutes = 0.01\n");
  const Outcome first = night("2026-11-16");
  EXPECT_THAT(first.out, HasSubstr("waits for another night")) << first.err;
  ASSERT_EQ(night("2026-11-17").exit_code, 0);
  const auto cases = [&](const std::string& runs) {
    return sql_count(path("r.db"), "SELECT count(DISTINCT key) FROM entry WHERE "
                                   "kind = 'measurement' AND run " + runs);
  };
  EXPECT_GT(cases("= 1"), 0);
  EXPECT_EQ(cases("<= 2"), cases("= 1") + cases("= 2"));  // the second has others
}

TEST_F(Nightly, wrong_inputs_are_refused_in_one_line) {
  sweep(ten_seconds);
  const Outcome no_date = halmark({"tune", "night.toml", "--db", "r.db", "--night", "yesterday"});
  EXPECT_EQ(no_date.exit_code, 2);
  EXPECT_TRUE(is_one_line(no_date.err));
  const Outcome no_table = halmark({"tune", "tiny.toml", "--db", "r.db", "--night", "2026-11-16"});
  EXPECT_EQ(no_table.exit_code, 2);
  EXPECT_THAT(no_table.err, HasSubstr("[nightly]"));
  sweep("\n[nightly]\nminutes = 1\n[[nightly.kernel]]\nop = \"gemmm\"\ndtypes = [\"f32\"]\n");
  const Outcome no_op = night("2026-11-16");
  EXPECT_EQ(no_op.exit_code, 2);
  EXPECT_THAT(no_op.err, AllOf(HasSubstr("night.toml:"), HasSubstr("gemm")));
  EXPECT_TRUE(is_one_line(no_op.err));
}

}  // namespace
}  // namespace halmark::integration
