// Decode attention reads each byte of its KV cache once: its bandwidth against the best that `copy`
// reaches on the same threads in the same run.
#include <algorithm>
#include <map>
#include <optional>

#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "kernels/contract.hpp"
#include "measure/campaign/campaign.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t ring_bytes = 512 * mib;
constexpr std::int64_t context = 1024;

KernelCase on_cpu(Problem problem, CacheMode mode, std::int64_t set_bytes) {
  return {.problem = complete_problem(std::move(problem)),
          .backend = "cpu",
          .mode = mode,
          .sets = static_cast<int>(std::clamp<std::int64_t>(ring_bytes / set_bytes, 2, 128))};
}

// Bytes of the KV cache: what the contract says the sets rotate over.
double kv_bytes(const Problem& problem) {
  return find_contract(problem.op)->work(problem.params).constant_bytes;
}

// The attention of qwen3-0.6b: 16 query heads over 8 KV heads of width 128.
KernelCase decode(Dtype dtype, std::int64_t batch) {
  const auto value = static_cast<std::int64_t>(dtype);
  const Problem problem = complete_problem({"attention",
                                            {{"batch", batch},
                                             {"heads", 16},
                                             {"kv_heads", 8},
                                             {"head_dim", 128},
                                             {"new_tokens", 1},
                                             {"context", context},
                                             {"q_dtype", value},
                                             {"kv_dtype", value},
                                             {"dst_dtype", value}}});
  return on_cpu(problem, CacheMode::rotate_const, static_cast<std::int64_t>(kv_bytes(problem)));
}

// A disturbed row says nothing about the kernel; a failed one is the end.
std::optional<double> usable_ns(const Measurement& row) {
  if (has_latency(row.status)) return row.duration_ns_median;
  if (row.status == Status::invalid) return std::nullopt;
  throw Error(ExitCode::error, row.kernel_case.key() + ": " + std::string(status_name(row.status)) +
                                   ": " + row.reason);
}

void measure(Figures& figures) {
  const std::vector<std::pair<std::string, KernelCase>> decodes = {
      {"f32_batch1", decode(Dtype::f32, 1)},
      {"f32_batch16", decode(Dtype::f32, 16)},
      {"bf16_batch1", decode(Dtype::bf16, 1)},
      {"bf16_batch16", decode(Dtype::bf16, 16)}};
  std::vector<KernelCase> cases;
  for (const auto& [name, kernel_case] : decodes) cases.push_back(kernel_case);
  cases.push_back(on_cpu({"copy", {{"bytes", 64 * mib}}}, CacheMode::rotate_all, 2 * 64 * mib));

  CampaignOptions options;
  options.rounds = 5;
  options.rule.budget_s = 0.2;
  options.plugin_path_by_backend["cpu"] = test::in_build("/lib/halmark/plugins/hm_cpu.so");
  std::map<KernelCase, std::vector<double>> times;
  for (const Measurement& row : Campaign(options).run(cases)) {
    if (const auto ns = usable_ns(row)) times[row.kernel_case].push_back(*ns);
  }
  for (const KernelCase& kernel_case : cases) {
    if (times[kernel_case].empty()) {
      throw Error(ExitCode::error, kernel_case.key() + ": every round was disturbed");
    }
  }

  const Problem& copy = cases.back().problem;
  const double copied = find_contract(copy.op)->work(copy.params).bytes();
  const double peak = copied / std::ranges::min(times.at(cases.back()));  // bytes per ns
  figures.report("attention_copy_peak", peak, "GB/s");
  for (const auto& [name, kernel_case] : decodes) {
    const double bandwidth = kv_bytes(kernel_case.problem) / median(times.at(kernel_case));
    figures.report("attention_kv_" + name, bandwidth, "GB/s");
    figures.at_least("attention_kv_over_copy_" + name, bandwidth / peak, "ratio", 0.6);
  }
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
