#include "plan/device/device_lint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/lists.hpp"

namespace halmark {
namespace {

using Severity = DeviceFinding::Severity;

constexpr double rule_tolerance = 0.01;
// No part shipped so far reads all of its memory more often (72: 10 GB of GDDR6X at 760 GB/s).
constexpr double capacity_reads_per_s_max = 80;

double tera(double per_s) { return per_s / 1e12; }

// The engine of a path: "_matrix" of "bf16_matrix"; figures compare within one engine and isa only.
std::string_view engine_of(const Peak& peak) {
  const std::size_t cut = peak.path.rfind('_');
  return cut == std::string::npos ? std::string_view() : std::string_view(peak.path).substr(cut);
}

const Peak* same_engine(const Device& device, const Peak& peak, Dtype dtype) {
  const auto* it = find_or_null(device.peaks, true, [&](const Peak& p) {
    return p.dtype == dtype && p.is_general() && engine_of(p) == engine_of(peak) &&
           p.threads == peak.threads;
  });
  return it;
}

class Lint {
 public:
  explicit Lint(const DeviceFile& file) : file_(file), device_(file.device) {}

  std::vector<DeviceFinding> findings() {
    for (const auto i : indices(device_.peaks)) judge_peak(i);
    for (const auto i : indices(device_.bandwidths)) judge_bandwidth(i);
    return std::move(findings_);
  }

 private:
  void add(Severity severity, const std::string& where, std::string text) {
    findings_.push_back({severity, where, device_.id + ": " + std::move(text)});
  }

  void judge_peak(std::size_t i) {
    const Peak& peak = device_.peaks[i];
    const std::string& where = file_.peaks_where[i];
    judge_rule(peak, where);
    judge_repetition(i);
    if (!peak.is_general() || device_.is_measured) return;
    if (peak.dtype == Dtype::f16) judge_f16(peak, where);
    if (peak.dtype == Dtype::f8_e4m3fn) judge_f8(peak, where);
    if (peak.dtype == Dtype::bf16 || peak.dtype == Dtype::f16) judge_tf32(peak, where);
  }

  void judge_rule(const Peak& peak, const std::string& where) {
    if (!peak.rule || peak.is_derived) return;
    const PeakRule& rule = *peak.rule;
    if (near(peak.flops_per_s, rule.flops_per_s(), rule_tolerance)) return;
    add(Severity::error, where,
        fmt::format("{} is {:.6g} TFLOP/s, but {:g} units x {:g} FMA/cycle x 2 x {:g} GHz = {:.6g}",
                    peak.path, tera(peak.flops_per_s), rule.units, rule.fma_per_cycle,
                    rule.clock_hz / 1e9, tera(rule.flops_per_s())));
  }

  void judge_repetition(std::size_t i) {
    const Peak& peak = device_.peaks[i];
    for (const auto j : indices(i)) {
      const Peak& other = device_.peaks[j];
      if (other.path != peak.path || other.isa != peak.isa || other.threads != peak.threads) {
        continue;
      }
      const double ratio = std::max(peak.flops_per_s, other.flops_per_s) /
                           std::min(peak.flops_per_s, other.flops_per_s);
      add(Severity::error, file_.peaks_where[i],
          peak.path + (near(ratio, 2, ratio_tolerance)
                           ? " stands twice, once with twice the figure: one is probably sparse"
                           : " stands twice"));
    }
  }

  void judge_f16(const Peak& peak, const std::string& where) {
    const Peak* bf16 = same_engine(device_, peak, Dtype::bf16);
    if (bf16 == nullptr) return;
    const double expected = peak.rate_over_16_bit.value_or(1);
    if (near(peak.flops_per_s / bf16->flops_per_s, expected, ratio_tolerance)) return;
    add(Severity::error, where,
        fmt::format("{} is {:.6g} TFLOP/s and {} {:.6g}; expected {:g} times as much "
                    "(rate_over_16_bit states another ratio)",
                    peak.path, tera(peak.flops_per_s), bf16->path, tera(bf16->flops_per_s),
                    expected));
  }

  void judge_f8(const Peak& peak, const std::string& where) {
    const Peak* half = same_engine(device_, peak, Dtype::bf16);
    if (half == nullptr) half = same_engine(device_, peak, Dtype::f16);
    if (half == nullptr) return;
    const double ratio = peak.flops_per_s / half->flops_per_s;
    if (near(ratio, peak.rate_over_16_bit.value_or(2), ratio_tolerance)) return;
    if (near(ratio, 4, ratio_tolerance)) {
      add(Severity::error, where,
          fmt::format("{} is {:.6g} TFLOP/s, 4 times {}: probably the sparse figure", peak.path,
                      tera(peak.flops_per_s), half->path));
      return;
    }
    add(Severity::warning, where,
        fmt::format("{} is {:.4g} times {}; parts usually double, and rate_over_16_bit says when "
                    "one does not",
                    peak.path, ratio, half->path));
  }

  void judge_tf32(const Peak& peak, const std::string& where) {
    const Peak* tf32 = same_engine(device_, peak, Dtype::tf32);
    if (tf32 == nullptr || !near(peak.flops_per_s / tf32->flops_per_s, 4, ratio_tolerance)) return;
    add(Severity::error, where,
        fmt::format("{} is {:.6g} TFLOP/s, 4 times {}: probably the sparse figure", peak.path,
                    tera(peak.flops_per_s), tf32->path));
  }

  void judge_bandwidth(std::size_t i) {
    const Bandwidth& b = device_.bandwidths[i];
    if (b.level != "memory") return;
    const std::string& where = file_.bandwidths_where[i];
    if (b.bus_bits && b.transfers_per_s) {
      const double pins = *b.bus_bits / 8 * *b.transfers_per_s;
      if (b.bytes_per_s > pins * (1 + rule_tolerance)) {
        add(Severity::error, where,
            fmt::format("memory bandwidth {:.6g} GB/s exceeds {:g} bits x {:g} GT/s = {:.6g}",
                        b.bytes_per_s / 1e9, *b.bus_bits, *b.transfers_per_s / 1e9, pins / 1e9));
      }
    }
    const auto capacity = as_double(device_.memory_bytes);
    if (capacity > 0 && !device_.is_measured &&
        b.bytes_per_s > capacity * capacity_reads_per_s_max) {
      add(Severity::warning, where,
          fmt::format("memory bandwidth {:.6g} GB/s reads all {:.6g} GB {:.0f} times a second; no "
                      "known part does so more than {:g} times",
                      b.bytes_per_s / 1e9, capacity / 1e9, b.bytes_per_s / capacity,
                      capacity_reads_per_s_max));
    }
  }

  const DeviceFile& file_;
  const Device& device_;
  std::vector<DeviceFinding> findings_;
};

}  // namespace

std::string_view severity_name(DeviceFinding::Severity severity) {
  return severity == Severity::error ? "error" : "warning";
}

std::vector<DeviceFinding> lint_figures(const DeviceFile& file) { return Lint(file).findings(); }

std::vector<DeviceFinding> lint_device(const DeviceFile& file, std::span<const DeviceFile> known) {
  std::vector<DeviceFinding> out = lint_figures(file);
  for (DeviceFinding& finding : lint_against_known(file, known)) out.push_back(std::move(finding));
  return out;
}

}  // namespace halmark
