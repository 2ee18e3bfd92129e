// The ratio of a pair is free of what the machine does for longer than a pair lasts; so ratios are
// taken per pair first, and their median last.
#include "tune/validate/paired_composition.hpp"

#include <algorithm>
#include <map>

#include "core/lists.hpp"

namespace halmark::tune {
namespace {

constexpr double carried_share = 0.97;

// The sum with these times of the kernels beside the run, and the rest as the source has it.
Composer::Lookup times_of(const LatencySource& source, std::span<const KernelCase> beside,
                          std::span<const double> ns) {
  return [&source, beside, ns](const KernelCase& k) -> std::optional<Latency> {
    const auto at = std::ranges::find(beside, k);
    if (at == beside.end()) return source.latency(k);
    const double here_ns = ns[as_size(at - beside.begin())];
    Latency out = source.latency(k).value_or(Latency{.provenance = Provenance::measured});
    out.ns = out.low_ns = out.high_ns = here_ns;
    out.status = Status::ok;
    return out;
  };
}

// Of a pipeline what is run is the step that stands alone.
double step_ns(const Estimate& estimate) {
  return estimate.alone ? estimate.alone->ns : estimate.step_ns;
}

std::vector<double> medians(std::span<const StackPair* const> pairs, std::size_t kernels) {
  std::vector<double> out, of_one;
  for (const auto k : indices(kernels)) {
    of_one.clear();
    for (const StackPair* pair : pairs) of_one.push_back(pair->kernel_ns[k]);
    out.push_back(median(of_one));
  }
  return out;
}

// Each name once: what several operators of one name take is one figure of the run, too.
void set_operators(const std::map<std::string, double>& ns, Validation& out) {
  for (Validation::Operator& op : out.operators) {
    const auto* at = find_value(ns, op.name);
    op.composed_ns = !at ? 0 : *at;
  }
}

}  // namespace

CarryingKernels carrying_kernels(const Composer& composer, const LatencySource& source) {
  KernelTable table;
  const StepSum compiled = composer.compile(table);
  std::vector<double> ns(table.cases().size(), 0);
  for (const StepSum::Term& term : executions(compiled)) {
    const auto k = as_size(term.kernel);
    if (const auto latency = source.latency(table.cases()[k])) ns[k] += term.count * latency->ns;
  }
  double total = 0;
  std::vector<std::size_t> order(ns.size());
  for (const auto k : indices(ns)) {
    order[k] = k;
    total += ns[k];
  }
  std::ranges::sort(order, std::ranges::greater{}, [&](std::size_t k) { return ns[k]; });
  CarryingKernels out;
  double left = total * carried_share;
  for (const auto i : indices(order)) {
    const bool is_in_stack = table.cases()[order[i]].mode == CacheMode::in_stack;
    if (left <= 0 && !is_in_stack) continue;
    out.cases.push_back(table.cases()[order[i]]);
    out.share += ns[order[i]] / total;
    left -= ns[order[i]];
  }
  // While a pipeline fills and drains they stand where fewer are at work.
  for (const KernelCase& k : composer.kernels()) {
    if (k.mode != CacheMode::in_stack) continue;
    if (!contains(out.cases, k)) out.cases.push_back(k);
  }
  return out;
}

void compose_pairs(const Composer& composer, const LatencySource& source,
                   const CarryingKernels& beside, const StackRunResult& run, Validation& out) {
  Composition found{
      .paired_share = beside.share, .bytes_per_s = run.bytes_per_s, .flops_per_s = run.flops_per_s};
  std::vector<const StackPair*> kept;
  std::vector<double> errors, composed_ns;
  const auto steady = as_size(std::ranges::count(run.pairs, false, &StackPair::is_apart));
  found.in_one_state = steady >= stack_pairs_min;
  for (const StackPair& pair : run.pairs) {
    if (pair.is_apart && found.in_one_state) {
      ++found.apart;
      continue;
    }
    const Evaluation sum = composer.compose(times_of(source, beside.cases, pair.kernel_ns));
    if (!sum.estimate) {
      out.composition_reason = sum.reason;
      return;
    }
    kept.push_back(&pair);
    composed_ns.push_back(step_ns(*sum.estimate));
    errors.push_back(composed_ns.back() / pair.stack_ns - 1);
  }
  if (kept.size() < stack_pairs_min) {
    out.composition_reason =
        std::to_string(kept.size()) + " pairs of run and kernels were measured, 3 are needed";
    return;
  }
  found.pairs = as_int(kept.size());
  found.composed_ns = median(composed_ns);
  found.error = median(errors);
  found.error_interval = median_interval(errors).interval;
  out.composition = found;
  const std::vector<double> ns = medians(kept, beside.cases.size());
  const Composer::Lookup times = times_of(source, beside.cases, ns);
  const Evaluation sum = composer.compose(times);
  if (sum.estimate) set_operators(composer.operators_ns(times, *sum.estimate), out);
}

}  // namespace halmark::tune
