#include "latency/forecast/carried_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "latency/judged.hpp"
#include "plan/device/device_file.hpp"
#include "roofline/peaks.hpp"

namespace halmark {
namespace {

constexpr double farthest = 2.3, farthest_of_others = 1.6;  // factors of ten and five
// |error| in logarithms that 90 % of kernels stay below where each device with tables was left out
// and carried from the nearest other: at no distance, and per distance.
constexpr double error_at_none = 0.15, error_per_distance = 0.45;
// More of another maker's: Intel's tables from each of NVIDIA's, and back.
constexpr double error_of_makers = 0.5;

// 16-bit floats, whichever the device has.
std::optional<double> half_peak(const Device& device) {
  const auto peak = shard_peak(device, Dtype::bf16, {});
  return peak ? peak : shard_peak(device, Dtype::f16, {});
}

std::optional<double> distance(const Device& a, const Device& b) {
  const auto of = half_peak(a), to = half_peak(b);
  const double memory_a = ResourceRates(a).memory_bytes_per_s(),
               memory_b = ResourceRates(b).memory_bytes_per_s();
  if (!of || !to || memory_a <= 0 || memory_b <= 0) return std::nullopt;
  return std::hypot(std::log(memory_a / memory_b), std::log(*of / *to));
}

// A folder each; every file of a manifest would take longer to read.
std::set<std::string> devices_with_tables(const std::vector<std::filesystem::path>& folders) {
  std::set<std::string> out;
  std::error_code absent;
  for (const std::filesystem::path& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, absent)) {
      if (entry.is_directory(absent)) out.insert(entry.path().filename().string());
    }
  }
  return out;
}

// A superchip's is a GPU beside a CPU.
std::string_view kind_of(const Device& device) {
  return device.kind == "superchip" ? "gpu" : std::string_view(device.kind);
}

// Narrow types that `target` multiplies and `other` does not: kernels that other has no table of.
std::ptrdiff_t missing_types(const Device& target, const Device& other) {
  return std::ranges::count_if(target.peaks, [&](const Peak& peak) {
    return dtype_bits(peak.dtype) <= 8 &&
           std::ranges::find(other.peaks, peak.dtype, &Peak::dtype) == other.peaks.end();
  });
}

}  // namespace

std::optional<NearDevice> nearest_with_tables(const Device& target,
                                              const std::vector<std::filesystem::path>& forecasts,
                                              const std::vector<std::filesystem::path>& devices) {
  std::optional<NearDevice> out;
  double least = std::numeric_limits<double>::infinity();
  for (const std::string& id : devices_with_tables(forecasts)) {
    if (id == target.id) continue;
    const Device device = known_device(id, devices);
    if (kind_of(device) != kind_of(target)) continue;
    const auto far = distance(device, target);
    // Of another generation where it has types that the target has not: the worse of two.
    constexpr double other_maker = 100;  // only where its own has none
    const bool is_alien = device.vendor != target.vendor;
    if (!far || *far > (is_alien ? farthest_of_others : farthest)) continue;
    const double unlike = *far + static_cast<double>(missing_types(target, device)) +
                          0.3 * static_cast<double>(missing_types(device, target)) +
                          (is_alien ? other_maker : 0);
    if (unlike >= least) continue;
    least = unlike;
    out = {device, *far, is_alien};
  }
  return out;
}

CarriedForecast::CarriedForecast(std::unique_ptr<ForecastSource> from, const NearDevice& near,
                                 const Device& target, std::optional<double> network_bytes_per_s)
    : from_(std::move(from)),
      near_(near),
      there_(near.device, network_bytes_per_s),
      here_(target, network_bytes_per_s),
      ceilings_(target, 0, 1, network_bytes_per_s) {}

std::optional<Latency> CarriedForecast::latency(const Problem& problem, const Work& work,
                                                std::int64_t stride) const {
  auto known = from_->latency(problem, work, stride);
  const auto there = there_.of(problem), here = here_.of(problem);
  if (!known || known->status == Status::quarantined || !there || !here) return std::nullopt;
  const double bound_ns = roofline::step_bound(problem, work, ceilings_).ns();
  const double ratio =
      (graph_launch_ns + here->largest_ns()) / (graph_launch_ns + there->largest_ns());
  const double far =
      here->link_ns > 0 ? std::abs(std::log(here->link_ns / there->link_ns)) : near_.distance;
  const double width = std::exp(error_at_none + error_per_distance * far +
                                (near_.is_of_another_maker ? error_of_makers : 0));
  Latency out{.ns = std::max(known->ns * ratio, bound_ns), .provenance = Provenance::interpolated};
  out.low_ns = std::clamp(known->low_ns * ratio / width, std::min(bound_ns, out.ns), out.ns);
  out.high_ns = std::max(known->high_ns * ratio * width, out.ns);
  out.origin = "transferred from " + near_.device.id + " of " + known->origin;
  out.reason = out.origin + " by what binds (" + std::string(resource_name(here->binding())) +
               "); 90 % interval of devices that were left out";
  return judged(std::move(out), roofline::step_bound(problem, work, ceilings_));
}

}  // namespace halmark
