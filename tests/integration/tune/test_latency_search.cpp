// Searches on the roofline of a device and on tables of others: whole commands, no device, no
// database.
#include <filesystem>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const char* const sweep = R"(name = "served"
model = "qwen3-0.6b"
device_file = "h200"
shards = [1, 2, 4]
dtypes = ["bf16"]
objectives = ["ttft", "tpot", "tokens_per_s_per_device", "energy"]
[request]
input_tokens = 2000
output_tokens = 100
concurrency = [4, 64]
token_budget = [512, 4096]
modes = ["aggregated", "disaggregated"]
)";

class LatencySearch : public HalmarkTest {};

TEST_F(LatencySearch, finds_a_front_without_a_device_and_writes_no_measurement) {
  write("s.toml", sweep);
  const Json data = data_of({"tune", "s.toml", "--latency", "roofline"});
  EXPECT_EQ(data["is_measured"], false);
  ASSERT_GE(data["front"].size(), 3u);
  for (const Json& point : data["front"]) {
    const Json& f = point["figures"];
    EXPECT_EQ(point["provenance"]["roofline"], 1);
    const double concurrency = point["concurrency"].get<double>();
    EXPECT_NEAR(f["requests_per_s"].get<double>() * f["request_ns"].get<double>() / 1e9,
                concurrency, 1e-6 * concurrency);
    EXPECT_NEAR(f["energy_j_per_token"].get<double>(),
                700 * point["devices"].get<double>() / f["tokens_per_s"].get<double>(), 1e-9);
    EXPECT_TRUE(f["usd_per_million_tokens"].is_null());
    EXPECT_TRUE(f.contains("usd_per_million_tokens_reason"));
    EXPECT_TRUE(point["slo_probability"].is_null());
  }
}

// Of whoever prices a model, not of `halmark model` alone.
TEST_F(LatencySearch, what_a_model_states_and_nobody_models_is_named_by_every_command) {
  write("llava.json",
        R"({"model_type": "llava", "vision_config": {"model_type": "clip_vision_model"},
    "text_config": {"model_type": "llama", "hidden_size": 256, "intermediate_size": 512,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
    "vocab_size": 1024}})");
  write("s.toml",
        "name = \"tower\"\nmodel = \"llava.json\"\ndevice_file = \"h200\"\nshards = [1]\n"
        "dtypes = [\"bf16\"]\n[[workload]]\nphase = \"decode\"\nbatch = 1\ncontext = 64\n");
  for (const Arguments& command :
       {Arguments{"tune", "s.toml", "--latency", "roofline"},
        Arguments{"tune", "s.toml", "--latency", "roofline", "--plan"},
        Arguments{"plan-size", "llava.json", "--device", "h200", "--tokens", "1e9", "--days", "1"},
        Arguments{"model", "llava.json"}}) {
    const Outcome o = halmark(command);
    EXPECT_EQ(o.exit_code, 0) << o.err;
    EXPECT_THAT(o.out, HasSubstr("not modelled: vision tower (vision_config)")) << command[0];
  }
}

TEST_F(LatencySearch, context_parallelism_is_tried_and_named_in_every_report) {
  write("s.toml",
        "name = \"context\"\nmodel = \"qwen3-0.6b\"\ndevice_file = \"h200\"\n"
        "shards = [1, 2]\ndtypes = [\"bf16\"]\nstrategies = [\"context\"]\n"
        "[[workload]]\nphase = \"prefill\"\nbatch = 1\nnew_tokens = 4096\n");
  const Outcome o = halmark({"tune", "s.toml", "--latency", "roofline", "-o", "r.csv"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("b1 bf16 1 shard"));
  EXPECT_THAT(o.out, HasSubstr("b1 bf16 cp2"));
  EXPECT_THAT(read("r.csv"), HasSubstr("1,1,1,1,2,bf16"));
}

TEST_F(LatencySearch, a_level_that_is_missed_names_the_binding_one_and_its_margin) {
  write("s.toml", std::string(sweep) + "[slo]\nttft_ms = 0.001\ntpot_ms = 1000\n");
  const Outcome o = halmark({"tune", "s.toml", "--latency", "roofline"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("0 of "));
  EXPECT_THAT(o.out, HasSubstr("TTFT "));
  EXPECT_THAT(o.out, HasSubstr(" over 0.00100 ms"));
}

TEST_F(LatencySearch, an_imported_table_is_trusted_before_its_gaps_and_those_before_a_bound) {
  write("s.toml", std::string(sweep) + "[slo]\nttft_ms = 400\n");
  // 30 products of one shape, far slower than the bound, some of them those of the model.
  std::string table = "gemm_dtype,m,n,k,latency\n";
  for (int m = 1; m <= 4096; m *= 2) {
    for (const auto& [n, k] : {std::pair{1024, 2048}, {6144, 1024}, {1024, 3072}, {4096, 1024}}) {
      const double ms = 0.01 + 1e-9 * m * n * k / 300;
      table += "bfloat16," + std::to_string(m) + ',' + std::to_string(n) + ',' + std::to_string(k) +
               ',' + std::to_string(ms) + '\n';
    }
  }
  write("gemm.csv", table);
  const Json data =
      data_of({"tune", "s.toml", "--latency", "imported:gemm.csv,interpolated,roofline"});
  ASSERT_GE(data["front"].size(), 1u);
  for (const Json& point : data["front"]) {
    const Json& from = point["provenance"];
    EXPECT_GT(from.value("interpolated", 0.0) + from.value("imported", 0.0), 0.1) << point;
    EXPECT_GT(from.value("roofline", 0.0), 0) << "attention is in no table";
    const Json& interval = point["figures"]["interval"];
    ASSERT_FALSE(interval.is_null());
    EXPECT_LE(interval["fast"]["ttft_ns"], point["figures"]["ttft_ns"]);
    EXPECT_GE(interval["slow"]["ttft_ns"], point["figures"]["ttft_ns"]);
    EXPECT_GE(point["slo_probability"], 0.5) << "the stated figure keeps the level";
    EXPECT_LE(point["slo_probability"], 1);
  }
}

// One product of the step is said to take 1 ns. Its 4 MB of weights alone need 1252 ns at 3.35
// TB/s.
TEST_F(LatencySearch, a_time_that_beats_the_roofline_is_named_and_not_used) {
  write("s.toml",
        "name = 'steps'\nmodel = 'qwen3-0.6b'\nshards = [1]\ndtypes = ['bf16']\n"
        "[[workload]]\nphase = 'decode'\nbatch = 8\ncontext = 512\n");
  write("t.csv", "gemm_dtype,m,n,k,latency\nbfloat16,8,1024,2048,0.000001\n");
  const Arguments priced{"tune",          "s.toml",  "--latency", "imported:t.csv,roofline",
                         "--device-file", "h100-sxm"};
  const Json with = data_of(priced);
  const Json without =
      data_of({"tune", "s.toml", "--latency", "roofline", "--device-file", "h100-sxm"});
  EXPECT_EQ(with["front"][0]["predicted_ns"], without["front"][0]["predicted_ns"]);
  const auto names_it =
      AllOf(HasSubstr("kernels quarantined"), HasSubstr("k=2048 m=8 n=1024"),
            HasSubstr("0.001 us where at least 1.252 us are needed"), HasSubstr("t.csv:2"));
  EXPECT_THAT(with["machine"].dump(), names_it);
  EXPECT_THAT(halmark(priced).out, names_it);
  EXPECT_THAT(without["machine"].dump(), Not(HasSubstr("quarantined")));
  const Json& counted = with["quarantined"];
  EXPECT_EQ(counted["kernels"], 1);
  EXPECT_GT(counted["of"], 5);
  EXPECT_EQ(counted["example"]["source"], "t.csv:2");
  EXPECT_NEAR(counted["example"]["time_ns"].get<double>(), 1, 1e-9);
  EXPECT_NEAR(counted["example"]["lower_bound_ns"].get<double>(), 1252, 1);
  EXPECT_EQ(without["quarantined"]["kernels"], 0);
  EXPECT_TRUE(without["quarantined"]["example"].is_null());
  Arguments to_csv = priced;
  to_csv.insert(to_csv.end(), {"-o", "r.csv"});
  EXPECT_EQ(halmark(to_csv).exit_code, 0);
  EXPECT_THAT(read("r.csv"), AllOf(HasSubstr(",quarantined,quarantined_example,"),
                                   HasSubstr("0.001 us where at least 1.252 us are needed")));
}

// Far slower than any bound, for every product of one decode step.
std::string slow_products(const std::string& kernel, double factor) {
  std::string out = "framework,kernel_source,gemm_dtype,m,n,k,latency\n";
  for (int m = 1; m <= 4096; m *= 2) {
    for (const auto& [n, k] : {std::pair{1024, 2048}, {6144, 1024}, {1024, 3072}, {4096, 1024}}) {
      out += "own," + kernel + ",bfloat16," + std::to_string(m) + ',' + std::to_string(n) + ',' +
             std::to_string(k) + ',' + std::to_string(factor * (0.05 + 1e-9 * m * n * k / 300)) +
             '\n';
    }
  }
  return out;
}

TEST_F(LatencySearch, every_figure_names_its_table_and_series_for_either_step) {
  write("s.toml", sweep);
  std::string both = slow_products("quick", 1), slow = slow_products("slow", 3);
  write("gemm.csv", both + slow.substr(slow.find('\n') + 1));
  const Arguments priced{"tune", "s.toml", "--latency", "imported:gemm.csv,roofline"};
  const Json data = data_of(priced);
  const Json& series = data["tables"][0]["series"];
  ASSERT_EQ(series.size(), 2u);
  EXPECT_EQ(series[0]["name"], "gemm bf16 quick own");
  EXPECT_GT(series[0]["kernels"], 0);
  EXPECT_EQ(series[1]["passed_over"], 52);
  EXPECT_EQ(series[1]["passed_over_reason"], "gemm.csv: gemm bf16 quick own goes first");
  for (const Json& point : data["front"]) {
    for (const char* step : {"ttft_from", "tpot_from"}) {
      const Json& from = point[step];
      const double imported = from["provenance"].value("imported", 0.0);
      EXPECT_NEAR(from["series"].value("gemm.csv: gemm bf16 quick own", 0.0), imported, 1e-12);
      EXPECT_NEAR(imported + from["provenance"].value("roofline", 0.0), 1, 1e-9);
    }
  }
  Arguments chosen = priced;
  chosen.insert(chosen.end(), {"--series", "gemm slow", "-o", "r.csv"});
  const Outcome o = halmark(chosen);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("[1] gemm bf16 slow own: 52 points"),
                           HasSubstr("passed over 52: another series was chosen"),
                           HasSubstr("TTFT "), HasSubstr("; of [1] ")));
  EXPECT_THAT(read("r.csv"), AllOf(HasSubstr("ttft_series,tpot_provenance,tpot_series"),
                                   HasSubstr("gemm.csv: gemm bf16 slow own ")));
  write("s.toml", "series = ['slow']\n" + std::string(sweep));
  const Json listed = data_of(priced);
  const Json& of_list = listed["tables"][0]["series"];
  EXPECT_EQ(of_list[0]["passed_over_reason"], "another series was chosen");
  EXPECT_EQ(of_list[0]["kernels"], 0);
  EXPECT_EQ(of_list[1]["kernels"], series[0]["kernels"]);
  write("s.toml", "series = ['sloe']\n" + std::string(sweep));
  const Outcome refused = halmark(priced);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("s.toml:1:"), HasSubstr("did you mean 'slow'")));
}

TEST_F(LatencySearch, the_type_of_the_cache_is_searched_like_any_other) {
  write("s.toml", std::string(sweep) + "[precision]\nkv_cache = ['bf16', 'fp8']\n");
  const Json data = data_of({"tune", "s.toml", "--latency", "roofline"});
  ASSERT_GE(data["front"].size(), 1u);
  bool has_narrow = false;
  for (const Json& point : data["front"]) {
    const Json& precision = point["precision"];
    const bool is_narrow = precision["kv_cache"] == "f8_e4m3fn";
    EXPECT_EQ(precision["name"], is_narrow ? "bf16+kv_cache=f8_e4m3fn" : "bf16");
    EXPECT_THAT(point["key"].get<std::string>(), HasSubstr(precision["name"].get<std::string>()));
    EXPECT_EQ(precision["attention"], "bf16");
    has_narrow = has_narrow || is_narrow;
  }
  EXPECT_TRUE(has_narrow) << "the cache is read in every step";
}

TEST_F(LatencySearch, steps_are_priced_like_measured_ones_and_say_that_they_are_not) {
  write("s.toml",
        "name = 'steps'\nmodel = 'qwen3-0.6b'\nshards = [1, 2]\ndtypes = ['bf16']\n"
        "[[workload]]\nphase = 'decode'\nbatch = [1, 8]\ncontext = 512\n");
  const Json data =
      data_of({"tune", "s.toml", "--latency", "roofline", "--device-file", "h100-sxm"});
  ASSERT_GE(data["front"].size(), 2u);
  for (const Json& point : data["front"]) EXPECT_EQ(point["provenance"], "roofline");
}

TEST_F(LatencySearch, the_journal_of_this_machine_prices_what_it_measured_as_tune_did) {
  // Figures of another device are none of this CPU's.
  base_.environment["HALMARK_FAKE_SCRIPT"] = "kind=cpu";
  tiny_sweep("fake", "shards = [1]");
  know_peaks();
  const Json tuned = undisturbed_data_of({"tune", "tiny.toml", "--db", "r.db"});
  std::string device;
  for (const std::string& file : files()) {
    if (file.starts_with("state/halmark/devices/")) device = file;
  }
  const Json data =
      data_of({"tune", "tiny.toml", "--latency", "journal:r.db,roofline", "--device-file", device});
  ASSERT_EQ(data["front"].size(), tuned["front"].size());
  for (std::size_t i = 0; i < data["front"].size(); ++i) {
    EXPECT_EQ(data["front"][i]["provenance"], "measured");
    const double expected = tuned["front"][i]["predicted_ns"];
    EXPECT_NEAR(data["front"][i]["predicted_ns"].get<double>(), expected, 1e-9 * expected);
  }
  const Outcome other = halmark(
      {"tune", "tiny.toml", "--latency", "journal:r.db,roofline", "--device-file", "h100-sxm"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("which is not h100-sxm"));
}

TEST_F(LatencySearch, refusals_say_what_to_name) {
  write("s.toml", sweep);
  const auto err = [&](Arguments arguments) {
    const Outcome o = halmark(std::move(arguments));
    EXPECT_EQ(o.exit_code, 2) << o.out;
    return o.err;
  };
  EXPECT_THAT(err({"tune", "s.toml"}), HasSubstr("no source of times is named"));
  EXPECT_THAT(err({"tune", "s.toml", "--latency", "rofline"}),
              HasSubstr("did you mean 'roofline'"));
  EXPECT_THAT(err({"tune", "s.toml", "--latency", "measured"}), HasSubstr("is this machine"));
  EXPECT_THAT(err({"tune", "s.toml", "--latency", "interpolated"}), HasSubstr("imported:FILE"));
  EXPECT_THAT(err({"tune", "s.toml", "--latency", "roofline", "--device-file", "h20O"}),
              HasSubstr("unknown_device"));
  write("c.toml", "usd_per_device_hour = 'x'\n" + std::string(sweep));
  EXPECT_THAT(err({"tune", "c.toml", "--latency", "roofline"}), HasSubstr("c.toml:1:"));
}

}  // namespace
}  // namespace halmark::integration
