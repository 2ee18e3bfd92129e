// Sizes grow until the rate no longer does; only then are the kernel's variants tried, since every
// trial opens the device in a process of its own.
#include "tune/search/kernels/device_peaks.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/input/places.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "kernels/contract.hpp"
#include "tune/evaluate/peaks_file.hpp"
#include "tune/plan/kernel_cases.hpp"
#include "tune/search/kernels/asked_variants.hpp"
#include "tune/search/kernels/variants.hpp"

namespace halmark::tune {

namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

struct Seen {
  std::vector<double> rates;  // per round
  std::string isa, what;      // of the fastest row: "gemm k=4096 ... by cublasLt:..."
  double duration_ns = 0;
  double best() const { return rates.empty() ? 0 : *std::ranges::max_element(rates); }
};

class DevicePeaks {
 public:
  explicit DevicePeaks(const DevicePeakMeasuring& options) : options_(options), utc_(options.utc) {
    device_.id = options.plugin.name + ':' + options.device.id;
    device_.name = options.device.name;
    device_.kind = options.device.kind;
    device_.fingerprint = options.fingerprint;
    device_.is_measured = true;
    device_.memory_bytes = options.device.memory_bytes;
    if (options.device.clock_hz_max > 0) {
      device_.clock_hz = static_cast<double>(options.device.clock_hz_max);
    }
  }

  Device run() {
    copy();
    for (const char* dtype : {"f32", "f64", "f16"}) multiply_adds(dtype);
    for (const char* dtype : {"f32", "bf16", "f16", "f8_e4m3fn", "s8"}) products(dtype);
    if (device_.peaks.empty() && device_.bandwidths.empty()) {
      throw unfit(
          "no kernel of plugin '" + options_.plugin.name + "' gave a peak: " +
              (device_.notes.empty() ? "it has neither copy, fma nor gemm" : device_.notes.front()),
          "halmark bench --backend " + options_.plugin.name + " --op copy says more");
    }
    return std::move(device_);
  }

 private:
  bool is_interrupted() const { return options_.measuring.stop.stop_requested(); }

  bool offers(const std::string& op) const {
    return std::ranges::find(options_.plugin.kernels, op, &protocol::KernelDescription::op) !=
           options_.plugin.kernels.end();
  }

  std::vector<KernelCase> cases(const std::string& op, const std::string& params,
                                const std::string& dtype) const {
    return kernel_cases({.op = op,
                         .params = params,
                         .kernel = {},
                         .dtypes = {dtype},
                         .backend = options_.plugin.name,
                         .device = options_.device.id,
                         .mode = "hot"});
  }

  // Of rows with a right result and a time: what is suspect was slower than undisturbed, if at all.
  // Where there is none, the reason becomes a note.
  Seen seen(std::span<const Measurement> rows, double amount) {
    Seen out;
    std::string reason;
    for (const Measurement& row : rows) {
      if (!has_latency(row.status) || row.duration_ns_median <= 0) {
        if (reason.empty()) reason = std::string(status_name(row.status)) + ": " + row.reason;
        continue;
      }
      const double rate = amount / row.duration_ns_median * 1e9;
      if (rate > out.best()) {
        out.isa = row.implementation.isa;
        out.what = row.kernel_case.problem.text() + " by " + row.implementation.name;
        out.duration_ns = row.duration_ns_median;
      }
      out.rates.push_back(rate);
    }
    if (out.rates.empty() && !rows.empty()) {
      device_.notes.push_back(rows.front().kernel_case.problem.text() + ": " + reason);
    }
    return out;
  }

  void copy() {
    if (!offers("copy") || is_interrupted()) return;
    const std::int64_t wanted = std::max(256 * mib, 8 * options_.device.cache_bytes);
    const std::int64_t room = options_.device.memory_bytes / 8;
    const std::int64_t bytes = room > 0 ? std::min(wanted, room) : wanted;
    const auto asked = cases("copy", "bytes=" + std::to_string(bytes), "u8");
    const auto rows = measure_kernels(asked, options_.measuring);
    const Seen found = seen(rows, 2.0 * static_cast<double>(bytes));
    if (found.rates.empty()) return;
    Bandwidth memory{.level = "memory",
                     .working_set_bytes = 2 * bytes,
                     .access = "copy",
                     .source = "measured " + utc_ + ", " + found.what};
    observe(memory.occasions, utc_, found.rates);
    observe(device_, memory);
  }

  void multiply_adds(const std::string& dtype) {
    if (!offers("fma") || is_interrupted()) return;
    constexpr std::int64_t lanes_of_unit = 16384;  // 1,024 threads with 16 lanes each
    const std::int64_t lanes =
        lanes_of_unit * std::clamp<std::int64_t>(options_.device.compute_units, 1, 4096);
    const auto asked = cases("fma", "lanes=" + std::to_string(lanes) + ",iterations=1024", dtype);
    add_peak(asked.front(), dtype + "_vector", fastest(asked));
  }

  void products(const std::string& dtype) {
    if (!offers("gemm") || is_interrupted()) return;
    constexpr double long_enough_ns = 50e6, worth_it = 1.02;
    std::optional<std::pair<KernelCase, Seen>> best;
    for (const std::int64_t n : sizes()) {
      const std::string size = std::to_string(n);
      // 8-bit floats give f32, as every device does.
      const std::string to = dtype.starts_with("f8") ? ",dst_dtype=f32" : "";
      const auto asked =
          cases("gemm", "m=" + size + ",n=" + size + ",k=" + size + ",wei_trans=1" + to, dtype);
      KernelMeasuring once = options_.measuring;
      once.rounds = 1;
      const auto rows = measure_kernels(asked, once);
      Seen found = seen(rows, flops_of(asked.front()));
      if (found.rates.empty() || is_interrupted()) break;
      const bool is_faster = !best || found.best() > worth_it * best->second.best();
      const bool is_long = found.duration_ns > long_enough_ns;
      if (is_faster) best.emplace(asked.front(), std::move(found));
      if (!is_faster || is_long) break;
    }
    if (!best || is_interrupted()) return;
    add_peak(best->first, matrix_path(best->first), fastest({&best->first, 1}));
  }

  std::span<const std::int64_t> sizes() const {
    static constexpr std::array<std::int64_t, 5> all{256, 1024, 2048, 4096, 8192};
    static constexpr std::int64_t few[] = {256, 4096};
    return options_.is_quick ? std::span<const std::int64_t>(few) : all;
  }

  // Of the fastest of all variants that the plugin offers, each tried once.
  Seen fastest(std::span<const KernelCase> asked) {
    std::vector<VariantSet> sets;
    try {
      sets = asked_variants(asked, {.kernels = {"all"},
                                    .plugin_path = options_.measuring.plugin_path,
                                    .plugin = options_.plugin,
                                    .limits = options_.limits});
    } catch (const Error& e) {
      device_.notes.push_back(asked.front().problem.text() + ": " + e.what());
      return {};
    }
    KernelMeasuring once = options_.measuring;
    once.rounds = 1;
    const MeasuredCases found = search_variants(sets, once, {});
    const auto winner = std::ranges::min_element(found.rows, {}, [](const Measurement& m) {
      return has_latency(m.status) ? m.duration_ns_median : std::numeric_limits<double>::infinity();
    });
    if (winner == found.rows.end() || is_interrupted()) return {};
    return seen(measure_kernels({&winner->kernel_case, 1}, options_.measuring),
                flops_of(asked.front()));
  }

  static double flops_of(const KernelCase& k) {
    return find_contract(k.problem.op)->work(k.problem.params).flops();
  }

  // As the datasheet calls what multiplies in this dtype.
  std::string matrix_path(const KernelCase& k) const {
    const Dtype dtype = find_contract("gemm")->work(k.problem.params).compute_dtype;
    if (options_.datasheet) {
      if (const auto known = options_.datasheet->peak(dtype, 0)) return known->path;
    }
    return std::string(dtype_name(dtype)) + (dtype == Dtype::f32 ? "_vector" : "_matrix");
  }

  void add_peak(const KernelCase& k, const std::string& path, const Seen& found) {
    if (found.rates.empty()) return;
    Peak peak{.path = path,
              .dtype = find_contract(k.problem.op)->work(k.problem.params).compute_dtype,
              .isa = found.isa,
              .source = "measured " + utc_ + ", " + found.what};
    observe(peak.occasions, utc_, found.rates);
    observe(device_, peak);
  }

  const DevicePeakMeasuring& options_;
  std::string utc_;
  Device device_;
};

// A datasheet's peaks are at the clock of its rule; devices clock higher where power permits.
double clock_ratio(const Device& device, const Device& datasheet) {
  for (const Peak& p : datasheet.peaks) {
    if (!p.rule || p.rule->clock_hz <= 0 || !device.clock_hz) continue;
    return std::max(1.0, *device.clock_hz / p.rule->clock_hz);
  }
  return 1;
}

void add_upper_ends(Device& device, const Device& datasheet) {
  const double faster = clock_ratio(device, datasheet);
  for (Peak& peak : device.peaks) {
    auto* same = find_or_null(datasheet.peaks, peak.path, &Peak::path);
    if (!same) continue;
    const double high = faster * same->flops_per_s_high.value_or(same->flops_per_s);
    peak.flops_per_s_high = std::max(high, peak.flops_per_s);
  }
  const auto memory = datasheet.bandwidth("memory", 0);
  for (Bandwidth& b : device.bandwidths) {
    if (!memory || b.level != "memory") continue;
    b.bytes_per_s_high =
        std::max(b.bytes_per_s, memory->bytes_per_s_high.value_or(memory->bytes_per_s));
  }
}

}  // namespace

Device measure_device_peaks(const DevicePeakMeasuring& options) {
  require_own_file(options.path, options.fingerprint);
  require_writable(options.path, "");
  Device device = merged_with_file(DevicePeaks(options).run(), options.path);
  if (options.datasheet) add_upper_ends(device, *options.datasheet);
  if (options.measuring.stop.stop_requested()) return device;
  write_peaks_file(device, options.path);
  return device;
}

}  // namespace halmark::tune
