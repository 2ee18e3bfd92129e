// A device file beside what is known of the part that it names.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "core/lists.hpp"
#include "plan/device/device_lint.hpp"

namespace halmark {
namespace {

using Severity = DeviceFinding::Severity;

constexpr double tolerance = 0.01;

// "RTX 4090" and "rtx-4090" are the words rtx, 4090.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  bool inside = false;
  for (const unsigned char c : text) {
    if (std::isalnum(c) == 0) {
      inside = false;
      continue;
    }
    if (!inside) out.emplace_back();
    inside = true;
    out.back() += static_cast<char>(std::tolower(c));
  }
  return out;
}

// How many words of `name` are the words of `part`, in a row; 0 where they are not.
std::size_t words_named(std::string_view name, std::string_view part) {
  const std::vector<std::string> words = words_of(name), wanted = words_of(part);
  // Iterators, not ranges::search: Clang 14, which builds the fuzzers, cannot read its subrange.
  const auto at = std::search(words.begin(), words.end(), wanted.begin(), wanted.end());
  return at != words.end() ? wanted.size() : 0;
}

bool is_same_file(const DeviceFile& a, const DeviceFile& b) {
  std::error_code ignored;
  return a.path == b.path || std::filesystem::equivalent(a.path, b.path, ignored);
}

// The part that the file is about: called alike, else named with the most words.
const DeviceFile* part_of(const DeviceFile& file, std::span<const DeviceFile> known) {
  const DeviceFile* best = nullptr;
  std::size_t most = 0;
  for (const DeviceFile& candidate : known) {
    if (is_same_file(file, candidate)) return nullptr;
    if (candidate.device.is_called(file.device.id)) return &candidate;
    std::vector<std::string> names = candidate.device.aliases;
    names.push_back(candidate.device.id);
    for (const std::string& name : names) {
      const std::size_t words =
          std::max(words_named(file.device.id, name), words_named(file.device.name, name));
      if (words > most) best = &candidate, most = words;
    }
  }
  return best;
}

// Parts without a file of their own whose sparse figures circulate as dense ones.
struct Trap {
  std::string_view part;
  Dtype dtype;
  double dense_flops_per_s;
};
constexpr std::array traps = {Trap{"b100", Dtype::bf16, 1750e12}, Trap{"b100", Dtype::f16, 1750e12},
                              Trap{"b100", Dtype::f8_e4m3fn, 3500e12}};

class Comparison {
 public:
  Comparison(const DeviceFile& file, const Device& known)
      : file_(file), device_(file.device), known_(known) {}

  std::vector<DeviceFinding> findings() {
    judge_dies();
    for (const auto i : indices(device_.peaks)) judge_peak(i);
    for (const auto i : indices(device_.bandwidths)) judge_bandwidth(i);
    for (const auto i : indices(device_.links)) judge_link(i);
    judge_memory();
    return std::move(findings_);
  }

 private:
  void add(Severity severity, const std::string& where, std::string text) {
    findings_.push_back({severity, where, device_.id + ": " + std::move(text)});
  }

  // Figures of one die are a share of the part's.
  double share() const { return is_one_die_ ? 1.0 / known_.devices_in_part : 1.0; }

  void judge_dies() {
    if (known_.devices_in_part == 1 || device_.devices_in_part != 1) return;
    for (const auto i : indices(device_.peaks)) {
      const auto stated = known_.peak(device_.peaks[i].dtype, 0);
      if (!stated || !device_.peaks[i].is_general()) continue;
      if (device_.peaks[i].flops_per_s <= stated->flops_per_s * 0.75) {
        is_one_die_ = true;
        return;
      }
      add(Severity::error, file_.peaks_where[i],
          fmt::format("{} is of the whole {}, which programs see as {} devices of {:.6g} TFLOP/s: "
                      "state devices_in_part = {}, or the figures of one",
                      device_.peaks[i].path, known_.id, known_.devices_in_part,
                      stated->flops_per_s / known_.devices_in_part / 1e12, known_.devices_in_part));
      return;
    }
  }

  void judge_peak(std::size_t i) {
    const Peak& peak = device_.peaks[i];
    const auto* same = find_or_null(known_.peaks, peak.path, &Peak::path);
    std::optional<Peak> stated = same ? std::optional(*same) : known_.peak(peak.dtype, 0);
    if (!stated) return judge_absent(peak, file_.peaks_where[i]);
    const std::string why = is_fp16_accumulation(peak)
                                ? "the rate with FP16 accumulation"
                                : "probably sparse, or two devices of a superchip";
    compare(file_.peaks_where[i], peak.path, peak.flops_per_s / 1e12, stated->flops_per_s / 1e12,
            stated->flops_per_s_high.value_or(stated->flops_per_s) / 1e12, "TFLOP/s", why);
  }

  bool is_fp16_accumulation(const Peak& peak) const {
    return std::ranges::any_of(known_.peaks, [&](const Peak& p) {
      return p.dtype == peak.dtype && p.path.ends_with("_fp16acc") &&
             near(peak.flops_per_s, p.flops_per_s, tolerance);
    });
  }

  void judge_absent(const Peak& peak, const std::string& where) {
    if (known_.peaks.empty()) return;
    std::string text = fmt::format("{} has no {}", known_.id, dtype_name(peak.dtype));
    for (const Peak& other : known_.peaks) {
      if (near(peak.flops_per_s, other.flops_per_s, tolerance)) {
        text += "; the figure is that of " + other.path;
        break;
      }
    }
    add(Severity::error, where, text);
  }

  void judge_bandwidth(std::size_t i) {
    const Bandwidth& b = device_.bandwidths[i];
    const auto stated = known_.bandwidth(b.level, 0);
    if (!stated) return;
    compare(file_.bandwidths_where[i], b.level + " bandwidth", b.bytes_per_s / 1e9,
            stated->bytes_per_s / 1e9, stated->bytes_per_s_high.value_or(stated->bytes_per_s) / 1e9,
            "GB/s", "two devices of a superchip");
  }

  void judge_link(std::size_t i) {
    if (known_.links.empty()) return;
    const Link& stated = known_.links.front();
    const Link& link = device_.links[i];
    if (near(link.bytes_per_s, stated.bytes_per_s * share() / 2, ratio_tolerance)) {
      add(Severity::error, file_.links_where[i],
          fmt::format("link {:.6g} GB/s is half of {}'s {:.6g}, which is one direction already",
                      link.bytes_per_s / 1e9, known_.id, stated.bytes_per_s / 1e9));
      return;
    }
    compare(file_.links_where[i], "link", link.bytes_per_s / 1e9, stated.bytes_per_s / 1e9,
            stated.bytes_per_s_high.value_or(stated.bytes_per_s) / 1e9, "GB/s",
            "both directions; a link is stated one way");
  }

  void judge_memory() {
    const double stated = as_double(known_.memory_bytes) * share();
    const auto here = as_double(device_.memory_bytes);
    // A driver's bytes are stated here; a data sheet prints binary gigabytes as if they were
    // decimal.
    constexpr double printed = 0x1p30 / 1e9;
    if (stated <= 0 || (!near(here, 2 * stated, ratio_tolerance) &&
                        !near(printed * here, 2 * stated, ratio_tolerance))) {
      return;
    }
    add(Severity::error, file_.memory_where,
        fmt::format("{:.6g} GB is twice the memory of {}: two devices of a superchip", here / 1e9,
                    known_.id));
  }

  // `value` against the range [low, high] of the known part.
  void compare(const std::string& where, const std::string& what, double value, double low,
               double high, std::string_view unit, std::string_view why_twice) {
    low *= share();
    high *= share();
    if (near(value, low, tolerance)) return;
    const bool is_within = value > low && value <= high * (1 + tolerance);
    if (is_within) {
      add(Severity::warning, where,
          fmt::format("{} {:.6g} {} is in the range {:.6g} to {:.6g} that sources of {} disagree "
                      "about; the lower end is the safe one",
                      what, value, unit, low, high, known_.id));
    } else if (near(value, 2 * low, ratio_tolerance) || near(value, 2 * high, ratio_tolerance)) {
      add(Severity::error, where,
          fmt::format("{} {:.6g} {} is twice the {:.6g} of {}: {}", what, value, unit, low,
                      known_.id, why_twice));
    } else if (value > high) {
      add(Severity::error, where,
          fmt::format("{} {:.6g} {} is above the {:.6g} of {}", what, value, unit, high,
                      known_.id));
    } else {
      add(Severity::warning, where,
          fmt::format("{} {:.6g} {} is below the {:.6g} of {}", what, value, unit, low, known_.id));
    }
  }

  const DeviceFile& file_;
  const Device& device_;
  const Device& known_;
  bool is_one_die_ = false;
  std::vector<DeviceFinding> findings_;
};

std::vector<DeviceFinding> lint_traps(const DeviceFile& file) {
  std::vector<DeviceFinding> out;
  for (const auto i : indices(file.device.peaks)) {
    const Peak& peak = file.device.peaks[i];
    for (const Trap& trap : traps) {
      const bool is_named =
          words_named(file.device.id, trap.part) + words_named(file.device.name, trap.part) > 0;
      if (!is_named || peak.dtype != trap.dtype ||
          !near(peak.flops_per_s, 2 * trap.dense_flops_per_s, ratio_tolerance)) {
        continue;
      }
      out.push_back({Severity::error, file.peaks_where[i],
                     fmt::format("{}: {} {:.6g} TFLOP/s is twice the dense {:.6g} of {}: probably "
                                 "sparse",
                                 file.device.id, peak.path, peak.flops_per_s / 1e12,
                                 trap.dense_flops_per_s / 1e12, trap.part)});
    }
  }
  return out;
}

}  // namespace

std::vector<DeviceFinding> lint_against_known(const DeviceFile& file,
                                              std::span<const DeviceFile> known) {
  if (file.device.is_measured) return {};
  const DeviceFile* part = part_of(file, known);
  if (part == nullptr) return lint_traps(file);
  return Comparison(file, part->device).findings();
}

}  // namespace halmark
