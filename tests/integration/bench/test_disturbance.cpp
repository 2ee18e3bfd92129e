// What others do to a run, through the program: figures that rest on clean samples, labels in the
// database, agreement of repeats and the limits that follow. The fake plugin sleeps where another
// process would take its CPU.
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/integration/halmark_fixture.hpp"
#include "tests/integration/running_processes.hpp"

namespace halmark::integration {
namespace {

class Disturbance : public HalmarkTest {
 protected:
  Disturbance() { gate_as_users_do(); }
  void script(const std::string& text) { base_.environment["HALMARK_FAKE_SCRIPT"] = text; }
  static Arguments bench(Arguments more = {}) {
    Arguments out = {"bench", "--op",      "gemm", "--params", "m=8,n=16,k=16", "--dtype",
                     "f32",   "--backend", "fake", "--db",     "a.db"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  std::string of_row(const std::string& expression) const {
    return sql(path("a.db"), "SELECT " + expression + " FROM entry WHERE kind = 'measurement'");
  }
  std::string clean_share() const {
    return of_row(
        "(SELECT json_extract(value, '$.value') FROM json_each(body, '$.signals') WHERE "
        "json_extract(value, '$.name') = 'clean_share')");
  }
  // Beside the device file of this machine.
  std::string limits_file() {
    std::string file = know_peaks();
    return file.insert(file.size() - std::string(".toml").size(), "-limits");
  }
};

// Off the CPU in every call: nothing is clean, and a table of dashes would be no answer.
TEST_F(Disturbance, a_row_without_a_clean_sample_shows_its_figure_with_its_label) {
  script("latency_ns=100000;nap=enqueue;nap_ns=1000000");
  const Json row = data_of(bench({"--rounds", "1"}))["rows"][0];
  EXPECT_EQ(row["status"], "invalid");
  EXPECT_THAT(row["reason"].get<std::string>(), testing::HasSubstr("share of disturbed samples"));
  EXPECT_GT(row["duration_ns_median"].get<double>(), 1e6);
  EXPECT_LT(std::stod(clean_share()), 0.1);
  EXPECT_EQ(sql_count(path("a.db"), "SELECT count(*) FROM entry WHERE kind = 'measurement'"), 1)
      << "tries are no rows";
  EXPECT_THAT(halmark(bench({"--rounds", "1"})).out, testing::HasSubstr("invalid: share of"));
}

// Inputs that were never drawn before come from memory, and the core's wide units rest meanwhile.
TEST_F(Disturbance, kernels_of_a_microsecond_are_not_said_to_remember_their_answers) {
  const std::vector<std::pair<std::string, std::string>> kernels = {
      {"rope", "rows=2,heads=24,head_dim=128,rotary_dim=128"}, {"rmsnorm", "rows=8,cols=1024"}};
  for (const auto& [op, params] : kernels) {
    const Json rows = data_of({"bench", "--op", op, "--params", params, "--dtype", "bf16",
                               "--backend", "cpu", "--parts", "2", "--shards", "2", "--rounds", "3",
                               "--seconds", "0.05", "--no-store"})["rows"];
    EXPECT_THAT(rows[0]["reason"].get<std::string>(),
                testing::Not(testing::HasSubstr("remembered")));
  }
}

TEST_F(Disturbance, samples_that_were_off_the_cpu_do_not_make_the_figure) {
  script("latency_ns=2000000;nap=enqueue;nap_every=4;nap_ns=6000000");
  const Json row = data_of(bench({"--rounds", "1", "--seconds", "0.1"}))["rows"][0];
  ASSERT_TRUE(row["duration_ns_median"].is_number()) << row;
  EXPECT_LT(row["duration_ns_median"].get<double>(), 3e6) << row["reason"];
  // Of n samples every fourth: of 10 or more at least a sixth.
  EXPECT_LE(std::stod(clean_share()), 5.0 / 6);
  EXPECT_EQ(sql_count(path("a.db"), "SELECT count(*) FROM sample_block"), 1);
}

// Workers are stopped for 10 ms in every 30, as a debugger, a cgroup or a user may.
TEST_F(Disturbance, workers_that_are_stopped_now_and_then_still_give_the_time_of_the_kernel) {
  script("latency_ns=1000000;noise=0.2");  // restless enough to be sampled for 100 ms and more
  Process process(launch(bench({"--rounds", "1", "--seconds", "0.3", "--json"})));
  std::atomic<bool> is_over = false;
  std::thread stopper([&] {
    const auto signal_workers = [&](int number) {
      for (const RunningProcess& child : descendants_of(process.pid())) {
        if (is_running(child)) kill(child.pid, number);
      }
    };
    while (!is_over) {
      signal_workers(SIGSTOP);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      signal_workers(SIGCONT);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const Outcome o = process.wait();
  is_over = true;
  stopper.join();
  ASSERT_EQ(o.exit_code, 0) << o.out << o.err;
  const Json row = envelope_of(o.out)["data"]["rows"][0];
  ASSERT_TRUE(row["duration_ns_median"].is_number()) << row;
  EXPECT_LT(row["duration_ns_median"].get<double>(), 1.5e6) << row["reason"];
  EXPECT_LT(std::stod(clean_share()), 1);
}

TEST_F(Disturbance, aa_says_how_often_repeats_agree_and_writes_the_limits_of_this_machine) {
  script("latency_ns=100000;noise=0.05");
  const std::string file = limits_file();
  const Outcome o =
      halmark({"aa", "--backend", "fake", "--op", "gemm", "--params", "m=8,n=16,k=16", "--dtype",
               "f32", "--pairs", "3", "--rounds", "2", "--seconds", "0.002", "--json"});
  const Json data = envelope_of(o.out)["data"];
  const Json& row = data["cases"][0];
  EXPECT_EQ(o.exit_code, row["pairs"] == 0 ? 4 : 0) << o.err;
  EXPECT_EQ(row["pairs"].get<int>() + row["left_out"].get<int>(), 3);
  EXPECT_EQ(row["rows"], 12);
  EXPECT_LE(row["agreeing"], row["pairs"]);
  EXPECT_EQ(data["path"], path(file));
  EXPECT_THAT(read(file), testing::HasSubstr("[measure]\n"));
  EXPECT_THAT(read(file), testing::StartsWith("# halmark aa, 20"));
  write(file, "");
  const Outcome text = halmark({"aa", "--backend", "fake", "--op", "gemm", "--params",
                                "m=8,n=16,k=16", "--dtype", "f32", "--pairs", "1", "--rounds", "2",
                                "--seconds", "0.002", "--out", "elsewhere.toml"});
  EXPECT_THAT(text.out, testing::HasSubstr("written to elsewhere.toml"));
  EXPECT_EQ(read(file), "") << "--out leaves the machine's file alone";
  EXPECT_EQ(halmark({"aa", "--op", "gemm"}).exit_code, 2);
}

TEST_F(Disturbance, limits_of_the_machine_hold_where_nothing_else_is_asked_for) {
  script("latency_ns=100000;nap=enqueue;nap_every=3;nap_ns=300000");
  // What is set aside in a chunk: nothing.
  write(limits_file(), "[measure]\nrounds = 2\ndisturbed_share = 1\n");
  (void)data_of(bench());
  EXPECT_EQ(sql_count(path("a.db"), "SELECT count(*) FROM entry WHERE kind = 'measurement'"), 2);
  EXPECT_EQ(std::stod(clean_share()), 1);
  (void)data_of(bench({"--rounds", "1"}));
  EXPECT_EQ(sql_count(path("a.db"), "SELECT count(*) FROM entry WHERE kind = 'measurement'"), 3);
  write(limits_file(), "[measure]\nrounds = 5\n");
  EXPECT_EQ(data_of({"tune", tiny_sweep("fake"), "--plan"})["rounds"], 2) << "the sweep says so";
  write(limits_file(), "[measure]\nround = 5\n");
  const Outcome o = halmark(bench());
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_THAT(o.err, testing::HasSubstr("'rounds'"));
}

}  // namespace
}  // namespace halmark::integration
