#include "tune/search/gain/kernel_belief.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/limiter.hpp"
#include "core/numeric/statistics.hpp"
#include "measure/campaign/predict_cost.hpp"
#include "search/proposer.hpp"

namespace halmark::tune {
namespace {

// Standard deviations of ln(time / guess), before anything was measured: a guess misses by a factor
// of two, kernels that agree in every trait by a tenth of each other.
constexpr std::array<double, kernel_traits> effect_deviation = {0.5,  0.5,  0.3, 0.3,  0.2,
                                                                0.25, 0.25, 0.5, 0.25, 0.25};
constexpr double own_deviation = 0.12;
constexpr double scale_weight = 12;     // kernels that the prior size of errors counts as
constexpr double scatter_prior = 0.03;  // of process medians on a quiet machine
constexpr double scatter_weight = 10;   // degrees of freedom that it counts as
// Of the variance between processes: the state of the machine, which a whole stack meets.
constexpr double common_share = 0.7;
constexpr std::uint64_t purpose = 0x6b62, occasion_purpose = 0x6f63;

std::string text_of(Limiter limiter) { return std::string(limiter_name(limiter)); }

// Rows of a product, or how many positions a kernel treats: "m=16".
std::string rows_of(const Params& params) {
  std::string out;
  for (const char* name : {"m", "rows", "tokens", "batch", "queries"}) {
    if (const auto value = params.find(name)) out += std::string(name) + std::to_string(*value);
  }
  return out;
}

// A product of few rows waits for memory or starts, one of many computes, whatever their number is.
std::string rows_class_of(const Params& params) {
  double rows = 1;
  for (const char* name : {"m", "rows", "tokens", "batch", "queries", "new_tokens"}) {
    if (const auto value = params.find(name)) rows *= static_cast<double>(*value);
  }
  return rows < 2 ? "one row" : rows < 16 ? "few rows" : rows < 128 ? "rows" : "many rows";
}

// A clock may be too coarse for it: nothing is learned from that.
bool has_time(const BelievedKernel& k) { return !k.medians_ns.empty() && median(k.medians_ns) > 0; }

double log_median(const BelievedKernel& k) { return std::log(median(k.medians_ns) / k.guess_ns); }

BelievedKernel believed_kernel(const KernelCase& k, const CaseBound& bound, const Device* device,
                               int threads) {
  BelievedKernel out{.bound_ns = bound.bound.ns(), .guess_ns = 0, .traits = {}};
  out.guess_ns = std::max(predicted_kernel_ns(k, device, threads), out.bound_ns);
  const std::string& op = k.problem.op;
  const std::string dtype = std::string(dtype_name(bound.work.compute_dtype));
  const std::string limiter = text_of(bound.bound.limiter());
  const std::string shards =
      std::to_string(k.parts) + " parts, " + std::to_string(k.shards_at_once) + " at once";
  out.traits = {"any",
                op,
                "in " + dtype,
                op + " in " + dtype,
                shards,
                op + " in " + dtype + " by " + limiter,
                op + " in " + dtype + " on " + shards,
                op + " in " + dtype + " of " + rows_class_of(k.problem.params),
                op + " in " + dtype + " of " + rows_of(k.problem.params),
                k.problem.text()};
  out.ceiling = limiter + " in " + dtype;
  return out;
}

}  // namespace

std::vector<BelievedKernel> believed_kernels(const MeasuredEvaluator& evaluator,
                                             const FirstPeaks& peaks,
                                             std::span<const KernelCase> cases) {
  std::vector<BelievedKernel> out;
  // Kernels of loops of their own are spread over a round: each is an occasion.
  std::map<const Stack*, std::size_t> stacks;
  for (const KernelCase& k : cases) {
    const int threads = std::max(1, evaluator.plan().target().cores / std::max(1, k.parts));
    out.push_back(believed_kernel(k, peaks.of(k), peaks.device(k), threads));
    out.back().medians_ns = process_medians_ns(evaluator.source().rows(k));
    const std::span<const Stack> stack = evaluator.plan().composers().stacks_of(k);
    out.back().occasion = out.size();
    if (!stack.empty()) {
      out.back().occasion = stacks.try_emplace(stack.data(), out.size()).first->second;
    }
  }
  return out;
}

KernelBelief::KernelBelief(std::span<const BelievedKernel> kernels) : kernels_(kernels) {
  learn_scatter();
  learn_floors();
  number_traits();
  regress();
}

void KernelBelief::learn_scatter() {
  double squares = scatter_weight * scatter_prior * scatter_prior, freedom = scatter_weight;
  for (const BelievedKernel& k : kernels_) {
    if (k.medians_ns.size() < 2 || std::ranges::min(k.medians_ns) <= 0) continue;
    const double middle = median(k.medians_ns);
    for (const double ns : k.medians_ns) squares += std::pow(std::log(ns / middle), 2);
    freedom += static_cast<double>(k.medians_ns.size() - 1);
  }
  scatter_ = std::sqrt(squares / freedom);
}

void KernelBelief::learn_floors() {
  for (const BelievedKernel& k : kernels_) {
    double& floor = floors_.try_emplace(k.ceiling, 1).first->second;
    if (has_time(k) && k.bound_ns > 0) floor = std::min(floor, median(k.medians_ns) / k.bound_ns);
  }
}

// Those of measured kernels first: of the others nothing was learned. A trait of one kernel alone
// is its own.
void KernelBelief::number_traits() {
  using Trait = std::pair<std::size_t, std::string>;
  std::map<Trait, std::size_t> sharers, numbers;
  for (const BelievedKernel& k : kernels_) {
    for (std::size_t t = 0; t < kernel_traits; ++t) ++sharers[{t, k.traits[t]}];
  }
  effects_.resize(kernels_.size());
  own_variance_.resize(kernels_.size(), own_deviation * own_deviation);
  for (const bool is_measured : {true, false}) {
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      if (has_time(kernels_[i]) != is_measured) continue;
      for (std::size_t t = 0; t < kernel_traits; ++t) {
        const Trait trait{t, kernels_[i].traits[t]};
        const double variance = effect_deviation[t] * effect_deviation[t];
        if (sharers.at(trait) == 1) {
          own_variance_[i] += variance;
          continue;
        }
        const auto [it, is_new] = numbers.try_emplace(trait, prior_variance_.size());
        if (is_new) prior_variance_.push_back(variance);
        effects_[i].push_back(it->second);
      }
    }
    if (is_measured) learned_ = prior_variance_.size();
  }
}

void KernelBelief::regress() {
  std::vector<std::vector<double>> rows(learned_);
  for (std::size_t e = 0; e < learned_; ++e) {
    rows[e].resize(e + 1, 0);
    rows[e][e] = 1 / prior_variance_[e];
  }
  std::vector<double> products(learned_, 0);
  double squares = 0, measured = 0;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    if (!has_time(kernels_[i])) continue;
    const double y = log_median(kernels_[i]), weight = 1 / own_variance_[i];
    squares += weight * y * y;
    ++measured;
    for (const std::size_t a : effects_[i]) {
      products[a] += weight * y;
      for (const std::size_t b : effects_[i]) {
        if (b <= a) rows[a][b] += weight;
      }
    }
  }
  for (std::vector<double>& row : rows) precision_.append(std::move(row));
  mean_ = products;
  precision_.solve_lower(mean_.data());
  squares -= inner_product(mean_.data(), mean_.data(), learned_);
  precision_.solve_upper(mean_.data());
  scale_ = std::sqrt((scale_weight + std::max(0.0, squares)) / (scale_weight + measured));
}

std::vector<KernelTime> KernelBelief::draw(std::uint64_t seed, std::uint64_t number) const {
  Stream stream(seed, number, purpose);
  std::vector<double> effect(prior_variance_.size());
  for (double& e : effect) e = stream.normal();
  precision_.solve_upper(effect.data());
  for (std::size_t e = 0; e < effect.size(); ++e) {
    effect[e] = e < learned_ ? mean_[e] + scale_ * effect[e]
                             : scale_ * std::sqrt(prior_variance_[e]) * effect[e];
  }
  std::vector<KernelTime> out;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const BelievedKernel& k = kernels_[i];
    const double own = stream.normal();
    double ns = 0;
    if (k.medians_ns.empty()) {
      double sum = scale_ * std::sqrt(own_variance_[i]) * own;
      for (const std::size_t e : effects_[i]) sum += effect[e];
      ns = std::max(k.guess_ns * std::exp(sum), floors_.at(k.ceiling) * k.bound_ns);
    } else {
      const auto processes = static_cast<double>(k.medians_ns.size());
      const double state =
          Stream(hash_combine(seed, number), k.occasion, occasion_purpose).normal();
      const double together = std::sqrt(common_share) * state + std::sqrt(1 - common_share) * own;
      ns = median(k.medians_ns) * std::exp(scatter_ * together / std::sqrt(processes));
    }
    out.push_back({ns, ns, ns, k.bound_ns, true});
  }
  return out;
}

}  // namespace halmark::tune
