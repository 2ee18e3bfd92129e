// Known devices are forecast unless bounds are asked for: whole commands on the shipped tables.
#include <fstream>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Forecasts : public HalmarkTest {
 protected:
  static Arguments step(Arguments more) {
    Arguments out = {"model", "llama-3.1-8b", "--batch", "16", "--context", "4096", "--tp", "2"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
};

TEST_F(Forecasts, a_step_stands_with_its_interval_beside_its_bound) {
  const Json both = data_of(step({"--device", "h200"}))["answer"];
  const Json bound = data_of(step({"--device", "h200", "--latency", "roofline"}))["answer"];
  EXPECT_EQ(both["time_source"], "expected");
  EXPECT_EQ(bound["time_source"], "floor");
  EXPECT_EQ(both["floor_ms"], bound["time_ms"]);
  EXPECT_EQ(both["mfu_pct"], bound["mfu_pct"]) << "shares of peak are of bounds";
  const auto ms = both["time_ms"].get<double>();
  EXPECT_LE(both["floor_ms"].get<double>(), both["expected_interval_ms"][0].get<double>());
  EXPECT_LT(both["expected_interval_ms"][0].get<double>(), ms);
  EXPECT_GT(both["expected_interval_ms"][1].get<double>(), ms);
  EXPECT_THAT(both["text"].get<std::string>(),
              AllOf(HasSubstr("at best"), HasSubstr("forecast on 2 x h200")));
  EXPECT_FALSE(bound.contains("expected_ms"));
}

TEST_F(Forecasts, times_of_the_operators_sum_to_the_step_and_say_where_they_are_from) {
  const Json data = data_of(step({"--device", "b200", "--latency", "forecast:trtllm,roofline"}));
  double sum = 0;
  bool has_series = false;
  for (const Json& op : data["operators"]) {
    sum += op["time_ms"].get<double>();
    const auto from = op["expected"]["from"].get<std::string>();
    has_series |= from.starts_with("forecast trtllm ");
    EXPECT_GE(op["expected"]["time_each_us"].get<double>() + 1e-9,
              op["lower_bound_us"].get<double>() / op["count"].get<double>());
  }
  EXPECT_TRUE(has_series);
  EXPECT_NEAR(sum, data["answer"]["time_ms"].get<double>(), 1e-6 * sum);
}

TEST_F(Forecasts, a_device_without_tables_has_bounds_and_says_so) {
  const Outcome o = halmark(step({"--device", "gaudi3"}));
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out,
              AllOf(HasSubstr("at best on 2 x gaudi3"),
                    HasSubstr("no forecast tables of gaudi3 or a device like it: bounds instead")));
  const Outcome alone = halmark(step({"--device", "gaudi3", "--latency", "forecast"}));
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_TRUE(is_one_line(alone.err)) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr("halmark forecasts"));
}

// The same silicon with slower memory, and a card of another kind.
TEST_F(Forecasts, a_device_without_tables_has_those_of_the_nearest_and_says_so) {
  for (const auto& [device, near] : {std::pair{"h100-pcie", "h100-sxm"}, {"rtx-4090", "l40s"}}) {
    const Outcome o = halmark(step({"--device", device}));
    EXPECT_EQ(o.exit_code, 0) << o.err;
    EXPECT_THAT(o.out, HasSubstr(std::string("transferred to ") + device));
    EXPECT_THAT(o.out, HasSubstr(std::string("transferred from ") + near + " of forecast vllm"));
    const Json own = data_of(step({"--device", near}))["answer"],
               carried = data_of(step({"--device", device}))["answer"];
    const auto width = [](const Json& answer) {
      const Json& interval = answer["expected_interval_ms"];
      return interval[1].get<double>() / interval[0].get<double>();
    };
    EXPECT_EQ(carried["time_source"], "expected");
    EXPECT_GT(width(carried), width(own)) << "less is known of it";
    EXPECT_GE(carried["expected_ms"].get<double>(), carried["floor_ms"].get<double>());
  }
}

TEST_F(Forecasts, an_engine_that_no_table_is_of_is_refused_where_it_is_named) {
  const Outcome o = halmark(step({"--device", "a100", "--latency", "forecast:lmdeploy,roofline"}));
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_TRUE(is_one_line(o.err)) << o.err;
  EXPECT_THAT(o.err, HasSubstr("no forecast tables of a100 under lmdeploy"));
  const Outcome other = halmark({"simulate", "serving", "llama-3.1-8b", "--device", "b60",
                                 "--engine", "trtllm", "--requests", "4"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.out, HasSubstr("because there is none of trtllm"));
}

TEST_F(Forecasts, a_table_that_is_not_the_shipped_one_ends_the_command) {
  const fs::path from = test::in_source("/configs/forecasts"), to = path("configs/forecasts");
  fs::create_directories(to);
  fs::copy(from / "manifest.toml", to / "manifest.toml");
  fs::copy(from / "h200", to / "h200");
  for (const fs::directory_entry& file : fs::directory_iterator(to / "h200")) {
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(1000);
    bytes.put('x').put('y');
  }
  base_.environment["HALMARK_CONFIG_PATH"] = path("configs");
  const Outcome o = halmark(step({"--device", "h200"}));
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_TRUE(is_one_line(o.err)) << o.err;
  EXPECT_THAT(o.err, AllOf(HasSubstr("configs/forecasts/h200/"), HasSubstr("another sha256")));
  EXPECT_EQ(halmark(step({"--device", "h200", "--latency", "roofline"})).exit_code, 0);
}

TEST_F(Forecasts, searches_and_servers_take_longer_than_their_bounds) {
  const auto tuned = [&](Arguments more) {
    Arguments all = {"tune",    "llama-3.1-8b", "--device", "h200", "--devices", "2",
                     "--input", "1000",         "--output", "100",  "--db",      "x.db"};
    all.insert(all.end(), more.begin(), more.end());
    return data_of(all);
  };
  const Json expected = tuned({}), bound = tuned({"--latency", "roofline"});
  EXPECT_THAT(expected.dump(), HasSubstr("forecast vllm"));
  EXPECT_THAT(bound.dump(), Not(HasSubstr("forecast vllm")));
  const auto served = [&](Arguments more) {
    Arguments all = {"simulate", "serving",    "llama-3.1-8b", "--device", "h200", "--concurrency",
                     "8",        "--requests", "16",           "--input",  "256",  "--output",
                     "32"};
    all.insert(all.end(), more.begin(), more.end());
    return data_of(all)["tpot"]["mean_ms"].get<double>();
  };
  EXPECT_GT(served({}), served({"--latency", "roofline"}));
}

TEST_F(Forecasts, are_listed_with_their_errors) {
  const Json all = data_of({"forecasts"})["forecasts"],
             one = data_of({"forecasts", "h200"})["forecasts"];
  std::size_t of_h200 = 0;
  for (const Json& file : all) {
    std::size_t rows = 0;
    for (const Json& kind : file["kinds"]) rows += kind["rows"].get<std::size_t>();
    EXPECT_EQ(rows, file["rows"].get<std::size_t>());
    of_h200 += file["device"] == "h200" ? 1 : 0;
  }
  EXPECT_EQ(one.size(), of_h200);
  EXPECT_THAT(halmark({"forecasts", "h200"}).out, HasSubstr("generation_attention"));
  const Outcome none = halmark({"forecasts", "h20"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(is_one_line(none.err)) << none.err;
}

}  // namespace
}  // namespace halmark::integration
