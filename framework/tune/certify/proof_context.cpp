// Texts are kept as they are: a checker compares the plan's hash, and the device record byte by
// byte with the one that the run stored.
#include "tune/certify/proof_context.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "plan/device/device_file.hpp"

namespace halmark::tune {
namespace {

// Peaks bound kernels of the CPU of this machine alone, as in the terms of the kernels.
Json device_record(const Target& target) {
  const bool has_peaks = target.measured && target.backend == "cpu";
  Json out = Json::object();
  out["text"] = has_peaks ? device_text(*target.measured) : std::string();
  out["threads"] = has_peaks ? target.cores : 0;
  return out;
}

// Narrow linears stand between activations of bf16, or of f32 where nothing computes bf16.
bool has_bf16(const StepsToCertify& steps) {
  return std::ranges::all_of(steps.configurations, [](const auto& entry) {
    const Precision& p = entry.second.precision;
    const bool is_uniform = p.name.starts_with("f32") || p.name.starts_with("f16");
    return is_uniform || p.attention == Dtype::bf16 || p.activation == Dtype::bf16;
  });
}

// The plan hashes the keys of its kernels in their own order, the proof numbers them by first use.
Json kernel_order(const StepsToCertify& steps) {
  auto out = mapped(indices(steps.cases), std::identity());
  std::ranges::sort(out, {},
                    [&steps](std::size_t k) -> const KernelCase& { return steps.cases[k]; });
  return out;
}

Json target_record(const Target& target, const StepsToCertify& steps) {
  Json plateau = nullptr;
  if (target.measured && target.measured->ring_plateau_bytes) {
    plateau = *target.measured->ring_plateau_bytes;
  }
  return {{"backend", target.backend},
          {"device", target.device},
          {"cores", target.cores},
          {"memory_bytes", target.memory_bytes},
          {"ring_plateau_bytes", std::move(plateau)},
          {"has_bf16", has_bf16(steps)},
          {"kernel_order", kernel_order(steps)}};
}

}  // namespace

std::vector<std::pair<std::string, Json>> proof_context(const TunePlan& plan,
                                                        const StepsToCertify& steps,
                                                        const std::string& model) {
  Json of_plan = Json::object();
  of_plan["text"] = plan.text();
  std::vector<std::pair<std::string, Json>> out;
  out.emplace_back("plan", std::move(of_plan));
  out.emplace_back("device", device_record(plan.target()));
  out.emplace_back("target", target_record(plan.target(), steps));
  if (model.empty()) return out;
  Json of_model = Json::object();
  of_model["id"] = plan.spec().id;
  of_model["config"] = model;
  out.emplace_back("model", std::move(of_model));
  return out;
}

}  // namespace halmark::tune
