// From a search to files that engines, clusters and other tools start from: whole commands, and the
// readers of those files where they are installed.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/python_with.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

class Export : public HalmarkTest {
 protected:
  // Output of the reader, or nothing where its module is absent.
  std::optional<std::string> peer(const std::string& module, const std::string& kind,
                                  const std::string& file) const {
    const auto python = test::python_with(module);
    if (!python) return std::nullopt;
    const Outcome o =
        run({.arguments = {*python, test::in_source("/tests/integration/exchange/export_peers.py"),
                           kind, path(file)}});
    EXPECT_EQ(o.exit_code, 0) << o.err;
    return o.out;
  }
  void search() const {
    write("s.toml", served_sweep);
    ASSERT_EQ(halmark({"tune", "s.toml", "--db", "x.db"}).exit_code, 0);
  }
};

TEST_F(Export, a_served_front_is_stored_and_its_points_have_the_numbers_that_were_printed) {
  write("s.toml", served_sweep);
  const Json found = data_of({"tune", "s.toml", "--db", "x.db"});
  const Json listed = data_of({"export", "--db", "x.db"});
  ASSERT_EQ(listed["points"].size(), found["front"].size());
  for (std::size_t i = 0; i < found["front"].size(); ++i) {
    EXPECT_EQ(listed["points"][i]["key"], found["front"][i]["key"]);
    EXPECT_EQ(listed["points"][i]["figures"]["ttft"], found["front"][i]["figures"]["ttft_ns"]);
  }
  EXPECT_THAT(halmark({"study", "list", "--db", "x.db"}).out, HasSubstr("served"));
}

TEST_F(Export, the_same_search_twice_is_one_study) {
  search();
  search();
  EXPECT_EQ(data_of({"study", "list", "--db", "x.db"})["studies"].size(), 1u);
}

TEST_F(Export, a_model_with_words_about_its_load_becomes_a_sweep_a_point_and_a_command) {
  const Json data =
      data_of({"tune",    "qwen3-30b-a3b", "--device", "h200", "--devices",        "4",
               "--input", "2000",          "--output", "100",  "--ttft",           "1s",
               "--tpot",  "30ms",          "--as",     "vllm", "--server-version", "0.20.1",
               "--db",    "x.db"});
  EXPECT_EQ(data["picked"]["key"], data["export"]["key"]);
  EXPECT_EQ(data["export"]["is_forecast_of_engine"], true);
  const std::string text = read("qwen3-30b-a3b-4x-h200.toml");
  EXPECT_THAT(text, HasSubstr("ttft_ms = 1000"));
  EXPECT_THAT(text, HasSubstr("tpot_ms = 30"));
  // The file alone gives the same front.
  const Json again = data_of({"tune", "qwen3-30b-a3b-4x-h200.toml", "--db", "y.db"});
  EXPECT_EQ(again["front"], data["front"]);
  EXPECT_EQ(halmark({"tune", "qwen3-30b-a3b", "--device", "h200", "--devices", "4", "--input",
                     "2000", "--output", "100", "--ttft", "1s", "--tpot", "30ms", "--print-sweep"})
                .out,
            text);
}

// Four bits of 120 billion parameters fit on one device, 16 and 8 do not.
TEST_F(Export, a_search_of_a_model_begins_with_the_precision_of_its_checkpoint) {
  const Json data = data_of({"tune", "gpt-oss-120b", "--device", "h100", "--devices", "1",
                             "--input", "1000", "--output", "100", "--db", "x.db"});
  ASSERT_FALSE(data["front"].empty());
  for (const Json& point : data["front"]) {
    EXPECT_THAT(point["key"].get<std::string>(), HasSubstr(" mxfp4 "));
  }
  EXPECT_GT(data["refused"]["out_of_memory"], 0);
}

TEST_F(Export, where_nothing_fits_the_exit_code_is_3_and_the_least_that_does_is_named) {
  const Arguments asked = {"tune",  "llama-3.1-405b", "--device", "h100",     "--devices",
                           "1",     "--input",        "1000",     "--output", "100",
                           "--as",  "vllm",           "--db",     "x.db",     "--server-version",
                           "0.20.1"};
  const Outcome o = halmark(asked);
  EXPECT_EQ(o.exit_code, 3);
  // 405 billion parameters of 2, 1 and half a byte in 71 GiB each: 810 / 16, 405 / 8, 203 / 4 GB.
  EXPECT_THAT(o.out, HasSubstr("none: no configuration fits; w4a16 fits from 4 devices (tp4), fp8 "
                               "from 8 devices (tp8), bf16 from 16 devices (tp16)\n"));
}

TEST_F(Export, an_alias_keeps_its_name_wherever_a_model_is_named) {
  const std::string alias = "llama-3.3-70b";
  const Outcome tuned =
      halmark({"tune", alias, "--device", "h200", "--devices", "4", "--input", "1000", "--output",
               "100", "--as", "vllm", "--server-version", "0.20.1", "--db", "x.db"});
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("vllm serve meta-llama/Llama-3.3-70B-Instruct"));
  std::vector<std::string> texts = {tuned.out};
  for (const Arguments& command : std::vector<Arguments>{
           {"model", alias, "--device", "h200", "--tp", "2"},
           {"simulate", alias, "--device", "h200", "--tp", "2"},
           {"simulate", "serving", alias, "--device", "h200", "--tp", "2", "--input", "100",
            "--output", "10", "--rate", "1"},
           {"simulate", "plan", alias, "--device", "h200", "--shards", "2"},
           {"plan-size", alias, "--tokens", "1e12", "--device", "h200", "--days", "30"}}) {
    const Outcome text = halmark(command);
    EXPECT_EQ(text.exit_code, 0) << command[0] << ' ' << command[1] << text.err;
    texts.push_back(text.out);
    Arguments with_json = command;
    with_json.emplace_back("--json");
    EXPECT_THAT(data_of(with_json).dump(), testing::Not(HasSubstr("lama-3.1-70"))) << command[0];
  }
  for (const std::string& text : texts) {
    EXPECT_THAT(text, HasSubstr(alias));
    EXPECT_THAT(text, testing::Not(HasSubstr("lama-3.1-70"))) << "nor its sibling's";
  }
}

TEST_F(Export, levels_that_nothing_keeps_name_the_nearest_miss) {
  const Arguments asked = {"tune",   "qwen3-30b-a3b", "--device", "h200",     "--devices",
                           "1",      "--input",       "2000",     "--output", "100",
                           "--ttft", "1us",           "--db",     "x.db"};
  EXPECT_THAT(halmark(asked).out, HasSubstr("nearest that miss a level"));
  Arguments written = asked;
  written.insert(written.end(), {"--as", "vllm", "--server-version", "0.20.1"});
  const Outcome o = halmark(written);
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_TRUE(is_one_line(o.err));
  EXPECT_THAT(o.err, HasSubstr("nearest: "));
}

TEST_F(Export, what_the_end_needs_is_checked_before_the_work) {
  write("s.toml", served_sweep);
  const std::vector<Arguments> refused = {
      {"tune", "s.toml", "--db", "x.db", "--out", "r.xyz"},
      {"tune", "s.toml", "--db", "x.db", "--as", "vllm", "--server-version", "9.9"},
      {"tune", "s.toml", "--db", "x.db", "--as", "vlm", "--server-version", "0.20.1"},
      {"tune", "s.toml", "--db", "x.db", "--as", "k8s", "--server-version", "0.20.1"}};
  for (const Arguments& arguments : refused) {
    const Outcome o = halmark(arguments);
    EXPECT_EQ(o.exit_code, 2);
    EXPECT_TRUE(is_one_line(o.err)) << o.err;
  }
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(Export, bad_choices_are_one_line) {
  EXPECT_THAT(halmark({"export", "--db", "x.db"}).err, HasSubstr("no search is stored"));
  search();
  for (const Arguments& more : std::vector<Arguments>{
           {"--point", "99"}, {"--pick", "best:speed"}, {"--pick", "any"}, {"--study", "none"}}) {
    Arguments all = {"export", "--db", "x.db", "--as", "vllm", "--server-version", "0.20.1"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome o = halmark(all);
    EXPECT_EQ(o.exit_code, 2) << o.out;
    EXPECT_TRUE(is_one_line(o.err)) << o.err;
  }
}

TEST_F(Export, the_config_of_an_engine_is_read_back_to_the_flags_of_its_script) {
  search();
  const Json data = data_of({"export", "--db", "x.db", "--as", "vllm", "--server-version", "0.24.0",
                             "--pick", "best:tpot", "--out", "out/"});
  EXPECT_THAT(read("out/launch.sh"), HasSubstr("vllm serve Qwen/Qwen3-30B-A3B"));
  const auto text = peer("yaml", "yaml", "out/config.yaml");
  if (!text) GTEST_SKIP() << "no Python with yaml";
  const Json config = Json::parse(*text);
  for (const Json& f : data["flags"]) {
    std::string flag = f["flag"].get<std::string>().substr(2);
    const std::string value = f["value"];
    const Json read_back = config.at(flag.starts_with("no-") ? flag.substr(3) : flag);
    if (value.empty()) {
      EXPECT_EQ(read_back, Json(!flag.starts_with("no-"))) << flag;
    } else {
      EXPECT_EQ(read_back.is_string() ? read_back.get<std::string>() : read_back.dump(), value);
    }
  }
  EXPECT_EQ(config.at("model"), "Qwen/Qwen3-30B-A3B");
}

TEST_F(Export, manifests_pass_the_schema_of_kubernetes) {
  search();
  write("nodes.toml", "[[node]]\nnames = [\"gpu-1\", \"gpu-2\"]\ndevices = 4\n");
  const Outcome o =
      halmark({"export", "--db", "x.db", "--as", "k8s", "--engine", "sglang", "--server-version",
               "0.5.9", "--nodes", "nodes.toml", "--out", "k.yaml"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const auto kinds = peer("kubernetes_validate", "k8s", "k.yaml");
  if (!kinds) GTEST_SKIP() << "no Python with kubernetes_validate";
  EXPECT_THAT(*kinds, HasSubstr("Deployment"));
  EXPECT_THAT(*kinds, HasSubstr("Service"));
}

TEST_F(Export, tables_of_others_have_the_rows_that_their_readers_count) {
  search();
  const std::size_t points = data_of({"export", "--db", "x.db"})["points"].size();
  for (const auto& [format, file] :
       {std::pair{"prometheus", "m.prom"}, {"parquet", "m.parquet"}, {"csv", "m.csv"}}) {
    const Outcome o = halmark({"export", "--db", "x.db", "--front", "--as", format, "--out", file});
    ASSERT_EQ(o.exit_code, 0) << o.err;
  }
  const std::string csv = read("m.csv");
  const auto rows = std::ranges::count(csv, '\n') - 1;
  EXPECT_EQ(rows % static_cast<std::ptrdiff_t>(points), 0);
  const auto families = peer("prometheus_client", "prometheus", "m.prom");
  const auto parquet = peer("pyarrow.parquet", "parquet", "m.parquet");
  if (!families || !parquet) GTEST_SKIP() << "no Python with prometheus_client and pyarrow";
  EXPECT_THAT(*families, HasSubstr(' ' + std::to_string(rows) + '\n'));
  EXPECT_THAT(*parquet, testing::StartsWith(std::to_string(rows) + " name op "));
}

}  // namespace
}  // namespace halmark::integration
