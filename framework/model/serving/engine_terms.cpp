#include "model/serving/engine_terms.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"

namespace halmark {
namespace {

// The figures of one engine that holds a fraction of requests: between two whole numbers all of
// them are on the line through both.
class Held {
 public:
  Held(const RequestShape& request, std::int64_t budget, const StepTimes& times)
      : request_(request), budget_(budget), times_(times) {}

  std::optional<EngineFigures> at(double requests) const {
    const double floor = std::max(1.0, std::floor(requests + 1e-9));
    const auto low = serve_together(request_, as_int64(floor), budget_, times_);
    const double share = requests - floor;
    if (!low || share < 1e-9) return low;
    const auto high = serve_together(request_, as_int64(floor) + 1, budget_, times_);
    if (!high) return std::nullopt;
    const auto mixed = [share](double a, double b) { return (1 - share) * a + share * b; };
    return EngineFigures{.ttft_ns = mixed(low->ttft_ns, high->ttft_ns),
                         .tpot_ns = mixed(low->tpot_ns, high->tpot_ns),
                         .request_ns = mixed(low->request_ns, high->request_ns),
                         .steps = mixed(low->steps, high->steps),
                         .is_saturated = low->is_saturated && high->is_saturated,
                         .rest_ns = mixed(low->rest_ns, high->rest_ns)};
  }

 private:
  const RequestShape& request_;
  std::int64_t budget_;
  const StepTimes& times_;
};

}  // namespace

std::optional<ClosedLoopFigures> serve_closed_loop(const RequestShape& request,
                                                   std::int64_t clients, const EngineLimits& limits,
                                                   const StepTimes& device,
                                                   const EngineTerms& terms) {
  const EngineTimes times(device, terms);
  const Held held(request, limits.token_budget, times);
  const auto all = as_double(clients);
  const double most = limits.requests_max > 0 ? std::min(all, as_double(limits.requests_max)) : all;
  const double away_ns = terms.arrival_ns;
  // b + X a grows with b; below one request the engine is idle part of the time. Who comes while
  // others are served waits for the rest of the step in progress.
  const auto clients_of = [&](double b, const EngineFigures& f) {
    const double busy = std::clamp(b - 1, 0.0, 1.0);
    const double wait_ns = away_ns > 0 ? busy * f.rest_ns : 0;
    return b + b * (away_ns + wait_ns) / f.request_ns;
  };
  double low = 0, high = most;
  auto figures = held.at(most);
  if (!figures) return std::nullopt;
  if (clients_of(most, *figures) > all) {
    for (int round = 0; round < 40 && high - low > 1e-6 * high; ++round) {
      const double middle = (low + high) / 2;
      figures = held.at(std::max(1.0, middle));
      if (!figures) return std::nullopt;
      (clients_of(middle, *figures) > all ? high : low) = middle;
    }
  }
  ClosedLoopFigures out;
  out.in_engine = high;
  out.is_saturated = figures->is_saturated;
  out.waits_for_room = most < all && high >= most;
  out.tpot_ns = figures->tpot_ns;
  out.request_ns = all * figures->request_ns / high;
  out.ttft_ns = out.request_ns - as_double(request.output_tokens - 1) * figures->tpot_ns;
  return out;
}

std::optional<ClosedLoopFigures> serve_benchmark(const RequestShape& request, std::int64_t clients,
                                                 const EngineLimits& limits,
                                                 const StepTimes& device, const EngineTerms& terms,
                                                 double waves) {
  constexpr double share_that_meets = 0.8;  // of those that pass together, fitted to the events
  auto out = serve_closed_loop(request, clients, limits, device, terms);
  const EngineTimes times(device, terms);
  const auto alone = prompt_ns(request.input_tokens, limits.token_budget, 0, times);
  const auto step = times.step_ns({0, 0, 0, std::max(1.0, out ? out->in_engine : 0)});
  if (!out || !alone || !step) return std::nullopt;
  const auto all = as_double(clients);
  const double together =
      std::clamp(as_double(limits.token_budget) / as_double(request.input_tokens), 1.0, all);
  const double first_ns = terms.arrival_ns + (all + 1) / 2 * *alone,
               later_ns = out->ttft_ns + share_that_meets * (together - 1) * *alone,
               first_share = 1 / std::max(1.0, waves);
  out->ttft_ns = first_share * first_ns + (1 - first_share) * later_ns;
  // The engine works as much: what one waits for first it does not wait for later.
  if (const auto later = as_double(request.output_tokens - 1); later > 0) {
    out->tpot_ns = std::max((out->request_ns - out->ttft_ns) / later, *step);
  }
  out->request_ns = out->ttft_ns + as_double(request.output_tokens - 1) * out->tpot_ns;
  return out;
}

}  // namespace halmark
