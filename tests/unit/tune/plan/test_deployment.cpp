// A point of a front with what an engine has to be told of its model and device.
#include "tests/unit/expect.hpp"
#include "tune/plan/deployment.hpp"

#include <gmock/gmock.h>

#include "export/engine/launch_text.hpp"
#include "model/spec/model_spec.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::tune {
namespace {

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
  const double room = 0.05 * 85'028'896'768 - static_cast<double>(cut.rank.weights);
  ASSERT_TRUE(cut.room_tokens);
  EXPECT_LE(static_cast<double>(*cut.room_tokens) * 114'688, room);
  EXPECT_GT(static_cast<double>(*cut.room_tokens + 1024) * 114'688, room);
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
  EXPECT_NEAR(static_cast<double>(rank.weights), 2 * 596e6, 0.01 * 2 * 596e6);
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

}  // namespace
}  // namespace halmark::tune
