// Terms of all stages lie in one array, because a search evaluates millions of sums and a vector
// per stage would cost a pointer and a cache line each.
#include "model/pricing/step_sum.hpp"

#include "core/numeric/cast.hpp"
#include "core/text/units.hpp"
#include "roofline/row_utilisation.hpp"

namespace halmark {

namespace {

class SumOfTimes {
 public:
  SumOfTimes(const StepSum& sum, std::span<const KernelTime> times) : sum_(sum), times_(times) {}

  void begin_stage() { stage_ = no_executions; }
  void add(const StepSum::Term& term) {
    halmark::add(stage_, term.count * times_[as_size(term.kernel)]);
  }
  void end_stage() {
    if (stage_.ns > out_.time.ns) out_.slowest_stage = stages_;
    out_.time = largest(out_.time, stage_);
    const StepSum::Stage& stage = sum_.stages[as_size(stages_)];
    if (stage.is_alternative) {
      slowest_ = largest(slowest_, stage_);
      way_ = way_before_;
    } else {
      slowest_ = stage_;
      way_before_ = way_;
      all_stages_ += stage.stages;
    }
    halmark::add(way_, as_double(stage.stages) * slowest_);
    ++stages_;
  }
  StepTime step(double micro_batches) {
    out_.time = micro_batches * out_.time;
    if (micro_batches >= all_stages_) return out_;
    out_.is_way = way_.ns > out_.time.ns;
    out_.time = largest(out_.time, way_);
    return out_;
  }

 private:
  const StepSum& sum_;
  std::span<const KernelTime> times_;
  KernelTime stage_, way_ = no_executions;
  KernelTime slowest_, way_before_ = no_executions;  // of the stage; of those before it
  StepTime out_{.time = no_executions};
  std::int32_t stages_ = 0, all_stages_ = 0;
};

}  // namespace

void StepSum::end_stage() {
  const std::size_t begin = stages.empty() ? 0 : as_size(stages.back().terms_end);
  const auto own = std::span(terms).subspan(begin);
  std::int32_t before = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    before += stages[s].stages;
    const bool is_alike = std::ranges::equal(terms_of(s), own, [](const Term& a, const Term& b) {
      return a.kernel == b.kernel && a.count == b.count;
    });
    if (!is_alike) continue;
    ++stages[s].stages;
    terms.resize(begin);
    return;
  }
  stages.push_back({.terms_end = static_cast<std::int32_t>(terms.size()), .first_stage = before});
}

void StepSum::end_placed(bool is_alternative) {
  stages.push_back({.terms_end = static_cast<std::int32_t>(terms.size()),
                    .first_stage = static_cast<std::int32_t>(stages.size()),
                    .is_alternative = is_alternative});
}

std::span<const StepSum::Term> StepSum::terms_of(std::size_t stage) const {
  const std::int32_t begin = stage == 0 ? 0 : stages[stage - 1].terms_end;
  return std::span(terms).subspan(as_size(begin), as_size(stages[stage].terms_end - begin));
}

StepTime evaluate(const StepSum& sum, std::span<const KernelTime> times) {
  StepTime out = fold(sum, SumOfTimes(sum, times));
  if (sum.spread > 0) {
    out.time.low_ns = std::min(out.time.low_ns, (1 - sum.spread) * out.time.ns);
    out.time.high_ns = std::max(out.time.high_ns, (1 + sum.spread) * out.time.ns);
  }
  return out;
}

std::vector<StepSum::Term> executions(const StepSum& sum) {
  std::vector<StepSum::Term> out;
  for (std::size_t s = 0; s < sum.stages.size(); ++s) {
    for (const StepSum::Term& term : sum.terms_of(s)) {
      out.push_back({term.kernel, term.count * sum.stages[s].stages});
    }
  }
  return out;
}

std::optional<Price> price(const StepSum& sum, std::span<const KernelTime> times) {
  return price(sum, times, sum.tokens, sum.ideal_ns);
}

std::optional<Price> price(const StepSum& sum, std::span<const KernelTime> times, double tokens,
                           std::optional<double> ideal_ns) {
  const StepTime step = evaluate(sum, times);
  if (!step.time.is_known || step.time.ns <= 0) return std::nullopt;
  Price out{.step_ns = step.time.ns,
            .low_ns = step.time.low_ns,
            .high_ns = step.time.high_ns,
            .lower_bound_ns = step.time.lower_bound_ns,
            .tokens_per_s = tokens / step.time.ns * ns_per_s,
            .mfu = {},
            .slowest_stage = sum.stages[as_size(step.slowest_stage)].first_stage,
            .is_way = step.is_way};
  if (ideal_ns && is_within_peak(*ideal_ns / step.time.ns)) out.mfu = *ideal_ns / step.time.ns;
  return out;
}

}  // namespace halmark
