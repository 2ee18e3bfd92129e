// A point of a front with what an engine has to be told of its model and device.
// Deployments in the words of a command line, the places of their ranks, and times of two ranks.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "core/numeric/cast.hpp"
#include "export/engine/launch_text.hpp"
#include "model/spec/model_spec.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tune/links/rank_times.hpp"
#include "tune/plan/deployment.hpp"
#include "tune/plan/deployment_options.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/plan/rank_places.hpp"

namespace halmark::tune {
namespace {

using halmark::test::error_of;
using testing::HasSubstr;

const std::vector<std::filesystem::path> models = {halmark::test::in_source("/configs/models")},
                                         devices = {halmark::test::in_source("/configs/devices")};

// Qwen3-0.6B: 28 layers, 8 heads of keys and of values, 128 wide.
SearchedFront front() {
  SearchedFront out;
  out.origin = "run 3";
  out.model = "qwen3-0.6b";
  out.command = "halmark tune s.toml";
  out.device = "h100";
  out.memory_fraction = 0.7;
  out.basis = {"device: H100", "times: roofline", "times: more"};
  Evaluation e;
  e.configuration.model = "qwen3-0.6b";
  e.configuration.precision = Precision::uniform("bf16", Dtype::bf16);
  e.configuration.workload = {Phase::decode, 4, 1, 1000};
  out.points = {e, e};
  out.points[1].estimate = Estimate{.memory_bytes_per_rank = 2'000'000'000};
  out.points[1].estimate->provenance = Provenance::measured;
  return out;
}

TEST(Deployment, is_the_point_of_that_number_with_where_it_is_from) {
  const Deployment second = deployment_of(front(), 2, "", models, devices);
  EXPECT_EQ(second.point_name, "point 2 of 2 of run 3");
  EXPECT_EQ(second.command, "halmark tune s.toml");
  EXPECT_EQ(second.provenance, "measured");
  EXPECT_EQ(second.checkpoint, "Qwen/Qwen3-0.6B") << "its name on its hub";
  EXPECT_FALSE(second.is_checkpoint_named);
  EXPECT_FALSE(second.is_moe);
  EXPECT_FALSE(second.stored);
  EXPECT_EQ(second.memory_fraction, 0.7);
  EXPECT_EQ(deployment_of(front(), 1, "", models, devices).provenance, "roofline");
  SearchedFront silent = front();
  silent.basis.clear();
  EXPECT_EQ(deployment_of(silent, 1, "", models, devices).provenance, "of the search");
  for (const std::size_t number : {0u, 3u}) {
    const Error error =
        halmark::test::error_of([&] { (void)deployment_of(front(), number, "", models, devices); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.line(),
                halmark::test::has_all({"run 3: there is no point " + std::to_string(number),
                                        "it has points 1 to 2"}));
  }
}

// The file is a forecast of an engine whose terms the search names, and of no other.
TEST(Deployment, names_the_engine_that_its_times_are_a_forecast_of) {
  EXPECT_EQ(deployment_of(front(), 1, "", models, devices).forecast_engine, "");
  SearchedFront forecast = front();
  forecast.engine = "vllm";
  EXPECT_EQ(deployment_of(forecast, 1, "", models, devices).forecast_engine, "vllm");
}

// Qwen3-0.6B in 16 bits: 114,688 bytes of cache a token of its 40,960. An H100 holds them all; of
// a device with 4.45 GiB for it, 1.1 of weights leave room for a part, by thousands.
TEST(Deployment, a_sequence_of_the_models_length_fits_or_is_cut_to_what_memory_holds) {
  const Deployment whole = deployment_of(front(), 1, "", models, devices);
  EXPECT_EQ(whole.model_tokens, 40'960);
  EXPECT_FALSE(whole.room_tokens);
  SearchedFront small = front();
  small.memory_fraction = 0.05;
  const Deployment cut = deployment_of(small, 1, "", models, devices);
  const double room = 0.05 * 85'028'896'768 - as_double(cut.rank.weights);
  ASSERT_TRUE(cut.room_tokens);
  EXPECT_LE(as_double(*cut.room_tokens) * 114'688, room);
  EXPECT_GT(as_double(*cut.room_tokens + 1024) * 114'688, room);
  EXPECT_EQ(*cut.room_tokens % 1024, 0);
}

TEST(Deployment, loads_what_the_user_names) {
  const Deployment named = deployment_of(front(), 1, "/models/own", models, devices);
  EXPECT_EQ(named.checkpoint, "/models/own");
  EXPECT_TRUE(named.is_checkpoint_named);
}

TEST(Deployment, of_a_configuration_in_a_folder_loads_that_folder) {
  const halmark::test::ScratchFolder folder;
  halmark::test::write_file(
      folder / "config.json",
      halmark::test::file_bytes(halmark::test::in_source("/tests/data/tiny-qwen3.json")));
  SearchedFront own = front();
  own.model = folder / "config.json";
  EXPECT_EQ(deployment_of(own, 1, "", models, devices).checkpoint, folder.path().string());
}

TEST(Deployment, has_the_device_that_was_searched_for) {
  const Deployment d = deployment_of(front(), 1, "", models, devices);
  EXPECT_EQ(d.device, "h100-sxm");
  EXPECT_THAT(d.device_name, HasSubstr("H100"));
  EXPECT_EQ(d.device_bytes, 85'028'896'768);
  EXPECT_EQ(d.domain_devices, 8);
  SearchedFront here = front();
  here.device.clear();
  EXPECT_EQ(deployment_of(here, 1, "", models, devices).device, "");
  EXPECT_FALSE(deployment_of(here, 1, "", models, devices).domain_devices);
}

// All names of all shipped models in the files of all engines: the heading has the name that was
// asked for, the command its checkpoint, and neither has that of a sibling.
TEST(Deployment, an_alias_keeps_its_name_in_every_file) {
  const std::vector<std::pair<std::string, std::string>> engines = {
      {"vllm", "0.24.0"}, {"sglang", "0.5.16"}, {"trtllm", "1.1.0rc5"}, {"llamacpp", "b11434"}};
  const std::vector<std::filesystem::path> folders = {halmark::test::in_source("/configs/engines")};
  std::size_t written = 0, names = 0;
  for (const ModelListing& listing : list_models(models)) {
    const std::string sibling = load_model(listing.id, models).checkpoint;
    for (const std::string& alias : listing.aliases) {
      const ModelSpec spec = load_model(alias, models);
      SearchedFront like = front();
      like.model = spec.id;
      like.points[0].configuration.model = spec.id;
      const Deployment d = deployment_of(like, 1, "", models, devices);
      for (const auto& [engine, version] : engines) {
        try {
          const auto launch =
              exports::launch_of(d, exports::read_engine_table(engine, version, folders));
          for (const exports::TextFile& file : exports::launch_files(d, launch)) {
            const bool names_model = file.name.ends_with(".sh");  // options.yaml does not
            if (names_model) {
              EXPECT_THAT(file.text, HasSubstr(alias)) << engine << file.name;
              EXPECT_THAT(file.text, HasSubstr(spec.checkpoint));
            }
            if (spec.checkpoint != sibling && !spec.checkpoint.starts_with(sibling)) {
              EXPECT_THAT(file.text, Not(HasSubstr(sibling))) << alias << ' ' << engine;
            }
          }
          ++written;
        } catch (const Error&) {
          // An engine that cannot run bf16 of this checkpoint.
        }
      }
      ++names;
    }
  }
  EXPECT_GT(names, 100u);
  EXPECT_GT(written, names) << "other engines cannot run bf16 of some checkpoints";
}

// Keys and values of a token: 2 x 28 x 8 x 128 x 2 bytes = 114,688. Weights: 596 million of 2
// bytes.
TEST(Deployment, memory_of_its_rank_is_that_of_all_sequences_at_their_end) {
  const RankBytes rank = deployment_of(front(), 2, "", models, devices).rank;
  EXPECT_EQ(rank.cache, 114'688ll * 4 * 1000);
  EXPECT_NEAR(as_double(rank.weights), 2 * 596e6, 0.01 * 2 * 596e6);
  EXPECT_EQ(rank.total(), 2'000'000'000) << "the rest are activations";
  EXPECT_EQ(deployment_of(front(), 1, "", models, devices).rank.activations, 0)
      << "nothing is known of them";
  SearchedFront served = front();
  served.points[0].configuration.served =
      ServedLoad{.request = {300, 100}, .concurrency = 6, .token_budget = 2048};
  served.points[0].served.emplace();
  served.points[0].served->figures.memory_bytes_per_rank = 3'000'000'000;
  const RankBytes of_load = deployment_of(served, 1, "", models, devices).rank;
  EXPECT_EQ(of_load.cache, 114'688ll * 6 * 400);
  EXPECT_EQ(of_load.total(), 3'000'000'000);
}

ModelSpec spec() { return load_model("tiny-qwen3", {halmark::test::in_source("/tests/data")}); }

TEST(DeploymentOptions, lengths_that_are_not_said_are_those_of_the_phase) {
  const auto workload = [](DeploymentOptions o) {
    return deployment_from(o, spec(), true).workload;
  };
  const Workload decode = workload({});
  EXPECT_EQ(decode.phase, Phase::decode);
  EXPECT_EQ(decode.new_tokens, 1);
  EXPECT_EQ(decode.context, 1024);
  EXPECT_EQ(workload({.new_tokens = 3, .context = 50}).new_tokens, 3);
  EXPECT_EQ(workload({.new_tokens = 3, .context = 50}).context, 50);
  ModelSpec reward = spec();
  reward.has_lm_head = false;
  EXPECT_EQ(deployment_from({}, reward, true).workload.phase, Phase::prefill);
  const Workload prefill = workload({.phase = "prefill"});
  EXPECT_EQ(prefill.new_tokens, 512);
  EXPECT_EQ(prefill.context, 512);
  EXPECT_EQ(workload({.phase = "prefill", .context = 90}).new_tokens, 90);
  EXPECT_EQ(workload({.phase = "prefill", .new_tokens = 20, .context = 90}).new_tokens, 20);
  EXPECT_EQ(workload({.phase = "prefill", .new_tokens = 20, .context = 90}).context, 90);
  halmark::test::expect_error([&] { workload({.phase = "prefil"}); }, "unknown phase");
}

TEST(DeploymentOptions, stages_say_how_many_there_are) {
  const auto parallel = [](DeploymentOptions o) {
    return deployment_from(o, spec(), true).parallel;
  };
  EXPECT_EQ(parallel({.stages = {1, 1}}).pp, 2);
  EXPECT_EQ(parallel({.pp = 3, .stages = {1, 1}}).pp, 3) << "a contradiction is refused later";
  const Parallel all = parallel({.tp = 2, .pp = 3, .dp = 4, .ep = 5});
  EXPECT_EQ(all, (Parallel{.dp = 4, .tp = 2, .pp = 3, .ep = 5}));
}

TEST(DeploymentOptions, an_imbalance_of_experts_is_a_word_or_a_factor_from_one_on) {
  const auto ppm = [](const std::string& text) {
    return deployment_from({.expert_imbalance = text}, spec(), true).workload.expert_imbalance_ppm;
  };
  EXPECT_EQ(ppm("balanced"), Workload::balanced_ppm);
  EXPECT_EQ(ppm("uniform"), 0);
  EXPECT_EQ(ppm("1"), 1'000'000);
  EXPECT_EQ(ppm("1.25"), 1'250'000);
  EXPECT_EQ(ppm("1e6"), 1'000'000'000'000);
  for (const char* text : {"0.99", "1.1e6", "2x", "", "even"}) {
    EXPECT_THAT(error_of([&] { ppm(text); }).what(), HasSubstr("--expert-imbalance")) << text;
  }
}

Configuration placed(Parallel parallel, const std::vector<std::string>& backends) {
  Configuration out{.model = "m", .parallel = parallel};
  for (const std::string& backend : backends) out.places.push_back({.backend = backend});
  return out;
}

TEST(RankPlaces, are_as_many_as_the_ranks) {
  EXPECT_FALSE(check_places(placed({.tp = 2}, {}), true));
  EXPECT_FALSE(check_places(placed({.tp = 2}, {"cpu", "cpu"}), true));
  for (const auto& backends : {std::vector<std::string>{"cpu"}, {"cpu", "cpu", "cpu"}}) {
    const auto refusal = check_places(placed({.tp = 2}, backends), false);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->reason, "places_do_not_match");
    EXPECT_THAT(refusal->text, HasSubstr("2 ranks do not lie on"));
  }
}

// Replicas never meet; tensor ranks and stages do, in the words of what they meet in.
TEST(RankPlaces, ranks_that_meet_have_one_backend_where_they_are_executed) {
  const std::vector<std::string> mixed{"cpu", "opencl"};
  EXPECT_FALSE(check_places(placed({.dp = 2}, mixed), true));
  EXPECT_FALSE(check_places(placed({.tp = 2}, mixed), false)) << "priced, not executed";
  const auto tensor = check_places(placed({.tp = 2}, mixed), true);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->reason, "not_executable");
  EXPECT_THAT(tensor->text, HasSubstr("tensor parallelism"));
  const auto stages = check_places(placed({.pp = 2}, mixed), true);
  ASSERT_TRUE(stages);
  EXPECT_THAT(stages->text, HasSubstr("a pipeline"));
  // Two replicas of two tensor ranks: each on a backend of its own is fine.
  EXPECT_FALSE(check_places(placed({.dp = 2, .tp = 2}, {"cpu", "cpu", "opencl", "opencl"}), true));
  EXPECT_TRUE(check_places(placed({.dp = 2, .tp = 2}, {"cpu", "opencl", "cpu", "opencl"}), true));
}

// 5 us and 10 GB/s; half of the sizes are fitted, the others predicted.
TEST(FitHalf, predicts_the_sizes_that_it_was_not_given) {
  std::vector<simulate::CollectivePoint> points;
  std::size_t sizes = 0;
  for (double bytes = 1024; bytes <= 1 << 26; bytes *= 2, ++sizes) {
    const double s = 5e-6 + bytes / 2 / 10e9;
    for (const double noise : {0.98, 1.0, 1.02}) points.push_back({2, bytes, s * noise});
  }
  const HalvedFit half = fit_half(simulate::Collective::all_gather, points);
  ASSERT_EQ(half.predicted.size(), sizes / 2);
  double sum = 0, worst = 0;
  for (const PredictedSize& p : half.predicted) {
    EXPECT_NEAR(p.measured_s, 5e-6 + p.bytes / 2 / 10e9, 1e-12) << "the median of the rounds";
    const double error = std::abs(p.modelled_s - p.measured_s) / p.measured_s;
    EXPECT_LT(error, 0.05);
    sum += error;
    worst = std::max(worst, error);
  }
  EXPECT_NEAR(half.mean_error, sum / static_cast<double>(half.predicted.size()), 1e-12);
  EXPECT_NEAR(half.worst_error, worst, 1e-12);
  EXPECT_EQ(half.predicted.front().bytes, 2048);
}

}  // namespace
}  // namespace halmark::tune
