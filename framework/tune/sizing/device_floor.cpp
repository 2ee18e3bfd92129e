#include "tune/sizing/device_floor.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"
#include "core/text/error.hpp"
#include "latency/chain.hpp"
#include "latency/roofline_source.hpp"
#include "model/spec/coverage.hpp"
#include "roofline/links.hpp"
#include "roofline/peaks.hpp"
#include "tune/evaluate/served_evaluator.hpp"

namespace halmark::tune {
namespace {

constexpr double no_limit = 1e24;  // beyond any device; times at it are far below a nanosecond
constexpr double rate_min = 1, rate_max = 1e21;
constexpr double precise = 1e-9;  // relative, of what bisection gives
constexpr std::int64_t memory_without_limit = std::int64_t{1} << 60;

// In [low, high], where `is_enough` holds at `high`: the least value for which it does.
template <class IsEnough>
double least(double low, double high, const IsEnough& is_enough) {
  while (high > low * (1 + precise)) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    if (middle <= low || middle >= high) break;
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

class Inverse {
 public:
  Inverse(const ModelSpec& spec, const Precision& precision, const FloorQuestion& question)
      : spec_(spec), question_(question) {
    main_ = spec.moe ? precision.experts : precision.ffn;
    configuration_.model = spec.id;
    configuration_.precision = precision;
    configuration_.parallel.tp = as_int(question.tp);
    configuration_.served =
        ServedLoad{.request = question.request,
                   .concurrency = question.concurrency,
                   // Prompts pass whole, beside the tokens of all others.
                   .token_budget = question.request.input_tokens + question.concurrency};
  }

  DeviceFloor run() {
    DeviceFloor out{.model = spec_.id,
                    .dtype = std::string(dtype_name(main_)),
                    .question = question_,
                    .basis = model_lines(spec_)};
    const Evaluation best = at(unlimited());
    if (!best.served) throw refused(best.refusal + ": " + best.reason);
    require_kept(best);
    out.memory_bytes = as_int64(std::ceil(as_double(best.served->figures.memory_bytes_per_rank) /
                                          question_.memory_fraction));
    for (const Ceiling ceiling : all_ceilings) find_alone(ceiling, out);
    find_together(out);
    return out;
  }

 private:
  static Rates unlimited() {
    Rates out;
    out.fill(no_limit);
    return out;
  }

  bool needs(Ceiling ceiling) const { return ceiling != Ceiling::link || question_.tp > 1; }

  Evaluation at(const Rates& rates) const {
    const Device device = device_of(rates, main_, memory_without_limit);
    LatencyChain chain;
    chain.add(SourceKind::roofline, std::make_unique<RooflineSource>(device, std::nullopt));
    Target target;
    target.backend = device.id;
    target.datasheet = device;
    target.memory_bytes = device.memory_bytes;
    ServedEvaluator evaluator(spec_, target, chain, question_.request, 0, {});
    return std::move(evaluator.evaluate({&configuration_, 1}).front());
  }

  bool keeps(const Rates& rates) const { return violations(at(rates), question_.levels).empty(); }

  void require_kept(const Evaluation& best) const {
    const auto missed = violations(best, question_.levels);
    if (missed.empty()) return;
    throw refused(
        "no device keeps this level: " + missed.front().text() + " with rates without limit",
        "--slo");
  }

  void find_alone(Ceiling ceiling, DeviceFloor& out) const {
    if (!needs(ceiling)) return;
    const auto with = [&](double rate) {
      Rates rates = unlimited();
      rates[index(ceiling)] = rate;
      return rates;
    };
    if (!keeps(with(rate_max))) {
      throw refused(
          "these levels need more than " + std::string(ceiling_name(ceiling)) + " of any device",
          "--slo");
    }
    const double rate = least(rate_min, rate_max, [&](double r) { return keeps(with(r)); });
    out.alone[index(ceiling)] = rate;
    const auto missed = violations(at(with(rate * (1 - 1e-4))), question_.levels);
    if (!missed.empty()) out.set_by[index(ceiling)] = missed.front().objective;
  }

  Rates scaled(const Rates& rates, double factor) const {
    Rates out = unlimited();
    for (const Ceiling c : all_ceilings) {
      if (needs(c)) out[index(c)] = rates[index(c)] * factor;
    }
    return out;
  }

  // Kernels wait for one rate each, and no step for two at once: together the floors are too low.
  // Times of kernels are the larger of two, so three times each is always enough.
  void find_together(DeviceFloor& out) const {
    double enough = 2;
    while (!keeps(scaled(out.alone, enough))) enough *= 2;
    out.factor = least(1, enough, [&](double f) { return keeps(scaled(out.alone, f)); });
    for (const Ceiling c : all_ceilings) out.together[index(c)] = out.alone[index(c)] * out.factor;
    const Rates rates = scaled(out.alone, out.factor);
    const Evaluation reached = at(rates);
    const ServiceLevel& narrowest = *std::ranges::min_element(
        question_.levels, {}, [&](const ServiceLevel& level) { return margin(reached, level); });
    const double figure = *objective_value(reached, narrowest.objective);
    for (const Ceiling c : all_ceilings) {
      Rates freed = rates;
      freed[index(c)] = no_limit;
      const double better = *objective_value(at(freed), narrowest.objective);
      out.share[index(c)] =
          is_maximised(narrowest.objective) ? 1 - figure / better : 1 - better / figure;
    }
    out.binding = all_ceilings.at(as_size(std::ranges::max_element(out.share) - out.share.begin()));
  }

  // 1 = just kept, more = kept with room.
  static double margin(const Evaluation& e, const ServiceLevel& level) {
    const double value = *objective_value(e, level.objective);
    return is_maximised(level.objective) ? value / level.limit : level.limit / value;
  }

  const ModelSpec& spec_;
  const FloorQuestion& question_;
  Dtype main_ = Dtype::bf16;
  Configuration configuration_;
};

void check(const FloorQuestion& q) {
  if (q.levels.empty()) {
    throw refused("no level is stated", "--slo", "as in --slo ttft_ms=500,tpot_ms=30");
  }
  constexpr std::array known = {Objective::ttft,
                                Objective::tpot,
                                Objective::request_latency,
                                Objective::tokens_per_s,
                                Objective::tokens_per_s_per_device,
                                Objective::interactivity};
  for (const ServiceLevel& level : q.levels) {
    if (!contains(known, level.objective)) {
      throw refused(
          std::string(objective_name(level.objective)) + " says nothing of the rates of a device",
          level.where, "state times and rates of requests");
    }
    if (level.objective == Objective::interactivity && q.request.output_tokens < 2) {
      throw refused("interactivity is the rate of tokens after the first, and none follows",
                    level.where, "ask for output tokens of 2 or more");
    }
  }
  if (q.request.input_tokens < 1 || q.request.output_tokens < 1 || q.concurrency < 1 ||
      q.concurrency > 65536 || q.tp < 1 || q.tp > 1024) {
    throw refused("no load has these numbers", {},
                  "--input and --output of at least 1, --users 1 to 65536, --tp 1 to 1024");
  }
}

}  // namespace

std::string_view ceiling_name(Ceiling ceiling) {
  static_assert(all_ceilings.size() == enumerators<Ceiling>());
  return enum_names<Ceiling>("FLOP/s", "memory bandwidth", "link").of(ceiling);
}

Device device_of(const Rates& rates, Dtype main, std::int64_t memory_bytes) {
  Device out{.id = "floor", .name = "floor", .kind = "hypothetical"};
  out.memory_bytes = memory_bytes;
  for (const Dtype dtype : all_dtypes()) {
    const double by_width = as_double(dtype_bits(main)) / dtype_bits(dtype);
    out.peaks.push_back({.path = std::string(dtype_name(dtype)) + "_matrix",
                         .dtype = dtype,
                         .flops_per_s = rates[index(Ceiling::flops)] * by_width,
                         .source = "asked"});
  }
  out.bandwidths.push_back({.level = "memory",
                            .bytes_per_s = rates[index(Ceiling::memory_bandwidth)],
                            .source = "asked"});
  out.links.push_back(
      {.name = "link", .bytes_per_s = rates[index(Ceiling::link)], .source = "asked"});
  return out;
}

Rates rates_of(const Device& device, Dtype main) {
  Rates out{};
  out[index(Ceiling::flops)] = shard_peak(device, main, {}).value_or(0);
  if (const auto memory = device.bandwidth("memory", 0)) {
    out[index(Ceiling::memory_bandwidth)] = memory->bytes_per_s;
  }
  out[index(Ceiling::link)] = roofline::Links(device, {}).link_bytes_per_s.value_or(0);
  return out;
}

DeviceFloor device_floor(const ModelSpec& spec, const Precision& precision,
                         const FloorQuestion& question) {
  check(question);
  return Inverse(spec, precision, question).run();
}

}  // namespace halmark::tune
