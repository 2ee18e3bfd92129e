#include "history/record/record_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/latency.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/units.hpp"
#include "kernels/contract.hpp"

namespace halmark::history {
namespace {

// As many digits as a clock has, and half the bytes.
double in_six_digits(double value) {
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

std::vector<double> thinned(std::span<const double> values, std::size_t most) {
  const std::size_t kept = std::min(values.size(), most);
  std::vector<double> out;
  for (std::size_t i = 0; i < kept; ++i) {
    out.push_back(in_six_digits(values[i * values.size() / kept]));
  }
  return out;
}

SampleFigures figures_of(std::span<const double> ns) {
  return {.median_ns = median(ns),
          .mean_ns = mean(ns),
          .min_ns = std::ranges::min(ns),
          .relative_iqr = relative_iqr(ns),
          .interval_ns = median_interval(ns).interval};
}

}  // namespace

RecordRound record_round(const Measurement& row, std::size_t samples) {
  std::vector<double> ns;
  for (const Sample& s : counted_samples(row.samples)) {
    ns.push_back(s.device_ns.value_or(s.wall_ns));
  }
  RecordRound out{.round = row.round,
                  .status = row.status,
                  .taken = static_cast<std::int64_t>(ns.size()),
                  .samples_ns = thinned(ns, samples)};
  out.figures = figures_of(out.samples_ns);
  const auto folded = halmark::fold_rounds(std::span(&row, 1), 0);
  if (folded) out.energy_j = folded->energy_j;
  return out;
}

void fold_rounds(RecordKernel& kernel) {
  std::vector<Measurement> rows;
  std::vector<double> joules;
  for (const RecordRound& round : kernel.rounds) {
    Measurement row{.round = round.round, .status = round.status};
    row.duration_ns_median = round.figures.median_ns;
    row.duration_ns_interval = round.figures.interval_ns;
    rows.push_back(std::move(row));
    if (round.energy_j) joules.push_back(*round.energy_j);
  }
  const auto folded = halmark::fold_rounds(rows, 0);
  if (!folded) return;
  kernel.ns = folded->ns;
  kernel.interval_ns = {folded->low_ns, folded->high_ns};
  if (!joules.empty()) kernel.power_w = median(joules) / kernel.ns * ns_per_s;
}

RecordSum record_sum(std::span<const RecordKernel> kernels) {
  RecordSum out{.op = kernels.front().kernel_case.problem.op,
                .dtype = kernels.front().dtype,
                .shapes = kernels.front().shapes,
                .kernels = static_cast<std::int64_t>(kernels.size())};
  double joules = 0;
  bool is_metered = true;
  for (const RecordKernel& k : kernels) {
    out.ns += k.ns;
    out.matmul_flops += k.matmul_flops;
    out.bytes += k.bytes;
    if (k.bound_ns() > 0) {
      out.bounded_ns += k.ns;
      out.bound_ns += k.bound_ns();
    }
    is_metered = is_metered && k.power_w;
    joules += k.power_w.value_or(0) * k.ns / ns_per_s;
  }
  if (is_metered) out.joules = joules;
  return out;
}

RecordStep record_step(const Configuration& configuration, std::span<const double> step_ns) {
  constexpr std::size_t samples_max = 200;
  RecordStep out{.configuration = configuration, .samples_ns = thinned(step_ns, samples_max)};
  out.figures = figures_of(out.samples_ns);
  const Workload& w = configuration.workload;
  out.tokens_per_s =
      as_double(w.batch) * as_double(w.new_tokens) / out.figures.median_ns * ns_per_s;
  return out;
}

Dtype compute_dtype_of(const Problem& problem) {
  return find_contract(problem.op)->work(problem.params).compute_dtype;
}

}  // namespace halmark::history
