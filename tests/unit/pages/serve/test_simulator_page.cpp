#include "pages/serve/simulator_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "pages/serve/static_page.hpp"
#include "shipped.hpp"

namespace halmark::pages {
namespace {

using Values = std::map<std::string, std::string>;

PageSettings settings() {
  return {.sources = shipped_sources(), .sweeps = {.database = "/nowhere/r.db"}};
}

const Values state = {{"model", "qwen3-30b-a3b"},
                      {"device", "h100-sxm"},
                      {"shards", "4"},
                      {"batch", "16"},
                      {"dtype", "bf16"}};

const Json& figure(const Json& step, const std::string& key) {
  for (const Json& one : step["figures"]) {
    if (one["key"] == key) return one;
  }
  throw std::runtime_error("no figure " + key);
}

TEST(SimulatorPages, every_figure_says_where_it_is_from) {
  SimulatorPage page(settings());
  const Json step = page.answer({"step", state});
  for (const Json& one : step["figures"]) {
    EXPECT_FALSE(one["from"].get<std::string>().empty()) << one;
    EXPECT_FALSE(one["means"].get<std::string>().empty()) << one;
    EXPECT_NE(one["value"].is_null(), one["reason"].get<std::string>().empty()) << one;
    const bool has_interval = !one["low"].is_null();
    EXPECT_TRUE(!has_interval || one["low"] <= one["high"]) << one;
  }
}

TEST(SimulatorPages, devices_without_power_say_so) {
  SimulatorPage page(settings());
  Values values = state;
  values["device"] = "tpu-v5p";
  const Json step = page.answer({"step", values});
  EXPECT_TRUE(figure(step, "power")["value"].is_null());
  EXPECT_THAT(figure(step, "power")["reason"].get<std::string>(), testing::HasSubstr("power"));
}

TEST(SimulatorPages, the_sharding_table_adds_up_and_names_each_tensor_once) {
  SimulatorPage page(settings());
  Values values = state;
  values["strategy"] = "tp4";
  const Json table = page.answer({"step", values})["sharding"];
  std::set<std::pair<std::string, std::string>> names;
  double bytes = 0, held = 0;
  for (const Json& row : table["rows"]) {
    bytes += row["bytes"].get<double>();
    held += row["bytes_per_shard"].get<double>() * row["owners"].get<double>() *
            row["count"].get<double>();
    const bool is_new = names.emplace(row["layer"], row["tensor"]).second;
    EXPECT_TRUE(is_new) << row;
    EXPECT_FALSE(row["reason"].get<std::string>().empty()) << row;
  }
  EXPECT_DOUBLE_EQ(bytes, table["sum"].get<double>());
  EXPECT_DOUBLE_EQ(held, table["held"].get<double>());
  EXPECT_GT(held, bytes) << "norms are on every rank";
}

TEST(SimulatorPages, launch_scripts_say_what_the_state_says) {
  SimulatorPage page(settings());
  Values values = state;
  values["as"] = "vllm";
  values["strategy"] = "tp4";
  const Json files = page.answer({"export", values})["files"];
  ASSERT_FALSE(files.empty());
  EXPECT_THAT(files[0]["text"].get<std::string>(),
              testing::AllOf(testing::HasSubstr("vllm serve"),
                             testing::HasSubstr("--tensor-parallel-size 4")));
  values["as"] = "no-engine";
  EXPECT_THROW(page.answer({"export", values}), Error);
}

TEST(SimulatorPages, a_journal_that_is_not_there_is_no_error) {
  SimulatorPage page(settings());
  const Json runs = page.answer({"runs", {}});
  EXPECT_TRUE(runs["runs"].empty());
  EXPECT_FALSE(runs["reason"].get<std::string>().empty());
  for (const char* side : {"", "x.db", "../r.db:1", "1;2"}) {
    EXPECT_THROW(page.answer({"compare", {{"before", side}, {"after", "1"}}}), Error) << side;
  }
}

TEST(SimulatorPages, open_no_file_that_a_question_names) {
  SimulatorPage page(settings());
  const std::string configs = HALMARK_SOURCE_DIR "/configs/";
  for (const auto& [name, file] : Values{{"model", configs + "models/qwen3-8b.json"},
                                         {"device", configs + "devices/h100-sxm.toml"},
                                         {"fabric", configs + "fabrics/lite.toml"}}) {
    Values values = state;
    values[name] = file;
    EXPECT_THROW(page.answer({"step", values}), Error) << file;
  }
}

TEST(SimulatorPages, know_no_other_questions) {
  SimulatorPage page(settings());
  EXPECT_THROW(page.answer({"nonsense", {}}), std::out_of_range);
  EXPECT_THROW(page.act({"nonsense", {}}), std::out_of_range);
  EXPECT_THROW(page.act({"stop", {}}), Error);
  EXPECT_THROW(page.act({"start", {{"sweep", "../../etc/passwd"}}}), Error);
}

// Of the policy's digests: what a browser computes of the elements' texts.
TEST(StaticPages, state_their_own_digests_and_end_no_element_early) {
  SimulatorPage page(settings());
  const std::string text =
      static_page(page, {.device = "h100-sxm", .model = "qwen3-0.6b", .shards = 2});
  EXPECT_THAT(text, testing::HasSubstr("default-src 'none'; script-src 'sha256-"));
  std::size_t ends = 0;
  for (std::size_t at = 0; (at = text.find("</script>", at)) != std::string::npos; ++at) ++ends;
  EXPECT_EQ(ends, 2u);
  EXPECT_LT(text.size(), std::size_t{4} << 20);
}

}  // namespace
}  // namespace halmark::pages
