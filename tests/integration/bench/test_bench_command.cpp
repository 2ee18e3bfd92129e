// `halmark bench` as documented: rows, their keys, what is stored, and what fails.
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

using Command = HalmarkTest;  // as in test_commands.cpp

TEST_F(Command, bench_measures_a_gemm_and_gives_every_documented_key) {
  base_.environment["HALMARK_FAKE_SCRIPT"] = "timer=device_event;latency_ns=300000";
  const Json rows =
      undisturbed_data_of({"bench", "--op", "gemm", "--params", "m=8,n=16,k=32", "--dtype",
                           "f32,bf16", "--backend", "fake", "--seconds", "0.002"})["rows"];
  ASSERT_EQ(rows.size(), 2u);
  for (const Json& row : rows) {
    EXPECT_THAT(keys(row),
                testing::IsSupersetOf({"op", "problem", "dtype", "backend", "device", "mode",
                                       "implementation", "duration_ns_median", "ci_low_ns",
                                       "ci_high_ns", "flops", "bytes", "mfu", "path_fraction",
                                       "mfu_datasheet", "status", "reason"}));
    EXPECT_EQ(row["op"], "gemm");
    EXPECT_EQ(row["backend"], "fake");
    EXPECT_EQ(row["device"], "fake:0");
    EXPECT_EQ(row["flops"], 2 * 8 * 16 * 32);
    // The script says how long a call takes on the device's own clock.
    ASSERT_TRUE(row["duration_ns_median"].is_number()) << row.dump();
    EXPECT_NEAR(row["duration_ns_median"].get<double>(), 300000, 3000);
    EXPECT_LE(row["ci_low_ns"], row["duration_ns_median"]);
    EXPECT_GE(row["ci_high_ns"], row["duration_ns_median"]);
  }
  EXPECT_EQ(rows[0]["dtype"], "f32");
  EXPECT_EQ(rows[0]["bytes"], 4 * (8 * 32 + 32 * 16 + 8 * 16));
}

TEST_F(Command, bench_and_its_rows_are_kept_without_being_asked) {
  const Arguments bench{"bench",   "--op",     "gemm",      "--params", "m=8,n=16,k=32",
                        "--dtype", "f32",      "--backend", "fake",     "--seconds",
                        "0.002",   "--rounds", "2"};
  const auto with = [&](Arguments more) {
    more.insert(more.begin(), bench.begin(), bench.end());
    return more;
  };
  const std::string own = path("state/halmark/halmark.db");
  const Json kept = undisturbed_data_of(bench)["stored"];
  EXPECT_EQ(kept["run"], 1);
  EXPECT_EQ(kept["database"], own);
  EXPECT_EQ(sql_count(own, "SELECT count(*) FROM entry WHERE kind = 'measurement'"), 2);
  EXPECT_EQ(undisturbed_data_of(with({"--db", path("b.db")}))["stored"]["run"], 1);
  EXPECT_TRUE(undisturbed_data_of(with({"--no-store"}))["stored"].is_null());
  EXPECT_EQ(sql_count(own, "SELECT count(*) FROM run"), 1);
  // No sweep: there is nothing to report.
  EXPECT_THAT(halmark({"report"}).out, HasSubstr("gemm"));
}

TEST_F(Command, bench_records_the_command_that_repeats_its_run) {
  data_of({"bench",     "--op",   "gemm",    "--params", "m=[8,16],n=16,k=32",
           "--dtype",   "f32",    "--mode",  "hot",      "--sets",
           "2",         "--db",   "it's.db", "--rounds", "1",
           "--backend", "fake",   "--parts", "1",        "--seconds",
           "0.002",     "--quiet"});
  const std::string rows = "SELECT count(*) FROM entry WHERE kind = 'measurement'",
                    kinds = "SELECT count(DISTINCT key) FROM entry WHERE kind = 'measurement'";
  ASSERT_EQ(sql_count(path("it's.db"), rows), 2);
  const std::string command = sql(path("it's.db"), "SELECT command FROM run");
  EXPECT_EQ(command,
            "halmark bench --op gemm --params 'm=[8,16],n=16,k=32' --dtype f32 --backend fake "
            "--parts 1 --mode hot --sets 2 --rounds 1 --seconds 0.002 --db 'it'\\''s.db'");
  Launch again = launch({});
  const std::string folder = std::filesystem::path(again.arguments[0]).parent_path();
  again.arguments = {"/bin/sh", "-c", "PATH=" + folder + ":$PATH; " + command};
  const Outcome o = run(again);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(sql_count(path("it's.db"), rows), 4);
  EXPECT_EQ(sql_count(path("it's.db"), kinds), 2);
  EXPECT_EQ(sql_count(path("it's.db"), "SELECT count(DISTINCT command) FROM run"), 1);
}

// What is in the way of storing is not in the way of measuring, unless storing was asked for.
TEST_F(Command, bench_measures_where_it_cannot_store) {
  std::filesystem::create_directories(path("state/halmark"));
  write("state/halmark/halmark.db", "of somebody else");
  const Arguments bench{"bench",   "--op",     "gemm",      "--params", "m=8,n=16,k=32",
                        "--dtype", "f32",      "--backend", "fake",     "--seconds",
                        "0.002",   "--rounds", "1"};
  const Outcome o = undisturbed(bench);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("gemm"));
  EXPECT_THAT(o.err, HasSubstr("not stored"));
  Arguments asked = bench;
  asked.insert(asked.end(), {"--db", path("state/halmark/halmark.db")});
  const Outcome refused = halmark(asked);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.out, "") << "before anything is measured";
  EXPECT_EQ(read("state/halmark/halmark.db"), "of somebody else");
}

TEST_F(Command, bench_measures_on_the_cpu) {
#ifndef HALMARK_HAS_CPU
  GTEST_SKIP() << "the cpu plugin was not built";
#endif
  const Outcome o = undisturbed({"bench", "--op", "gemm", "--params", "m=16,n=32,k=64", "--dtype",
                                 "f32", "--backend", "cpu", "--seconds", "0.002", "--json"});
  EXPECT_EQ(o.exit_code, 0) << o.out << o.err;
  const Json rows = envelope_of(o.out)["data"]["rows"];
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["device"], "cpu:0");
  EXPECT_NE(rows[0]["implementation"], "");
  // A disturbed machine gives "invalid" with its reason, never a wrong or a failed row.
  EXPECT_THAT(rows[0]["status"].get<std::string>(), testing::AnyOf("ok", "suspect", "invalid"));
  // Without measured peaks there is no utilisation, and the row says why.
  EXPECT_TRUE(rows[0]["mfu"].is_null());
  EXPECT_NE(rows[0]["mfu_reason"], "");
}

TEST_F(Command, bench_sweeps_lists_and_ranges_in_the_order_given) {
  const Json rows = undisturbed_data_of({"bench", "--op", "gemm", "--params",
                                         "m=[8,1],n=16,k=[16..32*2]", "--dtype", "f32", "--backend",
                                         "fake", "--seconds", "0.002", "--rounds", "1"})["rows"];
  ASSERT_EQ(rows.size(), 4u);
  const std::vector<double> flops{2.0 * 8 * 16 * 16, 2.0 * 8 * 16 * 32, 2.0 * 16 * 16,
                                  2.0 * 16 * 32};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["flops"].get<double>(), flops[i]) << rows[i].dump();
    EXPECT_FALSE(rows[i].contains("busbw_bytes_per_s"));
  }
}

TEST_F(Command, bench_gives_the_bandwidths_of_collectives) {
#ifndef HALMARK_HAS_CPU
  GTEST_SKIP() << "the cpu plugin was not built";
#endif
  if (!found_program("mpirun")) GTEST_SKIP() << "mpirun is not installed";
  if (!has_two_cores()) GTEST_SKIP() << "one core cannot be cut in two";
  struct Line {
    const char* op;
    double messages;    // nccl-tests' size over one rank's source
    double bus_factor;  // of two ranks
  };
  for (const Line& line :
       {Line{"all_reduce", 1, 1}, Line{"all_gather", 2, 0.5}, Line{"reduce_scatter", 1, 0.5},
        Line{"all_to_all", 1, 0.5}, Line{"broadcast", 1, 1}, Line{"send_recv", 1, 1}}) {
    const Outcome o =
        undisturbed({"bench", "--op", line.op, "--params", "bytes=[64,4096],ranks=2", "--dtype",
                     "f16", "--backend", "cpu", "--rounds", "1", "--seconds", "0.002", "--json"});
    ASSERT_EQ(o.exit_code, 0) << line.op << o.out << o.err;
    const Json rows = envelope_of(o.out)["data"]["rows"];
    ASSERT_EQ(rows.size(), 2u);
    double bytes = 64;
    for (const Json& row : rows) {
      EXPECT_EQ(row["device"], "cpu:0/2.0 x2");
      if (row["duration_ns_median"].is_number()) {  // a disturbed machine may give none
        const double algbw = line.messages * bytes / row["duration_ns_median"].get<double>() * 1e9;
        EXPECT_NEAR(row["algbw_bytes_per_s"].get<double>(), algbw, 1e-6 * algbw) << line.op;
        EXPECT_NEAR(row["busbw_bytes_per_s"].get<double>(), algbw * line.bus_factor, 1e-6 * algbw)
            << line.op;
      }
      bytes *= 64;
    }
  }
}

TEST_F(Command, bench_says_wrong_results_with_exit_6_and_no_duration) {
  base_.environment["HALMARK_FAKE_SCRIPT"] = "wrong=zeros";
  const Outcome o = halmark({"bench", "--op", "gemm", "--params", "m=8,n=16,k=32", "--dtype", "f32",
                             "--backend", "fake", "--seconds", "0.002", "--json"});
  EXPECT_EQ(o.exit_code, 6);
  const Json e = envelope_of(o.out);
  EXPECT_EQ(e["status"], "incorrect");
  EXPECT_EQ(e["data"]["rows"][0]["status"], "wrong_result");
  EXPECT_TRUE(e["data"]["rows"][0]["duration_ns_median"].is_null());
}

TEST_F(Command, bench_survives_a_crash_of_the_plugin_as_a_row) {
  base_.environment["HALMARK_FAKE_SCRIPT"] = "crash=prepare";
  const Outcome o = halmark({"bench", "--op", "gemm", "--params", "m=8,n=16,k=32", "--dtype", "f32",
                             "--backend", "fake", "--seconds", "0.002", "--json"});
  EXPECT_EQ(o.exit_code, 4);
  const Json row = envelope_of(o.out)["data"]["rows"][0];
  EXPECT_EQ(row["status"], "crashed");
  EXPECT_THAT(row["reason"].get<std::string>(), HasSubstr("signal 11"));
}

}  // namespace
}  // namespace halmark::integration
