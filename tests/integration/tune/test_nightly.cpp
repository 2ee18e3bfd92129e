// Sweeps with [nightly]: a run of its own at every call, the same one after a kill, and what the
// history says of a week in which one kernel became slower.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

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
    write("night.toml",
          std::regex_replace(read("tiny.toml"), std::regex("rounds = 2"), "rounds = 3") + nightly);
  }
  Outcome night(const std::string& date, const std::string& script = {}) {
    base_.environment["HALMARK_FAKE_SCRIPT"] =
        "latency_ns=200000;noise=0.004;timer=device_event" + script;
    return halmark({"tune", "night.toml", "--db", "r.db", "--night", date});
  }
};

// A night ends when all is measured.
constexpr const char* one_minute = "\n[nightly]\nminutes = 1\n";

TEST_F(Nightly, every_call_is_a_run_of_its_own) {
  sweep(one_minute);
  for (const char* date : {"2026-11-16", "2026-11-17", "2026-11-17"}) {
    const Outcome o = night(date);
    // 4 where neighbours of this machine spoiled a row: it is one all the same.
    EXPECT_THAT(o.exit_code, testing::AnyOf(0, 4)) << o.err;
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
  sweep(one_minute);
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;nap=prepare;nap_ns=100000000";
  {
    Process killed(launch({"tune", "night.toml", "--db", "r.db", "--night", "2026-11-16"}));
    ASSERT_TRUE(killed.await_lines("tune ", 3));
    killed.signal(SIGKILL);
    killed.wait();
  }
  const Outcome o = night("2026-11-16");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr(", resumed: "));
  EXPECT_EQ(night("2026-11-16").exit_code, 0);
  EXPECT_THAT(data_of({"history", "--list", "--db", "r.db"})["runs"], SizeIs(2));
}

TEST_F(Nightly, a_week_with_one_slower_kernel_names_it_and_nothing_else) {
  sweep(one_minute);
  for (int day = 1; day <= 7; ++day) {
    const Outcome o = night("2026-11-1" + std::to_string(day), day >= 6 ? ";slow=rope:1.5" : "");
    ASSERT_EQ(o.exit_code, 0) << o.err;
  }
  const Outcome history = halmark({"history", "--db", "r.db", "--json"});
  EXPECT_EQ(history.exit_code, 3) << history.err;
  std::vector<std::string> slower;
  const Json told = envelope_of(history.out);
  for (const Json& series : told["data"]["series"]) {
    if (series["change"] == "SLOWER" || series["change"] == "FASTER") {
      slower.push_back(series["series"]);
    }
  }
  EXPECT_THAT(slower, AllOf(Not(testing::IsEmpty()), Each(testing::StartsWith("rope "))))
      << halmark({"history", "--db", "r.db"}).out;
  // Single nights against each other say the same.
  const Outcome compared = halmark({"compare", "2026-11-11", "2026-11-17", "--db", "r.db"});
  EXPECT_THAT(compared.out, Not(HasSubstr("SLOWER  gemm")));
}

// A copy of the fake plugin that does `script` whatever the environment says.
class NightlyBuilds : public Nightly {
 protected:
  std::string build(const std::string& name, const std::string& script) const {
    std::filesystem::create_directories(path(name));
    const std::string to = path(name) + "/hm_fake.so";
    std::filesystem::copy_file(test::in_build("/tests/plugins/hm_fake.so"), to,
                               std::filesystem::copy_options::overwrite_existing);
    std::ofstream(to, std::ios::app | std::ios::binary) << "\nHALMARK_FAKE_SCRIPT=" << script;
    return to;
  }
  Outcome night_of(const std::string& plugin, const std::string& date) {
    base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;noise=0.004;timer=device_event";
    return halmark({"tune", "night.toml", "--db", "r.db", "--night", date, "--plugin", plugin});
  }
  std::vector<std::string> called(const std::string& change) {
    const Outcome history = halmark({"history", "--db", "r.db", "--json"});
    std::vector<std::string> out;
    const Json told = envelope_of(history.out);
    for (const Json& series : told["data"]["series"]) {
      if (series["change"] == change) out.push_back(series["series"]);
    }
    return out;
  }
};

TEST_F(NightlyBuilds, a_new_build_that_is_slower_is_found_in_its_first_night) {
  sweep("\n[nightly]\nminutes = 0.2\n");
  const std::string good = build("good", "seed=1"), slow = build("slow", "slow=rope:1.3");
  for (const char* date : {"2026-11-10", "2026-11-11"}) {
    ASSERT_EQ(night_of(good, date).exit_code, 0);
  }
  const Outcome first = night_of(slow, "2026-11-12");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("interleaved with build")) << first.err;
  EXPECT_THAT(called("SLOWER"), AllOf(Not(testing::IsEmpty()), Each(testing::StartsWith("rope "))))
      << halmark({"history", "--db", "r.db"}).out;
  EXPECT_THAT(called("FASTER"), testing::IsEmpty());
  EXPECT_EQ(halmark({"history", "--db", "r.db"}).exit_code, 3);
  EXPECT_THAT(halmark({"history", "--db", "r.db"}).out, HasSubstr("interleaved"));
  // And its repair.
  ASSERT_EQ(night_of(build("good", "seed=2"), "2026-11-13").exit_code, 0);
  EXPECT_THAT(called("SLOWER"), testing::IsEmpty());
}

TEST_F(NightlyBuilds, an_equal_build_on_a_machine_that_became_slower_is_no_alert) {
  sweep("\n[nightly]\nminutes = 0.2\n");
  ASSERT_EQ(night_of(build("one", "seed=1"), "2026-11-10").exit_code, 0);
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=260000;noise=0.004;timer=device_event";
  const Outcome o = halmark({"tune", "night.toml", "--db", "r.db", "--night", "2026-11-11",
                             "--plugin", build("two", "seed=2")});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(called("SLOWER"), testing::IsEmpty());
  EXPECT_EQ(halmark({"history", "--db", "r.db", "--gate"}).exit_code, 0);
}

TEST_F(NightlyBuilds, two_builds_take_turns_on_demand) {
  const std::string good = build("good", "seed=1"), slow = build("slow", "slow=rope:1.3");
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;noise=0.004;timer=device_event";
  Arguments live = {
      "compare", "--live", good,   slow,       "--backend",
      "fake",    "--op",   "rope", "--params", "rows=4,heads=2,head_dim=64,rotary_dim=64",
      "--dtype", "f32"};
  const Outcome o = halmark(live);
  EXPECT_EQ(o.exit_code, 3) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("SLOWER"), HasSubstr("interleaved on the same inputs")));
  live[3] = good;
  EXPECT_EQ(halmark(live).exit_code, 0);
  // Noise that decides nothing fails no gate.
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;noise=0.3;timer=device_event";
  live.insert(live.end(), {"--pairs", "3", "--seconds", "0.002", "--gate"});
  EXPECT_EQ(halmark(live).exit_code, 0);
  live.insert(live.end(), {"--device", "7"});
  const Outcome absent = halmark(live);
  EXPECT_EQ(absent.exit_code, 2) << "a device that is not there is no green gate";
  EXPECT_THAT(absent.err, HasSubstr("has no device '7'"));
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;noise=0.004;timer=device_event";
  live.resize(live.size() - 7);
  live[3] = "abcdef0123";
  const Outcome unknown = halmark(live);
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no build is kept here yet"));
  EXPECT_TRUE(is_one_line(unknown.err));
}

TEST_F(NightlyBuilds, take_turns_on_every_kernel_of_the_latest_run) {
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;noise=0.004;timer=device_event";
  ASSERT_EQ(halmark({"bench", "--backend", "fake", "--op", "rmsnorm", "--params",
                     "rows=[1,8],cols=64", "--dtype", "f32", "--db", "r.db"})
                .exit_code,
            0);
  const std::string good = build("good", "seed=1");
  const Json data = data_of({"compare", "--live", good, good, "--backend", "fake", "--db", "r.db"});
  ASSERT_EQ(data["duets"].size(), 2u);
  for (const Json& duet : data["duets"]) {
    EXPECT_EQ(duet["case"]["problem"]["op"], "rmsnorm");
    EXPECT_EQ(duet["status"], "ok") << duet["reason"];
  }
}

TEST_F(Nightly, kernels_and_sentinels_besides_the_model_are_measured) {
  sweep(std::string(one_minute) +
        "[[nightly.kernel]]\nop = \"rmsnorm\"\nparams = \"rows=[1,8],cols=64\"\n"
        "dtypes = [\"f32\"]\n[[nightly.sentinel]]\nop = \"copy\"\nparams = \"bytes=4096\"\n"
        "dtypes = [\"u8\"]\n");
  ASSERT_EQ(night("2026-11-16").exit_code, 0);
  const auto rows_of = [&](const std::string& what) {
    return sql_count(path("r.db"),
                     "SELECT count(*) FROM entry WHERE kind = 'measurement' AND "
                     "key LIKE '%" +
                         what + "%'");
  };
  EXPECT_EQ(rows_of("bytes=4096"), 4);  // before, between and after the rounds
}

TEST_F(Nightly, samples_of_nights_before_the_latest_are_retired) {
  sweep(std::string(one_minute) + "keep_samples_nights = 2\n");
  for (const char* date : {"2026-11-16", "2026-11-17", "2026-11-17", "2026-11-18"}) {
    const Outcome o = night(date);
    ASSERT_THAT(o.exit_code, testing::AnyOf(0, 4)) << o.err;  // a spoiled row has samples too
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
  const Outcome first = night("2026-11-16", ";latency_ns=2000000");
  // By what was forecast, or by the clock.
  EXPECT_THAT(first.out,
              testing::AnyOf(HasSubstr("waits for another night"), HasSubstr("rows short")))
      << first.err;
  ASSERT_EQ(night("2026-11-17", ";latency_ns=2000000").exit_code, 0);
  const auto cases = [&](const std::string& runs) {
    return sql_count(path("r.db"),
                     "SELECT count(DISTINCT key) FROM entry WHERE "
                     "kind = 'measurement' AND run " +
                         runs);
  };
  EXPECT_GT(cases("= 1"), 0);
  EXPECT_GT(cases("<= 2"), cases("= 1")) << "the second has others";
}

TEST_F(Nightly, wrong_inputs_are_refused_in_one_line) {
  sweep(one_minute);
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
