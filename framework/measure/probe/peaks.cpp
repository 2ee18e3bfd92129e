#include "measure/probe/peaks.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "host/machine.hpp"
#include "host/partition.hpp"
#include "host/process/arena.hpp"
#include "host/worker_client.hpp"

namespace halmark {
namespace {

using protocol::ProbeKind;

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t plateau_first_bytes = 64 * mib;
constexpr std::int64_t plateau_last_bytes = 1024 * mib;
constexpr double slow_memory_bytes_per_s = 4e9;  // sizes windows; a slower machine takes longer

double maximum(const std::vector<double>& rates) {
  return rates.empty() ? 0 : *std::ranges::max_element(rates);
}

// A window must hold at least one pass over the working set.
double window_ms(std::int64_t working_set_bytes, double least_ms) {
  return std::max(least_ms, 2e3 * as_double(working_set_bytes) / slow_memory_bytes_per_s);
}

struct Level {
  std::string name;
  std::int64_t working_set_bytes;  // of one thread; the last-level cache's and memory's: of all
  bool is_shared;
};

// Half of each cache, so that the probe stays inside; memory: well beyond the last one.
std::vector<Level> levels(std::span<const CacheLevel> caches, std::int64_t memory_bytes) {
  std::vector<Level> found;
  for (const CacheLevel& cache : caches) {
    // A last-level cache that a shared host shows in full is not ours: bounded, as memory is.
    const std::int64_t half = std::min<std::int64_t>(cache.bytes / 2, 32 * mib);
    std::string name = "l";
    name += std::to_string(cache.level);
    found.push_back({std::move(name), half, cache.level >= 3});
  }
  found.push_back({"memory", memory_bytes, true});
  return found;
}

class PeakRun {
 public:
  PeakRun(const PeakOptions& options, ProbeFunction probe, int threads_all)
      : options_(options), probe_(std::move(probe)) {
    threads_ = {1};
    if (threads_all > 1) threads_.push_back(threads_all);
  }

  // Two passes: a neighbour that disturbs one probe for a second has gone by the other.
  void run(Device& device, std::span<const CacheLevel> caches, std::int64_t memory_bytes) {
    clock(device);
    const auto paths = probe_({.kind = ProbeKind::peak_paths}).paths;
    const auto memory_levels = levels(caches, memory_bytes);
    constexpr int passes = 2;
    total_ =
        as_double(passes * threads_.size() * (paths.size() + 2 * memory_levels.size() + 1) + 1);
    for (int pass = 0; pass < passes; ++pass) {
      for (const int threads : threads_) {
        for (const auto& path : paths) peak(path, threads);
        for (const Level& level : memory_levels) {
          bandwidth(level, ProbeKind::copy, threads);
          bandwidth(level, ProbeKind::read, threads);
          if (level.name == "memory") slices(level, threads);
        }
      }
    }
    for (auto& [peak, probed] : peaks_) {
      peak.flops_per_s_q90 = quantile(probed.rates, 0.9);
      settle(peak, peak.flops_per_s, probed);
      device.peaks.push_back(std::move(peak));
    }
    for (auto& [bandwidth, probed] : bandwidths_) {
      settle(bandwidth, bandwidth.bytes_per_s, probed);
      device.bandwidths.push_back(std::move(bandwidth));
    }
    if (stopped()) return;
    step("ring plateau");
    device.ring_plateau_bytes = find_ring_plateau(probe_, threads_.back(), memory_bytes * 4);
  }

 private:
  bool stopped() const { return options_.should_stop && options_.should_stop(); }
  void step(const std::string& what) {
    if (options_.progress) options_.progress(std::min(1.0, done_ / total_), what);
    done_ += 1;
  }
  std::string source(const std::string& what) const {
    return "measured" + (options_.date_utc.empty() ? "" : " " + options_.date_utc) +
           (what.empty() ? "" : ", " + what);
  }

  void clock(Device& device) {
    const auto answer = probe_({.kind = ProbeKind::clock, .windows = options_.is_quick ? 10 : 100});
    if (!answer.rates.empty()) device.clock_hz = maximum(answer.rates);
  }

  void peak(const protocol::ProbeAnswer::Path& path, int threads) {
    if (stopped()) return;
    step(path.path + " " + path.isa + ", " + std::to_string(threads) + " threads");
    const auto answer = probe_({.kind = ProbeKind::peak,
                                .path = path.path,
                                .isa = path.isa,
                                .threads = threads,
                                .windows = options_.is_quick ? 6 : 50,
                                .window_ms = 10});
    keep(peaks_,
         {.path = path.path,
          .dtype = path.dtype,
          .isa = path.isa,
          .threads = threads,
          .source = source("")},
         answer);
  }

  void bandwidth(const Level& level, ProbeKind kind, int threads) {
    if (stopped()) return;
    const std::string what(name_of(kind));
    step(level.name + " " + what + ", " + std::to_string(threads) + " threads");
    const std::int64_t bytes = level.working_set_bytes * (level.is_shared ? 1 : threads);
    const auto answer = probe_({.kind = kind,
                                .threads = threads,
                                .windows = options_.is_quick ? 3 : 15,
                                .window_ms = window_ms(bytes, 5),
                                .working_set_bytes = bytes});
    keep(bandwidths_,
         {.level = level.name,
          .threads = threads,
          .working_set_bytes = bytes,
          .access = what,
          .source = source(what)},
         answer);
  }

  // A read of 16 MiB ends before another process takes the core: what longer windows hardly ever
  // see on a busy machine.
  void slices(const Level& level, int threads) {
    if (stopped()) return;
    step("memory slices, " + std::to_string(threads) + " threads");
    const auto answer = probe_({.kind = ProbeKind::slices,
                                .threads = threads,
                                .windows = 64,
                                .window_ms = 10,
                                .working_set_bytes = level.working_set_bytes});
    keep(bandwidths_,
         {.level = level.name,
          .threads = threads,
          .working_set_bytes = level.working_set_bytes,
          .access = "slices",
          .source = source("slices")},
         answer);
  }

  // Of both passes; busy where both were.
  struct Probed {
    std::vector<double> rates;
    bool is_busy = true;
  };

  template <class Figure>
  void settle(Figure& figure, double& rate, const Probed& probed) const {
    observe(figure.occasions, options_.date_utc, probed.rates, probed.is_busy);
    const BestRate best = best_rate(figure.occasions);
    rate = best.per_s;
    figure.is_provisional = best.is_provisional;
  }

  template <class Figure>
  using Series = std::vector<std::pair<Figure, Probed>>;

  // Adds rates to those of the earlier pass; a figure without any is left out.
  template <class Figure>
  static void keep(Series<Figure>& series, Figure figure, const protocol::ProbeAnswer& answer) {
    if (answer.rates.empty()) return;
    auto known = std::ranges::find_if(
        series, [&](const auto& entry) { return is_same_ceiling(entry.first, figure); });
    if (known == series.end()) known = series.insert(series.end(), {std::move(figure), {}});
    Probed& probed = known->second;
    append_all(probed.rates, answer.rates);
    probed.is_busy = probed.is_busy && answer.cpu_share < busy_cpu_share;
  }

  Series<Peak> peaks_;
  Series<Bandwidth> bandwidths_;
  const PeakOptions& options_;
  ProbeFunction probe_;
  std::vector<int> threads_;
  double done_ = 0, total_ = 1;
};

}  // namespace

std::vector<CacheLevel> parse_caches(std::span<const std::string> caches) {
  std::vector<CacheLevel> found;
  for (const std::string& text : caches) {
    if (text.size() < 3 || text[0] != 'L' || text.find("instruction") != std::string::npos)
      continue;
    CacheLevel cache;
    const char* after =
        std::from_chars(text.data() + 1, text.data() + text.size(), cache.level).ptr;
    const std::size_t digit = text.find_first_of("0123456789", as_size(after - text.data()));
    if (digit == std::string::npos) continue;
    const auto end =
        std::from_chars(text.data() + digit, text.data() + text.size(), cache.bytes).ptr;
    const std::string_view unit(end, as_size(text.data() + text.size() - end));
    const std::size_t letter = unit.find_first_of("KMG");
    const char scale = letter == std::string_view::npos ? ' ' : unit[letter];
    cache.bytes <<= scale == 'K' ? 10 : scale == 'M' ? 20 : scale == 'G' ? 30 : 0;
    if (cache.bytes > 0) found.push_back(cache);
  }
  std::ranges::sort(found,
                    [](const CacheLevel& a, const CacheLevel& b) { return a.level < b.level; });
  return found;
}

std::optional<std::int64_t> find_ring_plateau(const ProbeFunction& probe, int threads,
                                              std::int64_t bytes_max) {
  const auto rate_at = [&](std::int64_t bytes) {
    return maximum(probe({.kind = ProbeKind::read,
                          .threads = threads,
                          .windows = 3,
                          .window_ms = window_ms(bytes, 10) / 2,
                          .working_set_bytes = bytes})
                       .rates);
  };
  const std::int64_t last = std::min(plateau_last_bytes, bytes_max);
  std::int64_t bytes = std::min(plateau_first_bytes, last);
  double rate = rate_at(bytes);
  if (rate <= 0) return std::nullopt;
  while (bytes * 2 <= last) {
    const double next = rate_at(bytes * 2);
    const bool is_flat = next > 0 && std::abs(next - rate) < 0.03 * rate;
    if (is_flat) break;
    bytes *= 2;
    rate = next > 0 ? next : rate;
  }
  return bytes + bytes / 4;
}

void fill_peaks(const PeakOptions& options, const ProbeFunction& probe, int threads_all,
                std::span<const CacheLevel> caches, std::int64_t memory_bytes, Device& device) {
  PeakRun(options, probe, threads_all).run(device, caches, memory_bytes);
}

Device measure_peaks(const PeakOptions& options) {
  const Machine machine = this_machine();
  const CpuSet cpus = cut(1).front();
  const auto caches = parse_caches(machine.caches);
  // 256 MiB is beyond what a shared guest keeps of a last-level cache; where less may be used, an
  // eighth of it: four times as much is walked through, and nothing else is held meanwhile.
  const std::int64_t memory_bytes = std::min(256 * mib, run_memory().may_use_bytes() / 8);
  const auto arenas = make_arenas(std::vector{memory_bytes * 4 + 16 * mib}, {.fraction = 0.75});

  WorkerOptions worker_options;
  worker_options.place = {.backend = "cpu", .device = "0", .parts = 1, .part = 0};
  worker_options.environment = options.environment;
  worker_options.limits = options.limits;
  if (!arenas.empty()) worker_options.arena = &arenas.front();
  auto worker = Worker::start(worker_options);
  if (!worker) throw unfit("no probe worker: " + worker.failure.reason, "halmark doctor");

  Device device;
  device.id = "cpu:0";
  device.name = machine.cpu_model;
  device.kind = "cpu";
  device.fingerprint = machine.fingerprint();
  device.is_measured = true;
  device.memory_bytes = machine.memory_bytes;
  const ProbeFunction probe = [&](const protocol::ProbeRequest& request) {
    auto answer = (*worker)->probe(request);
    if (answer) return std::move(*answer);
    if (answer.failure.worker_is_gone) {
      throw unfit("the probe worker was lost: " + answer.failure.reason, "halmark doctor");
    }
    return protocol::ProbeAnswer{.paths = {}, .rates = {}, .reason = answer.failure.reason};
  };
  fill_peaks(options, probe, cpus.threads(), caches, memory_bytes, device);
  (*worker)->quit();
  return device;
}

}  // namespace halmark
