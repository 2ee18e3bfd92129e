// Resolving ceilings is slow and rows are many, so they are kept until a probe changes a figure.
#include "measure/campaign/run_peaks.hpp"

#include <algorithm>

#include "core/lists.hpp"

namespace halmark {
namespace {

constexpr double recent_s = 2;

}  // namespace

RunPeaks::RunPeaks(Device device, std::function<std::string()> utc_now)
    : device_(std::move(device)), utc_now_(std::move(utc_now)) {
  seen_ = device_;
  seen_.peaks.clear();
  seen_.bandwidths.clear();
}

const roofline::Ceilings& RunPeaks::ceilings(int threads, int shards) const {
  const auto [it, is_new] = ceilings_.try_emplace({threads, shards});
  if (is_new) it->second = roofline::Ceilings(device_, threads, shards);
  return it->second;
}

// Within a run no ceiling falls: earlier rows were judged by it.
template <class Ceiling>
void RunPeaks::add(std::vector<Ceiling>& known, double Ceiling::*rate, Ceiling of,
                   std::span<const double> rates, bool is_busy, bool is_known,
                   double scaled_per_s) {
  if (rates.empty() || (!is_known && std::ranges::max(rates) <= scaled_per_s)) return;
  const std::string utc = utc_now_();
  of.occasions.clear();
  halmark::observe(of.occasions, utc, rates, is_busy);
  of.source = "measured " + utc + (of.source.empty() ? "" : ", " + of.source);
  const auto figure = [&]() -> double* {
    auto* same =
        find_or_null(known, true, [&](const Ceiling& c) { return is_same_ceiling(c, of); });
    return !same ? nullptr : &((*same).*rate);
  };
  const double before = figure() != nullptr ? *figure() : 0;
  halmark::observe(device_, of);
  *figure() = std::max(*figure(), before);
  halmark::observe(seen_, of);
  ++revision_;
  ceilings_.clear();
}

void RunPeaks::observe(Peak of, std::span<const double> rates, bool is_busy) {
  const bool is_known = std::ranges::any_of(
      device_.peaks, [&](const Peak& p) { return p.dtype == of.dtype && p.threads == of.threads; });
  const auto scaled = device_.path_peak(of.dtype, of.isa, of.threads);
  of.flops_per_s = 0;
  of.flops_per_s_q90.reset();
  of.source.clear();
  add(device_.peaks, &Peak::flops_per_s, std::move(of), rates, is_busy, is_known,
      scaled ? scaled->flops_per_s : 0);
}

void RunPeaks::observe(Bandwidth of, std::span<const double> rates, bool is_busy) {
  const bool is_known = std::ranges::any_of(device_.bandwidths, [&](const Bandwidth& b) {
    return b.level == of.level && b.threads == of.threads;
  });
  const auto scaled = device_.bandwidth(of.level, of.threads);
  of.bytes_per_s = 0;
  of.source = of.access;
  add(device_.bandwidths, &Bandwidth::bytes_per_s, std::move(of), rates, is_busy, is_known,
      scaled ? scaled->bytes_per_s : 0);
}

const std::string* RunPeaks::recent(const std::string& what) const {
  const auto* found = find_value(said_, what);
  const bool is_recent = found && seconds_since(found->when) < recent_s;
  return is_recent ? &found->text : nullptr;
}

void RunPeaks::remember(const std::string& what, std::string said) {
  said_[what] = {SteadyClock::now(), std::move(said)};
}

}  // namespace halmark
