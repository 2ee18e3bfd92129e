#include "search/certify/certify.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"

namespace halmark {

Certifier::Certifier(CertifiableProblem problem, CertifyOptions options)
    : problem_(std::move(problem)),
      options_(options),
      configurations_(problem_),
      objectives_(problem_.objectives.size()),
      is_maximised_(std::make_unique<bool[]>(objectives_)),
      archives_(problem_.fronts.size()) {
  for (const auto j : indices(objectives_)) {
    is_maximised_[j] = problem_.objectives[j].is_maximised;
  }
  for (const CertifyKernel& kernel : problem_.kernels) {
    const double bound = kernel_bound(kernel, problem_.peaks, problem_.time_units_per_s);
    kernels_.push_back({.bound = bound, .low = bound, .high = infinity, .reason = {}});
    low_.push_back(bound);
  }
  high_.assign(low_.size(), infinity);
  optimistic_ = low_;
  users_.resize(low_.size());
  const std::uint64_t n = configurations_.combinations();
  open_kernels_.assign(n, 0);
  lower_.assign(n * objectives_, 0);
  verdicts_.assign(n, Verdict::invalid);
  versions_.assign(n, 0);
  for (const std::uint64_t c : below(n)) {
    if (!configurations_.is_valid(c)) continue;
    verdicts_[c] = Verdict::undecided;
    const std::vector<std::int32_t> kernels = configurations_.kernels(c);
    open_kernels_[c] = as_int(kernels.size());
    for (const std::int32_t k : kernels) {
      users_[as_size(k)].push_back(as_uint32(c));
    }
    configurations_.compose(c, low_, lower(c));
  }
  for (const CertifyDomain& d : problem_.domains) excess_.emplace_back(d.values.size());
  choose_weights();
  decide_again();
}

std::span<double> Certifier::lower(std::uint64_t configuration) {
  return {lower_.data() + configuration * objectives_, objectives_};
}

std::span<const double> Certifier::lower(std::uint64_t configuration) const {
  return {lower_.data() + configuration * objectives_, objectives_};
}

// One over the range of the first bounds, counted from its lower end. Any positive weights give a
// right order; these let no objective drown the others, and no front wait for another.
void Certifier::choose_weights() {
  weights_.assign(problem_.fronts.size() * objectives_, 1);
  offsets_.assign(weights_.size(), 0);
  std::vector<double> low(weights_.size(), infinity), high(weights_.size(), -infinity);
  for (const std::uint64_t c : below(verdicts_.size())) {
    if (verdicts_[c] == Verdict::invalid) continue;
    for (const auto j : indices(objectives_)) {
      const double value = lower(c)[j];
      if (!std::isfinite(value)) continue;
      const std::size_t at = configurations_.front(c) * objectives_ + j;
      low[at] = std::min(low[at], value);
      high[at] = std::max(high[at], value);
    }
  }
  for (const auto i : indices(weights_)) {
    if (high[i] > low[i]) weights_[i] = 1 / (high[i] - low[i]);
    if (std::isfinite(low[i])) offsets_[i] = low[i];
  }
}

double Certifier::key(std::uint64_t configuration, std::span<const double> objectives) const {
  const std::size_t first = configurations_.front(configuration) * objectives_;
  double out = 0;
  for (const auto j : indices(objectives)) {
    out += weights_[first + j] * (objectives[j] - offsets_[first + j]);
  }
  return out;
}

// Everything from the times alone, as if nothing had been decided yet.
void Certifier::decide_again() {
  queue_ = {};
  archives_.assign(archives_.size(), {});
  for (const std::uint64_t c : below(verdicts_.size())) {
    if (verdicts_[c] == Verdict::invalid || verdicts_[c] == Verdict::failed) continue;
    verdicts_[c] = Verdict::undecided;
    update(c);
  }
}

void Certifier::learn(std::uint64_t c, double excess) {
  const std::vector<std::int32_t> levels = configurations_.levels(c);
  for (const auto d : indices(levels)) {
    Excess& e = excess_[d][as_size(levels[d])];
    e.sum += excess;
    ++e.count;
  }
}

double Certifier::expected_excess(std::uint64_t c) const {
  const std::vector<std::int32_t> levels = configurations_.levels(c);
  double out = 0;
  for (const auto d : indices(levels)) {
    const Excess& e = excess_[d][as_size(levels[d])];
    if (e.count > 0) out += e.sum / as_double(e.count);
  }
  return out;
}

void Certifier::update(std::uint64_t c) {
  if (verdicts_[c] != Verdict::undecided) return;
  const double before = key(c, lower(c));
  configurations_.compose(c, low_, lower(c));
  if (open_kernels_[c] == 0) learn(c, key(c, lower(c)) - before);
  if (open_kernels_[c] > 0) {
    push(c);
    return;
  }
  verdicts_[c] = Verdict::evaluated;
  Objectives upper(objectives_);
  configurations_.compose(c, high_, upper);
  archives_[configurations_.front(c)].add(c, upper);
}

bool Certifier::has_evaluated(std::uint64_t c) const {
  return !archives_[configurations_.front(c)].members().empty();
}

void Certifier::push(std::uint64_t c) {
  queue_.push({has_evaluated(c), key(c, lower(c)), hash_u64(options_.seed, c), c, ++versions_[c]});
}

bool Certifier::is_covered(std::uint64_t c, std::span<const double> bound) const {
  const UpperArchive& archive = archives_[configurations_.front(c)];
  if (archive.dominator(bound)) return true;
  return options_.eps > 0 && archive.gap(bound, {is_maximised_.get(), objectives_}) <= options_.eps;
}

void Certifier::check_told(std::int32_t kernel) const {
  if (kernel < 0 || as_size(kernel) >= kernels_.size() ||
      kernels_[as_size(kernel)].status != KernelStatus::unmeasured) {
    throw Error(ExitCode::error,
                "kernel " + std::to_string(kernel) + " was told twice, or is none of this problem");
  }
}

// Peaks that make the bound larger than what was measured grow until the kernel just runs at them:
// the safety factor above is then whole again.
bool Certifier::raise_peaks(std::int32_t kernel, double low) {
  const auto k = as_size(kernel);
  bool is_raised = false;
  for (const BoundTerm& term : problem_.kernels[k].terms) {
    BoundPeak& peak = problem_.peaks[as_size(term.peak)];
    const double bound = term.amount / (peak.value * peak.safety) * problem_.time_units_per_s;
    if (bound <= low) continue;
    const double before = peak.value;
    peak.value = term.amount / low * problem_.time_units_per_s;
    alarms_.push_back({kernel, term.peak, low, bound, before, peak.value});
    is_raised = true;
  }
  if (!is_raised) return false;
  for (const auto i : indices(kernels_)) {
    kernels_[i].bound =
        kernel_bound(problem_.kernels[i], problem_.peaks, problem_.time_units_per_s);
    if (kernels_[i].status != KernelStatus::unmeasured) continue;
    low_[i] = optimistic_[i] = kernels_[i].low = kernels_[i].bound;
  }
  return true;
}

void Certifier::tell(std::int32_t kernel, double low, double high) {
  check_told(kernel);
  if (!(low > 0 && low <= high && std::isfinite(high))) {
    throw Error(ExitCode::error,
                "the interval of kernel " + std::to_string(kernel) + " is not 0 < low <= high");
  }
  const auto k = as_size(kernel);
  const bool is_raised = raise_peaks(kernel, low);
  kernels_[k].status = KernelStatus::measured;
  low_[k] = optimistic_[k] = kernels_[k].low = low;
  high_[k] = kernels_[k].high = high;
  ++kernels_measured_;
  for (const std::uint32_t user : users_[k]) {
    --open_kernels_[user];
    if (!is_raised) update(user);
  }
  if (is_raised) decide_again();
}

void Certifier::tell_failed(std::int32_t kernel, const std::string& reason, double low) {
  check_told(kernel);
  const auto k = as_size(kernel);
  const bool is_raised = low > 0 && raise_peaks(kernel, low);
  kernels_[k].status = KernelStatus::failed;
  kernels_[k].reason = reason;
  for (const std::uint32_t user : users_[k]) verdicts_[user] = Verdict::failed;
  if (is_raised) decide_again();
}

std::int32_t Certifier::responsible_kernel(std::uint64_t c) const {
  std::vector<double> times = low_;
  Objectives objectives(objectives_);
  std::int32_t out = -1;
  double most = -infinity;
  for (const std::int32_t kernel : configurations_.kernels(c)) {
    const auto k = as_size(kernel);
    if (kernels_[k].status != KernelStatus::unmeasured) continue;
    // Whose bound, were it twice as high, would raise the configuration's bound most.
    times[k] = 2 * low_[k];
    configurations_.compose(c, times, objectives);
    times[k] = low_[k];
    const double raised = key(c, objectives);
    if (raised <= most) continue;
    most = raised;
    out = kernel;
  }
  return out;
}

ProvedGap Certifier::gap() const {
  ProvedGap out;
  for (const std::uint64_t c : below(verdicts_.size())) {
    if (verdicts_[c] != Verdict::undecided && verdicts_[c] != Verdict::discarded) continue;
    const UpperArchive& archive = archives_[configurations_.front(c)];
    if (open_kernels_[c] == 0 || archive.dominator(lower(c))) continue;
    const double eps = archive.gap(lower(c), {is_maximised_.get(), objectives_});
    if (out.kernel >= 0 && eps <= out.eps) continue;
    out = {eps, c, 0};
  }
  if (out.kernel >= 0) out.kernel = responsible_kernel(out.configuration);
  return out;
}

}  // namespace halmark
