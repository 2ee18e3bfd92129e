#include "model/pricing/plan_size.hpp"

#include <algorithm>
#include <cmath>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "model/graph/graph.hpp"

namespace halmark {

namespace {

constexpr double seconds_per_hour = 3600;

SizePlan priced(SizePlan plan, const SizeAssumptions& a) {
  plan.device_hours = as_double(plan.devices) * plan.seconds / seconds_per_hour;
  if (a.power_w) plan.energy_kwh = plan.device_hours * *a.power_w * a.pue / 1e3;
  if (a.price_per_device_hour) plan.cost = plan.device_hours * *a.price_per_device_hour;
  if (plan.energy_kwh && a.carbon_g_per_kwh) {
    plan.carbon_kg = *plan.energy_kwh * *a.carbon_g_per_kwh / 1e3;
  }
  return plan;
}

double rate(const SizeAssumptions& a) { return a.peak_flops_per_s * a.mfu; }

std::int64_t whole_devices(double exact, std::int64_t devices_min) {
  constexpr double devices_max = 1e12;
  if (!(exact <= devices_max)) {
    throw refused("the job needs more than 1e12 devices", {},
                  "allow more time, or a larger device");
  }
  return std::max(devices_min, static_cast<std::int64_t>(std::ceil(exact)));
}

double matmul_flops(const ModelSpec& spec, const Precision& precision, const Workload& workload) {
  auto built = build_graph(spec, {spec.id, {}, precision, workload});
  if (const auto* refusal = built.why()) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  return built->totals.matmul_flops;
}

}  // namespace

SizePlan size_for_devices(double flops, std::int64_t devices, const SizeAssumptions& a) {
  SizePlan out{.devices = devices, .exact_devices = as_double(devices)};
  out.seconds = flops / (rate(a) * as_double(devices));
  return priced(out, a);
}

SizePlan size_for_time(double flops, double seconds, std::int64_t devices_min,
                       const SizeAssumptions& a) {
  const double exact = flops / (rate(a) * seconds);
  SizePlan out = size_for_devices(flops, whole_devices(exact, devices_min), a);
  out.exact_devices = exact;
  return out;
}

SizePlan size_for_load(double flops_per_s, double seconds, std::int64_t devices_min,
                       const SizeAssumptions& a) {
  const double exact = flops_per_s / rate(a);
  SizePlan out{.devices = whole_devices(exact, devices_min), .exact_devices = exact};
  out.seconds = seconds;
  return priced(out, a);
}

double training_flops_per_token(const ModelSpec& spec, const Precision& precision,
                                std::int64_t sequence) {
  const Workload workload{Phase::training, 1, sequence, sequence};
  return 3 * matmul_flops(spec, precision, workload) / as_double(sequence);
}

RequestFlops request_flops(const ModelSpec& spec, const Precision& precision,
                           std::int64_t input_tokens, std::int64_t output_tokens) {
  RequestFlops out;
  out.prefill = matmul_flops(spec, precision, {Phase::prefill, 1, input_tokens, input_tokens});
  const std::int64_t steps = output_tokens - 1;
  if (steps <= 0) return out;
  const auto step_flops = [&](std::int64_t context) {
    return matmul_flops(spec, precision, {Phase::decode, 1, 1, context});
  };
  const std::int64_t first = input_tokens + 1, last = input_tokens + steps;
  const std::int64_t cuts = std::min<std::int64_t>(64, steps - 1);
  double before = step_flops(first);
  if (cuts <= 0) {
    out.decode = before;
    return out;
  }
  // Steps first..last, both ends included: trapezoids count each end half, so add the halves back.
  double area = 0;
  const double begin = before;
  std::int64_t from = first;
  for (std::int64_t cut = 1; cut <= cuts; ++cut) {
    const std::int64_t to = first + (last - first) * cut / cuts;
    const double here = step_flops(to);
    area += (before + here) / 2 * as_double(to - from);
    before = here;
    from = to;
  }
  out.decode = area + (begin + before) / 2;
  return out;
}

}  // namespace halmark
