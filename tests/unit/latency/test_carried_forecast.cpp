// Each device with tables as if it had none, against its own tables.
#include "latency/forecast/carried_forecast.hpp"

#include "plan/device/device_file.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

const std::vector<std::filesystem::path> shipped = {test::in_source("/configs/forecasts")},
                                         devices = {test::in_source("/configs/devices")};

std::unique_ptr<ForecastSource> forecast(const std::string& id, const Device& device) {
  const auto files = forecast_files(shipped, id);
  return std::make_unique<ForecastSource>(*forecast_of(files, "vllm"), device,
                                          std::optional<double>{},
                                          [](std::int64_t count) { return count <= 8; });
}

std::unique_ptr<CarriedForecast> carried_to(const Device& target) {
  const auto near = nearest_with_tables(target, shipped, devices);
  if (!near) return nullptr;
  return std::make_unique<CarriedForecast>(forecast(near->device.id, near->device), *near, target,
                                           std::optional<double>{});
}

// Prompts and single tokens of models between 8 and 400 billion parameters.
std::vector<Problem> kernels() {
  std::vector<Problem> out;
  for (const std::int64_t m : {1, 16, 64, 256, 1024, 8192}) {
    for (const auto& [n, k] :
         {std::pair{6144, 4096}, {4096, 14336}, {10240, 8192}, {8192, 28672}}) {
      out.push_back(gemm(m, n, k));
      out.push_back(gemm(m, n, k, number_of(Dtype::f8_e4m3fn)));
    }
    for (const auto& [experts, top_k, n, k] :
         {std::tuple{128, 8, 384, 4096}, {256, 8, 512, 7168}}) {
      out.push_back(complete_problem({"grouped_gemm",
                                      {{"tokens", m},
                                       {"top_k", top_k},
                                       {"experts", experts},
                                       {"skew", 0},
                                       {"ep_size", 1},
                                       {"ep_rank", 0},
                                       {"n", n},
                                       {"k", k},
                                       {"src_dtype", number_of(Dtype::f8_e4m3fn)},
                                       {"wei_dtype", number_of(Dtype::f8_e4m3fn)},
                                       {"dst_dtype", bf16},
                                       {"wei_trans", 1}}}));
    }
  }
  const auto attention = [&](std::int64_t batch, std::int64_t heads, std::int64_t new_tokens,
                             std::int64_t context) {
    return complete_problem({"attention",
                             {{"batch", batch},
                              {"heads", heads},
                              {"kv_heads", heads / 4},
                              {"head_dim", 128},
                              {"new_tokens", new_tokens},
                              {"context", context},
                              {"causal", 1},
                              {"window", 0},
                              {"q_dtype", bf16},
                              {"kv_dtype", bf16},
                              {"dst_dtype", bf16}}});
  };
  for (const std::int64_t heads : {8, 32}) {
    for (const std::int64_t context : {1024, 8192}) {
      for (const std::int64_t batch : {1, 16, 64})
        out.push_back(attention(batch, heads, 1, context));
      out.push_back(attention(1, heads, context, context));
    }
  }
  for (const std::int64_t bytes : {1 << 14, 1 << 18, 1 << 22, 1 << 26}) {
    for (const std::int64_t ranks : {2, 4, 8}) {
      out.push_back(
          complete_problem({"all_reduce", {{"bytes", bytes}, {"ranks", ranks}, {"dtype", bf16}}}));
    }
  }
  return out;
}

TEST(CarriedForecast, nine_of_ten_kernels_of_devices_left_out_lie_in_their_intervals) {
  std::vector<double> errors;
  double held = 0;
  std::size_t targets = 0;
  for (const Device& target : known_devices(devices)) {
    if (forecast_files(shipped, target.id).empty()) continue;
    const auto carried = carried_to(target);
    if (!carried) continue;
    ++targets;
    const auto own = forecast(target.id, target);
    for (const Problem& problem : kernels()) {
      const auto truth = own->latency(problem, work_of(problem), 1);
      const auto found = carried->latency(problem, work_of(problem), 1);
      if (!truth || !found || truth->status == Status::quarantined) continue;
      EXPECT_GE(found->ns, found->lower_bound_ns) << problem.text();
      errors.push_back(std::abs(std::log(found->ns / truth->ns)));
      held += found->low_ns <= truth->ns && truth->ns <= found->high_ns;
    }
  }
  EXPECT_GE(targets, 8u);
  std::ranges::sort(errors);
  held /= static_cast<double>(errors.size());
  RecordProperty("median", std::to_string(errors[errors.size() / 2]));
  RecordProperty("held", std::to_string(held));
  EXPECT_GT(held, 0.85);
  EXPECT_LT(held, 0.97);
  EXPECT_LT(errors[errors.size() / 2], 0.1);
}

TEST(CarriedForecast, the_nearest_is_of_the_same_maker_and_multiplies_the_same_types) {
  for (const auto& [id, near] :
       std::vector<std::pair<const char*, const char*>>{{"h100-pcie", "h100-sxm"},
                                                        {"h800", "h100-sxm"},
                                                        {"h200-nvl", "h200"},
                                                        {"gh200", "h100-sxm"},
                                                        {"a100-pcie", "a100"},
                                                        {"a100-sxm-40gb", "a100"},
                                                        {"rtx-4090", "l40s"},
                                                        {"l4", "l40s"},
                                                        {"rtx-5090", "rtx-pro-6000"},
                                                        {"mi300x", "h200"},
                                                        {"b60", "l40s"},
                                                        {"t4", "l40s"},
                                                        {"a10g", "a100"},
                                                        {"gaudi3", ""},
                                                        {"xeon-8592plus", ""}}) {
    const auto found = nearest_with_tables(known_device(id, devices), shipped, devices);
    EXPECT_EQ(found ? found->device.id : "", near) << id;
  }
}

TEST(CarriedForecast, a_copy_of_a_device_has_its_times) {
  Device twin = known_device("h200", devices);
  twin.id = "twin";
  const auto near = nearest_with_tables(twin, shipped, devices);
  ASSERT_TRUE(near);
  EXPECT_EQ(near->device.id, "h200");
  EXPECT_EQ(near->distance, 0);
  Device half = twin;
  for (Bandwidth& level : half.bandwidths) level.bytes_per_s /= 2;
  for (Peak& peak : half.peaks) peak.flops_per_s /= 2;
  const auto carried = carried_to(twin);
  const CarriedForecast slower(forecast("h200", near->device), *near, half, {});
  const auto own = forecast("h200", near->device);
  for (const Problem& problem : kernels()) {
    if (problem.op == "all_reduce") continue;
    const auto truth = own->latency(problem, work_of(problem), 1);
    const auto found = carried->latency(problem, work_of(problem), 1);
    const auto twice = slower.latency(problem, work_of(problem), 1);
    if (!truth || truth->status == Status::quarantined) continue;
    ASSERT_TRUE(found && twice) << problem.text();
    EXPECT_DOUBLE_EQ(found->ns, truth->ns) << problem.text();
    EXPECT_THAT(found->origin, testing::StartsWith("transferred from h200 of forecast vllm "));
    EXPECT_GT(twice->ns, found->ns) << problem.text();
    EXPECT_LE(twice->ns, 2 * found->ns * (1 + 1e-9)) << problem.text();
  }
}

}  // namespace
}  // namespace halmark
