// What was taken of a file and what was not, as commands print it.
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Accounts = HalmarkTest;

TEST_F(Accounts, an_import_says_what_it_took_and_refuses_another_model) {
  const std::string row =
      R"({"build_commit": "8cf4", "build_number": 5163, "cpu_info": "c", "gpu_info": "g",
 "backends": "CUDA", "model_filename": "m.gguf", "model_type": "gpt-oss 20B",
 "model_n_params": 20914757184, "n_ubatch": 512, "n_threads": 8, "n_prompt": 512, "n_gen": 0,
 "n_depth": 0, "avg_ns": 1000000, "stddev_ns": 0, "samples_ns": [1000000]})";
  write("rows.txt", "warming up\n" + row + '\n' + row + '\n');
  EXPECT_THAT(halmark({"import", "llama-bench", "rows.txt", "--model", "gpt-oss-20b"}).out,
              HasSubstr("1: 2 of 3 rows taken; left out: 1 lines of other programs\n"));
  const Outcome other = halmark({"import", "llama-bench", "rows.txt", "--model", "llama-3.1-8b"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("states 20.91 B parameters, and llama-3.1-8b has 8.03 B"),
                               HasSubstr("leave out --model")));
}

TEST_F(Accounts, a_comparison_says_what_each_side_is_made_of) {
  std::string entries;
  for (const char* time : {"10.0", "10.1", "10.2"}) {
    entries += R"({"name": "BM_a", "run_type": "iteration", "time_unit": "ns", "real_time": )" +
               std::string(time) + "},";
  }
  write("a.json", R"({"context": {"host_name": "h"}, "benchmarks": [)" + entries +
                      R"({"name": "BM_a_mean", "run_type": "aggregate"}]})");
  const Outcome o = halmark({"compare", "a.json", "a.json"});
  EXPECT_THAT(o.out, HasSubstr("before: a.json; 3 of 4 entries taken; left out: 1 aggregates"));
  const Json change = data_of({"compare", "a.json", "a.json"})["changes"][0];
  EXPECT_EQ(change["unit"], "repetitions");
}

TEST_F(Accounts, a_trace_names_what_is_not_read) {
  write("t.json",
        R"({"traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
  "args": {"Input Dims": [[4], [4]]}},
 {"ph": "X", "cat": "mtia_ccp_events", "name": "pe_exe", "pid": 2, "tid": 1, "ts": 1, "dur": 1},
 {"ph": "X", "cat": "mtia_ccp_events", "name": "pe_exe", "pid": 2, "tid": 1, "ts": 2, "dur": 1},
 {"ph": "M", "name": "process_name", "pid": 2}]})");
  EXPECT_THAT(halmark({"trace", "t.json"}).out,
              AllOf(HasSubstr("not read: 2 events of mtia_ccp_events\n"),
                    HasSubstr("no device events are read"), Not(HasSubstr("no shapes"))));
  const Json trace = data_of({"trace", "t.json"})["trace"];
  EXPECT_EQ(trace["read_events"], (Json{{"cpu_op", 1}}));
  EXPECT_EQ(trace["unread_events"], (Json{{"mtia_ccp_events", 2}}));
  EXPECT_EQ(trace["undated_events"], 1);
}

TEST_F(Accounts, an_open_loop_that_is_saturated_says_so_first) {
  const auto first_line = [&](const Arguments& load) {
    Arguments arguments = {"simulate", "serving", "llama-3.1-8b", "--device", "h100-sxm"};
    arguments.insert(arguments.end(), load.begin(), load.end());
    const std::string out = halmark(arguments).out;
    return out.substr(0, out.find('\n'));
  };
  EXPECT_THAT(first_line({"--rate", "500", "--requests", "400"}),
              AllOf(HasSubstr("SATURATED: "), HasSubstr(" requests/s are offered")));
  EXPECT_THAT(first_line({"--rate", "2", "--requests", "100"}), Not(HasSubstr("SATURATED")));
  EXPECT_THAT(first_line({"--concurrency", "400", "--requests", "400"}),
              Not(HasSubstr("SATURATED")))
      << "a closed loop offers what it is served";
  std::string azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  for (int i = 0; i < 60; ++i) {
    azure += "2023-11-16 18:15:" + std::to_string(i / 10) + std::to_string(i % 10) + ".25,512,16\n";
  }
  write("azure.csv", azure);
  const Json data = data_of(
      {"simulate", "serving", "llama-3.1-8b", "--device", "h100-sxm", "--arrivals", "azure.csv"});
  EXPECT_FALSE(data["saturation"]["is_saturated"]);
  EXPECT_NEAR(data["saturation"]["offered_requests_per_s"].get<double>(), 1, 1e-6);
}

TEST_F(Accounts, acceptance_is_said_as_engines_count_it_too) {
  const Outcome o = halmark({"model", "deepseek-v3", "--mtp", "2", "--acceptance", "0.5", "--batch",
                             "1", "--context", "128"});
  EXPECT_THAT(o.out,
              HasSubstr("1.7500 at acceptance 0.5 of each draft, accepted over drafted 0.3750 "
                        "as engines count it"))
      << o.err;
  EXPECT_THAT(halmark({"explain", "acceptance"}).out, HasSubstr("accepted over drafted"));
}

}  // namespace
}  // namespace halmark::integration
