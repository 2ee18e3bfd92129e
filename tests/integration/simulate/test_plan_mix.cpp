// halmark plan-mix and plan-size: whole commands on forecasts and bounds of known devices.
#include <cmath>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

const char* const load = R"([[bucket]]
input_tokens = 128
output_tokens = 64
requests_per_s = 40
[[bucket]]
input_tokens = 4000
output_tokens = 200
requests_per_s = 4
[slo]
tpot_ms = 50
)";

class PlanMix : public HalmarkTest {
 protected:
  Arguments command(const std::string& devices) const {
    return {"plan-mix", "llama-3.1-8b", "--devices", devices,
            "--load",   "load.toml",    "--price",   "h100-sxm=2.5,l4=0.7,a100=1.6",
            "--tp",     "1,2"};
  }
};

TEST_F(PlanMix, what_it_costs_follows_from_its_units_and_every_request_is_served) {
  write("load.toml", load);
  Arguments all = command("h100-sxm,l4,a100");
  const Json data = data_of(all);
  double usd = 0;
  for (const Json& unit : data["units"]) {
    usd += unit["usd_per_hour"].get<double>() * unit["count"].get<double>();
    if (unit["count"] == 0) continue;
    EXPECT_LE(unit["utilisation"].get<double>(), 1 + 1e-6);
  }
  EXPECT_NEAR(data["usd_per_hour"].get<double>(), usd, 1e-9);
  std::vector<double> work(data["units"].size(), 0);
  for (const Json& bucket : data["buckets"]) {
    double share = 0;
    for (const Json& by : bucket["served_by"]) {
      share += by["share"].get<double>();
      if (by["share"] == 0) continue;
      EXPECT_LE(by["tpot_ns"].get<double>(), 50e6);
      work[by["unit"].get<std::size_t>()] += by["share"].get<double>() *
                                             bucket["requests_per_s"].get<double>() /
                                             by["requests_per_s_of_a_unit"].get<double>();
    }
    EXPECT_NEAR(share, 1, 1e-12);
  }
  for (std::size_t u = 0; u < work.size(); ++u) {
    EXPECT_LE(work[u], data["units"][u]["count"].get<double>() + 1e-6);
  }
  for (const Json& single : data["single_types"]) {
    if (single["usd_per_hour"].is_null()) continue;
    EXPECT_GE(single["usd_per_hour"].get<double>(), usd - 1e-9) << "a mix may be of one type";
  }
}

TEST_F(PlanMix, one_kind_of_request_needs_no_file) {
  const Json data = data_of({"plan-mix", "llama-3.1-8b", "--devices", "h100-sxm", "--input-tokens",
                             "1000", "--output-tokens", "100", "--rate", "5", "--slo",
                             "ttft_ms=2000,tpot_ms=40", "--price", "h100-sxm=2.5"});
  EXPECT_GE(data["usd_per_hour"].get<double>(), 2.5);
}

// Little's law of what each replica holds, and one replica fewer would not do.
TEST_F(PlanMix, plan_size_counts_replicas_that_keep_up_with_a_load) {
  struct Case {
    Arguments load;
    double requests_per_s, users, tpot_ns;
  };
  for (const Case& c :
       {Case{{"--requests-per-s", "20", "--input", "2000", "--output", "500"}, 20, 0, 50e6},
        Case{{"--users", "500"}, 0, 500, 50e6},
        Case{{"--users", "200", "--slo", "ttft_ms=2000,tpot_ms=40"}, 0, 200, 40e6}}) {
    Arguments all = {"plan-size", "llama-3.3-70b", "--device", "h100"};
    all.insert(all.end(), c.load.begin(), c.load.end());
    const Json data = data_of(all);
    const Json& replica = data["replica"];
    const Json& figures = replica["estimate"]["figures"];
    const double count = replica["count"], each = figures["requests_per_s"],
                 held = replica["concurrency"];
    EXPECT_EQ(data["plan"]["devices"].get<double>(), count * replica["devices"].get<double>());
    EXPECT_NEAR(each * figures["request_ns"].get<double>() / 1e9, held, 1e-6 * held);
    const double asked = c.users > 0 ? c.users / held : c.requests_per_s / each;
    EXPECT_LE(asked, count);
    EXPECT_GT(asked, count - 1);
    EXPECT_NEAR(replica["utilisation"].get<double>(), asked / count, 1e-9);
    EXPECT_LE(figures["tpot_ns"].get<double>(), c.tpot_ns);
    EXPECT_GE(replica["sure_devices"], data["plan"]["devices"]);
    const bool has_level = std::ranges::find(all, "--slo") != all.end();
    EXPECT_TRUE(has_level || !replica["estimate"]["is_saturated"].get<bool>())
        << "requests would wait without end for the token budget";
    const Outcome text = halmark(all);
    EXPECT_THAT(text.out.substr(0, text.out.find('\n')),
                AllOf(HasSubstr(std::to_string(data["plan"]["devices"].get<int>()) + " x h100-sxm"),
                      HasSubstr("90 % probability")));
  }
}

TEST_F(PlanMix, refuses_in_one_line) {
  write("load.toml", load);
  write("bad.toml", "[[bucket]]\ninput_tokens = 1\n");
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{"plan-mix", "llama-3.1-8b", "--devices", "l4", "--load", "load.toml"}, "no price of l4"},
      {{"plan-mix", "llama-3.1-8b", "--devices", "l44", "--load", "load.toml"}, "l4"},
      {{"plan-mix", "llama-3.1-8", "--devices", "l4", "--load", "load.toml", "--price", "l4=1"},
       "llama-3.1-8b"},
      {{"plan-mix", "llama-3.1-8b", "--devices", "l4", "--load", "bad.toml", "--price", "l4=1"},
       "bad.toml:"},
      {{"plan-mix", "llama-3.1-8b", "--devices", "l4", "--price", "l4=1"}, "name one load"},
      {{"plan-mix", "llama-3.1-8b", "--devices", "l4", "--load", "load.toml", "--price", "l4=x"},
       "no price"},
      {{"plan-mix", "llama-3.1-405b", "--devices", "l4", "--load", "load.toml", "--price", "l4=1"},
       "served by none"},
  };
  for (const auto& [arguments, expected] : cases) {
    const Outcome o = halmark(arguments);
    EXPECT_EQ(o.exit_code, 2) << o.out;
    EXPECT_TRUE(is_one_line(o.err)) << o.err;
    EXPECT_THAT(o.err, HasSubstr(expected));
  }
}

TEST_F(PlanMix, the_least_device_is_stated_beside_a_real_one) {
  const Json data = data_of({"plan-size", "llama-3.1-8b", "--require", "--input-tokens", "2000",
                             "--output-tokens", "200", "--slo", "ttft_ms=300,tpot_ms=15",
                             "--device", "h100-sxm"});
  EXPECT_EQ(data["ceilings"][1]["name"], "memory bandwidth");
  EXPECT_EQ(data["ceilings"][1]["set_by"], "tpot");
  EXPECT_EQ(data["ceilings"][0]["set_by"], "ttft");
  EXPECT_NEAR(data["ceilings"][0]["device"].get<double>(), 989.4e12, 1e9);
  EXPECT_TRUE(data["ceilings"][2]["alone"].is_null()) << "one device passes nothing on";
  EXPECT_GT(data["memory_bytes"].get<double>(), 16e9);
  const Outcome o = halmark({"plan-size", "llama-3.1-8b", "--require", "--input-tokens", "2000",
                             "--output-tokens", "200"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_THAT(o.err, HasSubstr("--slo ttft_ms=500"));
}

}  // namespace
}  // namespace halmark::integration
