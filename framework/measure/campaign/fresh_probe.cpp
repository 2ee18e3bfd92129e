// Shards that were measured together probe together, from a barrier: alone each would see the
// bandwidth of all. Their common rate is the slowest shard's times their number, so that windows
// which did not overlap cannot raise it.
#include "measure/campaign/fresh_probe.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "core/text/units.hpp"
#include "roofline/peaks.hpp"

namespace halmark {
namespace {

using protocol::ProbeKind;
using roofline::Level;

// Short, as samples are: where other processes take turns on the cores, a long window never is free
// of them.
constexpr int windows = 24;
constexpr double window_ms = 1;

constexpr std::array<std::pair<Level, const char*>, 4> level_names{
    {{Level::l1, "l1"}, {Level::l2, "l2"}, {Level::l3, "l3"}, {Level::memory, "memory"}}};

std::string rate_text(double per_s, const char* unit) {
  return number_text(per_s / 1e9, 4) + " G" + unit;
}

class FreshProbe {
 public:
  FreshProbe(Crew& crew, RunPeaks& peaks) : crew_(crew), peaks_(peaks) {}

  std::string compute(Dtype dtype) {
    const auto best = peaks_.device().peak(multiplying_dtype(peaks_.device(), dtype), threads());
    if (!best) return {};
    return once(best->path + " " + best->isa, [&] {
      const std::vector<double> slowest = probe({.kind = ProbeKind::peak,
                                                 .path = best->path,
                                                 .isa = best->isa,
                                                 .threads = threads(),
                                                 .windows = windows,
                                                 .window_ms = window_ms});
      for (const int shards : counts()) {
        Peak of = *best;
        of.threads = threads() * shards;
        peaks_.observe(std::move(of), times(slowest, shards), is_busy_);
      }
      return said(best->path, best->flops_per_s, slowest, "FLOP/s");
    });
  }

  // `enough`: the rate of one shard at which the row is true.
  std::string bandwidth(const std::string& level, double enough) {
    const auto best = peaks_.device().bandwidth(level, threads());
    if (!best) return {};
    return once(level, [&] {
      std::vector<double> all;
      for (const ProbeKind kind : {ProbeKind::slices, ProbeKind::read, ProbeKind::copy}) {
        if (kind == ProbeKind::slices && level != "memory") continue;
        const std::vector<double> slowest = bandwidth_by(kind, level);
        append_all(all, slowest);
        was_enough_ = third_highest(slowest) >= enough;
        if (was_enough_) break;
      }
      return said(level, best->bytes_per_s, all, "B/s");
    });
  }

 private:
  int threads() const { return crew_.host_threads(); }
  static bool is_shared(const std::string& level) { return level == "l3" || level == "memory"; }

  std::vector<double> bandwidth_by(ProbeKind kind, const std::string& level) {
    const std::int64_t bytes = working_set(level);
    std::vector<double> slowest = probe({.kind = kind,
                                         .threads = threads(),
                                         .windows = windows,
                                         .window_ms = window_ms,
                                         .working_set_bytes = bytes});
    for (const int shards : counts()) {
      peaks_.observe({.level = level,
                      .threads = threads() * shards,
                      .working_set_bytes = bytes * (is_shared(level) ? 1 : shards),
                      .access = std::string(name_of(kind))},
                     times(slowest, shards), is_busy_);
    }
    return slowest;
  }

  // What decides once there are two occasions.
  static double third_highest(std::vector<double> rates) {
    std::ranges::sort(rates, std::greater<>());
    return rates.size() < 3 ? 0 : rates[2];
  }

  // Of one shard, and of all at once where there are several.
  std::vector<int> counts() const {
    return crew_.size() == 1 ? std::vector<int>{1} : std::vector<int>{1, crew_.size()};
  }

  template <class Probe>
  std::string once(const std::string& what, const Probe& probe_now) {
    const std::string key =
        what + " " + std::to_string(threads()) + " " + std::to_string(crew_.size());
    if (const std::string* known = peaks_.recent(key)) return *known;
    failure_.clear();
    was_enough_ = false;
    std::string out = probe_now();
    // A ceiling that was raised for this row may have been left before the next one's claim.
    if (!was_enough_) peaks_.remember(key, out);
    return out;
  }

  // The working set that the ceiling was measured with, for one shard. Private caches grow with the
  // threads, a shared one is cut; what is beyond all of them stays beyond for each shard.
  std::int64_t working_set(const std::string& level) const {
    const Bandwidth* nearest = nullptr;
    for (const Bandwidth& b : peaks_.device().bandwidths) {
      if (b.level == level && (nearest == nullptr || b.threads == threads())) nearest = &b;
    }
    const std::int64_t bytes = nearest->working_set_bytes;
    if (level == "memory") return bytes;
    if (level == "l3") return bytes / crew_.size();
    return bytes / std::max(1, nearest->threads) * threads();
  }

  // Per window the rate of the slowest shard; empty when a shard could not probe.
  std::vector<double> probe(const protocol::ProbeRequest& request) {
    std::vector<double> slowest;
    is_busy_ = false;
    const auto answers = crew_.probe(request);
    for (const auto& answer : answers) {
      if (!answer || answer->rates.empty()) {
        failure_ = answer ? answer->reason : answer.failure.reason;
        return {};
      }
      is_busy_ = is_busy_ || answer->cpu_share < busy_cpu_share;
      slowest.resize(
          slowest.empty() ? answer->rates.size() : std::min(slowest.size(), answer->rates.size()),
          answer->rates.front());
      for (const auto i : indices(slowest)) {
        const bool is_first = &answer == &answers.front();
        slowest[i] = is_first ? answer->rates[i] : std::min(slowest[i], answer->rates[i]);
      }
    }
    return slowest;
  }

  static std::vector<double> times(std::vector<double> rates, int shards) {
    for (double& rate : rates) rate *= shards;
    return rates;
  }

  std::string said(const std::string& what, double before, const std::vector<double>& rates,
                   const char* unit) const {
    std::string out =
        what + ", " + std::to_string(threads()) + " threads" +
        (crew_.size() > 1 ? " of each of " + std::to_string(crew_.size()) + " shards" : "") + ": " +
        rate_text(before, unit) + " before, ";
    if (rates.empty()) return out + "no fresh probe: " + failure_;
    return out + rate_text(std::ranges::max(rates), unit) + " in a fresh probe";
  }

  Crew& crew_;
  RunPeaks& peaks_;
  std::string failure_;
  bool was_enough_ = false;
  bool is_busy_ = false;  // the last probe, of any shard
};

}  // namespace

std::string probe_afresh(Crew& crew, RunPeaks& peaks, const Work& work,
                         const roofline::Bound& bound, double duration_ns) {
  // The rate that the time claims, of each level that it contradicts.
  std::map<Level, double> doubted;
  for (const roofline::Part& part : bound.parts()) {
    const double least_ns = roofline::quarantine_ratio * duration_ns;
    if (part.ns() <= least_ns) continue;
    double& claimed = doubted[part.level];
    claimed = std::max(claimed, part.amount / least_ns * ns_per_s);
  }
  FreshProbe probe(crew, peaks);
  std::vector<std::string> said;
  if (doubted.contains(Level::compute)) said.push_back(probe.compute(work.compute_dtype));
  for (const auto& [level, name] : level_names) {
    if (doubted.contains(level)) said.push_back(probe.bandwidth(name, doubted.at(level)));
  }
  std::string out;
  for (const std::string& text : said) out += (out.empty() || text.empty() ? "" : "; ") + text;
  return out;
}

}  // namespace halmark
