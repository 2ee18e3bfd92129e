#include "pages/serve/simulator_page.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "pages/serve/static_page.hpp"
#include "shipped.hpp"
#include "tests/checkout.hpp"

namespace halmark::pages {
namespace {

using Values = std::map<std::string, std::string>;

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
  SimulatorPage page(shipped_settings());
  Values trained = state, served = state;
  trained["model"] = "qwen3-0.6b";
  trained["phase"] = "training";
  served["phase"] = "serving";
  for (const auto& [path, values] :
       std::vector<std::pair<std::string, Values>>{{"step", state},
                                                   {"simulation", state},
                                                   {"spread", state},
                                                   {"step", trained},
                                                   {"simulation", trained},
                                                   {"serving", served}}) {
    const Json document = page.answer({path, values});
    ASSERT_FALSE(document["figures"].empty()) << path;
    for (const Json& one : document["figures"]) {
      EXPECT_FALSE(one["from"].get<std::string>().empty()) << path << one;
      EXPECT_FALSE(one["means"].get<std::string>().empty()) << path << one;
      EXPECT_NE(one["value"].is_null(), one["reason"].get<std::string>().empty()) << path << one;
      const bool has_interval = !one["low"].is_null();
      EXPECT_TRUE(!has_interval || one["low"] <= one["high"]) << path << one;
    }
  }
}

// Twice the expected time is half of the forecast; what no device can do is no share.
TEST(SimulatorPages, place_a_step_of_the_readers_own) {
  SimulatorPage page(shipped_settings());
  for (const char* phase : {"decode", "prefill", "training"}) {
    SCOPED_TRACE(phase);
    Values asked = state;
    asked["model"] = "qwen3-0.6b";
    asked["phase"] = phase;
    const Json step = figure(page.answer({"step", asked}), "step_ns");
    asked["measured"] = std::to_string(2 * step["value"].get<double>() / 1e6);
    const Json twice = page.answer({"step", asked});
    EXPECT_LE(figure(twice, "measured_of_best")["value"], 0.5001);
    if (!step["is_bound"]) {
      EXPECT_NEAR(figure(twice, "measured_of_forecast")["value"], 0.5, 1e-3);
    }
    asked["measured"] = "0.000001";
    const Json absurd = figure(page.answer({"step", asked}), "measured_of_best");
    EXPECT_TRUE(absurd["value"].is_null());
    EXPECT_EQ(absurd["reason"], "no step can have taken so little");
  }
}

// What was simulated takes the place of everything that was announced.
TEST(SimulatorPages, what_is_being_simulated_comes) {
  SimulatorPage page(shipped_settings());
  std::set<std::string> coming, came;
  const Json at_once = page.answer({"step", state});
  for (const Json& one : at_once["figures"]) {
    if (one["reason"] == "is being simulated") coming.insert(one["key"]);
  }
  for (const char* path : {"simulation", "spread"}) {
    const Json later = page.answer({path, state});
    for (const Json& one : later["figures"]) came.insert(one["key"]);
  }
  EXPECT_GE(coming.size(), 5u);
  EXPECT_TRUE(std::ranges::includes(came, coming));
}

TEST(SimulatorPages, only_what_takes_long_is_asked_beside_the_sliders) {
  const SimulatorPage page(shipped_settings());
  for (const char* path : {"step", "fabric", "documents", "export"}) {
    EXPECT_FALSE(page.is_slow({path, {}})) << path;
  }
  for (const char* path : {"simulation", "spread", "serving", "front", "compare"}) {
    EXPECT_TRUE(page.is_slow({path, {}})) << path;
  }
}

// Training is priced by bounds; decode mostly by what engines took.
TEST(SimulatorPages, figures_of_bounds_alone_are_marked) {
  PageSettings settings = shipped_settings();
  settings.sources.latency = tune::default_sources();
  SimulatorPage page(settings);
  Values trained = state;
  trained["phase"] = "training";
  trained["model"] = "qwen3-0.6b";
  EXPECT_TRUE(figure(page.answer({"step", trained}), "step_ns")["is_bound"]);
  const Json decode = page.answer({"step", state});
  const Json& step = figure(decode, "step_ns");
  EXPECT_FALSE(step["is_bound"]);
  EXPECT_THAT(step["from"].get<std::string>(), testing::StartsWith("forecast"));
  for (const Json& op : decode["operators"]) EXPECT_NE(op["bound"], "unknown") << op["name"];
}

// 141 GB of weights on two cards of 24 GB; four hold 35 GB each, eight 18 GB.
TEST(SimulatorPages, what_does_not_fit_keeps_its_memory_and_says_what_holds_it) {
  SimulatorPage page(shipped_settings());
  Values values = {{"model", "llama-3.1-70b"},
                   {"device", "rtx-4090"},
                   {"shards", "2"},
                   {"batch", "1"},
                   {"dtype", "bf16"}};
  const Json step = page.answer({"step", values});
  EXPECT_FALSE(step["memory"]["fits"]);
  EXPECT_GT(step["memory"]["used"].get<double>(), 70e9);
  EXPECT_THAT(step["no_fit"].get<std::string>(), testing::HasSubstr("fits from 8 devices (tp8)"));
  EXPECT_NO_THROW(page.answer({"simulation", values}));
  EXPECT_EQ(page.answer({"step", state})["no_fit"], "");
  values["as"] = "vllm";
  EXPECT_THROW(page.answer({"export", values}), Error);
}

// One client that waits has the server for itself: a prefill, then one step a token.
TEST(SimulatorPages, one_client_of_a_server_experiences_its_steps) {
  SimulatorPage page(shipped_settings());
  Values values = {{"model", "qwen3-32b"}, {"device", "h100-sxm"}, {"shards", "4"},
                   {"dtype", "bf16"},      {"phase", "serving"},   {"clients", "1"},
                   {"input", "1024"},      {"output", "64"},       {"requests", "20"},
                   {"strategy", "tp4"}};
  const Json served = page.answer({"serving", values});
  const auto step_of = [&](const char* phase, const char* context) {
    const Values step = {{"model", "qwen3-32b"}, {"device", "h100-sxm"}, {"shards", "4"},
                         {"dtype", "bf16"},      {"phase", phase},       {"batch", "1"},
                         {"context", context},   {"strategy", "tp4"}};
    return page.answer({"step", step});
  };
  const Json prefill = step_of("prefill", "1024"), decode = step_of("decode", "1056");
  const auto near = [](double a, double b) { EXPECT_NEAR(a, b, 0.02 * b); };
  near(figure(served, "ttft_p50_ns")["value"], figure(prefill, "step_ns")["value"]);
  near(figure(served, "tpot_p50_ns")["value"], figure(decode, "step_ns")["value"]);
  EXPECT_EQ(served["experienced"][0]["n"], 19);  // the first finds an empty server
}

TEST(SimulatorPages, devices_without_power_say_so) {
  SimulatorPage page(shipped_settings());
  Values values = state;
  values["device"] = "tpu-v5p";
  const Json step = page.answer({"simulation", values});
  EXPECT_TRUE(figure(step, "power")["value"].is_null());
  EXPECT_THAT(figure(step, "power")["reason"].get<std::string>(), testing::HasSubstr("power"));
}

TEST(SimulatorPages, the_sharding_table_adds_up_and_names_each_tensor_once) {
  SimulatorPage page(shipped_settings());
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
  SimulatorPage page(shipped_settings());
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
  SimulatorPage page(shipped_settings());
  const Json runs = page.answer({"runs", {}});
  EXPECT_TRUE(runs["runs"].empty());
  EXPECT_FALSE(runs["reason"].get<std::string>().empty());
  for (const char* side : {"", "x.db", "../r.db:1", "1;2"}) {
    EXPECT_THROW(page.answer({"compare", {{"before", side}, {"after", "1"}}}), Error) << side;
  }
}

TEST(SimulatorPages, open_no_file_that_a_question_names) {
  SimulatorPage page(shipped_settings());
  const std::string configs = test::in_source("/configs/");
  for (const auto& [name, file] : Values{{"model", configs + "models/qwen3-8b.json"},
                                         {"device", configs + "devices/h100-sxm.toml"},
                                         {"fabric", configs + "fabrics/lite.toml"}}) {
    Values values = state;
    values[name] = file;
    EXPECT_THROW(page.answer({"step", values}), Error) << file;
  }
}

TEST(SimulatorPages, know_no_other_questions) {
  SimulatorPage page(shipped_settings());
  EXPECT_THROW(page.answer({"nonsense", {}}), std::out_of_range);
  EXPECT_THROW(page.act({"nonsense", {}}), std::out_of_range);
  EXPECT_THROW(page.act({"stop", {}}), Error);
  EXPECT_THROW(page.act({"start", {{"sweep", "../../etc/passwd"}}}), Error);
}

// Of the policy's digests: what a browser computes of the elements' texts.
TEST(StaticPages, state_their_own_digests_and_end_no_element_early) {
  SimulatorPage page(shipped_settings());
  const std::string text =
      static_page(page, {.device = "h100-sxm", .model = "qwen3-0.6b", .shards = 2});
  EXPECT_THAT(text, testing::HasSubstr("default-src 'none'; script-src 'sha256-"));
  std::size_t ends = 0;
  for (std::size_t at = 0; (at = text.find("</script>", at)) != std::string::npos; ++at) ++ends;
  EXPECT_EQ(ends, 2u);
  EXPECT_LT(text.size(), std::size_t{4} << 20);
}

// Under the words by which page/state.js asks for them.
TEST(StaticPages, carry_training_steps_and_loads_of_a_server) {
  SimulatorPage page(shipped_settings());
  PageState state = {.device = "h100-sxm", .model = "qwen3-0.6b", .shards = 2};
  EXPECT_THAT(static_page(page, state),
              testing::HasSubstr("\"serving?clients=16&device=h100-sxm&dtype=checkpoint&input=1024&"
                                 "model=qwen3-0.6b&output=128&phase=serving&requests=200&shards=2&"
                                 "strategy=auto\""));
  state.phase = Phase::training;
  state.training.zero = 1;
  EXPECT_THAT(static_page(page, state),
              testing::HasSubstr("\"simulation?batch=16&context=4096&device=h100-sxm&"
                                 "dtype=checkpoint&model=qwen3-0.6b&optimizer=adam&phase=training&"
                                 "recompute=none&schedule=1f1b&shards=2&strategy=auto&zero=1\""));
  state.load = PageLoad{.clients = 3, .input = 100, .output = 5, .requests = 20};
  EXPECT_THAT(static_page(page, state),
              testing::HasSubstr("\"serving?clients=3&device=h100-sxm&dtype=checkpoint&input=100&"
                                 "model=qwen3-0.6b&output=5&phase=serving&requests=20&shards=2&"
                                 "strategy=auto\""));
}

}  // namespace
}  // namespace halmark::pages
