// Every sampler on every kind of sweep, through the program.
#include "search/sampler.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

const char* const served = R"(name = "served"
model = "qwen3-0.6b"
device_file = "h200"
latency = ["roofline"]
shards = [1, 2, 4, 8]
dtypes = ["bf16", "fp8"]
objectives = ["ttft", "tpot", "tokens_per_s_per_device"]
[request]
input_tokens = 2000
output_tokens = 100
concurrency = [4, 16, 64, 256]
token_budget = [512, 4096]
modes = ["aggregated", "disaggregated"]
)";

const char* const priced = R"(name = "priced"
model = "qwen3-0.6b"
device_file = "h200"
latency = ["roofline"]
shards = [1, 2, 4, 8]
dtypes = ["bf16", "fp8"]
objectives = ["latency", "throughput", "memory"]
[[workload]]
phase = "decode"
batch = [8, 16, 32, 64]
context = 2048
[[workload]]
phase = "prefill"
batch = [8, 16]
new_tokens = 512
)";

class EverySampler : public HalmarkTest, public testing::WithParamInterface<std::string> {};

TEST_P(EverySampler, searches_served_loads) {
  write("s.toml", served);
  const Json data =
      data_of({"tune", "s.toml", "--sampler", GetParam(), "--trials", "40", "--seed", "3"});
  EXPECT_EQ(data["configurations"], 40);
  EXPECT_GT(data["possible"], 200);
  EXPECT_FALSE(data["front"].empty());
}

TEST_P(EverySampler, searches_priced_steps_of_both_phases) {
  write("s.toml", priced);
  const Json data =
      data_of({"tune", "s.toml", "--sampler", GetParam(), "--trials", "12", "--seed", "3"});
  EXPECT_EQ(data["evaluations"].size(), 24u);
  std::set<std::string> phases;
  for (const Json& point : data["front"]) phases.insert(point["config"]["phase"]);
  EXPECT_EQ(phases, (std::set<std::string>{"decode", "prefill"}));
}

TEST_P(EverySampler, searches_what_is_measured) {
  tiny_sweep("fake", "shards = [1]");
  const Outcome o = halmark(
      {"tune", "tiny.toml", "--db", "r.db", "--json", "--sampler", GetParam(), "--trials", "2"});
  ASSERT_EQ(o.exit_code, 0) << o.out << o.err;
  EXPECT_FALSE(envelope_of(o.out)["data"]["front"].empty());
}

INSTANTIATE_TEST_SUITE_P(Table, EverySampler, testing::ValuesIn(sampler_names()),
                         [](const auto& info) { return info.param; });

class Samplers : public HalmarkTest {};

TEST_F(Samplers, one_that_is_not_there_is_refused_where_it_was_named) {
  write("s.toml", std::string("sampler = \"gird\"\n") + served);
  const Outcome in_file = halmark({"tune", "s.toml"});
  EXPECT_EQ(in_file.exit_code, 2);
  EXPECT_THAT(in_file.err, testing::AllOf(HasSubstr("s.toml:1:"), HasSubstr("grid")));
  write("t.toml", served);
  const Outcome by_flag = halmark({"tune", "t.toml", "--sampler", "tpee"});
  EXPECT_EQ(by_flag.exit_code, 2);
  EXPECT_THAT(by_flag.err, testing::AllOf(HasSubstr("--sampler"), HasSubstr("tpe")));
}

TEST_F(Samplers, certify_is_refused_where_nothing_is_measured) {
  write("s.toml", served);
  const Outcome o = halmark({"tune", "s.toml", "--sampler", "certify"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_THAT(o.err, HasSubstr("certify"));
}

TEST_F(Samplers, a_served_plan_prints_counts_and_prices_nothing) {
  write("s.toml", served);
  const Outcome o = halmark({"tune", "s.toml", "--plan"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, testing::AllOf(HasSubstr("requests:"), HasSubstr("configurations of"),
                                    HasSubstr("never proposed")));
}

}  // namespace
}  // namespace halmark::integration
