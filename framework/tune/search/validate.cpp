// A machine is not in one state for long, so the kernels that carry the step are measured once more
// just before and just after the run of the stack; the run is compared with what they predict.
#include "tune/search/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace halmark::tune {
namespace {

constexpr double carried_share = 0.97;  // of the step, by the kernels that are measured again
constexpr double stack_budget_s = 2;

// Evenly spread over the front, so that both ends and both phases are confronted with a run.
std::vector<std::size_t> chosen_points(const std::vector<std::size_t>& front, std::int64_t points) {
  const auto n = static_cast<std::int64_t>(front.size());
  if (points <= 0 || points >= n) return front;
  std::vector<std::size_t> out;
  for (std::int64_t i = 0; i < points; ++i) {
    out.push_back(front[static_cast<std::size_t>(points == 1 ? 0 : i * (n - 1) / (points - 1))]);
  }
  return out;
}

// The fewest kernels that make up `carried_share` of all executions' time.
std::vector<KernelCase> carrying_kernels(const Composer& composer, const LatencySource& source) {
  KernelTable table;
  const StepSum compiled = composer.compile(table);
  std::vector<double> ns(table.cases().size(), 0);
  for (const StepSum::Term& term : executions(compiled)) {
    const auto k = static_cast<std::size_t>(term.kernel);
    if (const auto latency = source.latency(table.cases()[k])) ns[k] += term.count * latency->ns;
  }
  double left = 0;
  std::vector<std::size_t> order(ns.size());
  for (std::size_t k = 0; k < ns.size(); ++k) {
    order[k] = k;
    left += ns[k] * carried_share;
  }
  std::ranges::sort(order, std::ranges::greater{}, [&](std::size_t k) { return ns[k]; });
  std::vector<KernelCase> out;
  for (std::size_t i = 0; i < order.size() && left > 0; ++i) {
    out.push_back(table.cases()[order[i]]);
    left -= ns[order[i]];
  }
  return out;
}

// Filling and gating the weights of every layer, as seen on the machines so far.
constexpr double staging_bytes_per_s = 1e9;
constexpr double start_s = 0.5;
constexpr double repetitions = 4;

// Seconds that running a whole stack will take, from its estimate and weights.
double predicted_run_s(const Estimate& estimate) {
  return start_s + static_cast<double>(estimate.memory_bytes_total) / staging_bytes_per_s +
         repetitions * estimate.step_ns / 1e9;
}

class FrontValidation {
 public:
  explicit FrontValidation(MeasuredEvaluator& evaluator) : evaluator_(evaluator) {
    for (const Measurement& row : evaluator.context().store->run_measurements(evaluator.run())) {
      next_round_ = std::max(next_round_, row.round + 1);
    }
  }

  // Seconds for the run of the stack and the two rounds around it.
  double predicted_s(const Evaluation& e) {
    const double rounds = std::max(1, evaluator_.plan().sweep().measure.rounds);
    double seconds = predicted_run_s(*e.estimate);
    for (const KernelCase& k : carrying_kernels(composer_of(e), evaluator_.source())) {
      for (const Measurement& row : evaluator_.source().rows(k)) seconds += 2 * row.wall_s / rounds;
    }
    return seconds;
  }

  Validation validate(const Evaluation& e) {
    const Composer& composer = composer_of(e);
    const std::vector<KernelCase> cases = carrying_kernels(composer, evaluator_.source());
    MeasuredSource near({}, evaluator_.plan().target().bounding());
    measure(cases, near);
    const Target& target = evaluator_.plan().target();
    const std::vector<Stack> stacks =
        build_stacks(composer.graph(), target.placement(e.configuration.devices()));
    const StackRunResult whole =
        run_stacks(stacks, {.plugin_path = evaluator_.context().plugin_path,
                            .seed = evaluator_.plan().sweep().seed,
                            .budget_s = stack_budget_s,
                            .arenas = &arenas_});
    measure(cases, near);
    const Evaluation then = composer.compose([&](const KernelCase& k) {
      const auto latency = near.latency(k);
      return latency ? latency : evaluator_.source().latency(k);
    });
    return confront(composer.graph(), then.estimate ? *then.estimate : *e.estimate, whole);
  }

 private:
  const Composer& composer_of(const Evaluation& e) {
    return *evaluator_.composers().of(e.configuration).composer;
  }

  void measure(const std::vector<KernelCase>& cases, MeasuredSource& into) {
    for (const Measurement& row : evaluator_.measure_rounds(cases, next_round_++, 1, {})) {
      into.add(row);
    }
  }

  MeasuredEvaluator& evaluator_;
  std::vector<SharedMemory> arenas_;
  int next_round_ = 0;
};

// A point whose run is stored already; else it is run, if the time that is left allows.
class Validations {
 public:
  Validations(MeasuredEvaluator& evaluator, double budget_s, TuneRun& run)
      : evaluator_(evaluator), run_(run), validation_(evaluator), left_s_(budget_s) {
    for (Validation& v : evaluator.context().store->validations(run.id)) {
      known_.insert_or_assign(v.deployment_key, std::move(v));
    }
  }

  const Validation* of(const Evaluation& e) {
    const std::string key = e.configuration.key();
    if (const auto known = known_.find(key); known != known_.end()) return &known->second;
    const double predicted_s = validation_.predicted_s(e);
    if (predicted_s > left_s_) {
      run_.notes.push_back(fmt::format("not validated: {} would take {:.0f} s of the {:.0f} s left",
                                       key, predicted_s, std::max(0.0, left_s_)));
      return nullptr;
    }
    const auto begin = std::chrono::steady_clock::now();
    Validation v = validation_.validate(e);
    if (evaluator_.is_interrupted()) return nullptr;
    left_s_ -= std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    evaluator_.context().store->append(run_.id, v);
    return &known_.insert_or_assign(key, std::move(v)).first->second;
  }

 private:
  MeasuredEvaluator& evaluator_;
  TuneRun& run_;
  FrontValidation validation_;
  double left_s_;
  std::map<std::string, Validation> known_;
};

}  // namespace

Validation confront(const OperatorGraph& graph, const Estimate& estimate,
                    const StackRunResult& run) {
  // A stack is one micro-batch; the stages work at once, so a step is pp of their periods.
  const auto periods = static_cast<double>(graph.stages.size());
  Validation out{
      .deployment_key = graph.configuration.key(),
      .predicted_ns = estimate.step_ns,
      .measured_ns = run.median_ns * periods,
      .predicted_interval_ns = {estimate.low_ns, estimate.high_ns},
      .measured_interval_ns = {run.interval_ns.low * periods, run.interval_ns.high * periods},
      .status = run.status,
      .reason = run.reason};
  if (!run.shared_instances.empty()) {
    out.reason += (out.reason.empty() ? "" : "; ") + std::string("memory ended: ") +
                  std::to_string(run.shared_instances.size()) + " kernels share weights";
  }
  std::map<std::string, double> predicted;
  for (const OperatorShare& share : estimate.operators) predicted[share.name] += share.ns;
  std::map<std::string, double> measured;
  for (const auto& op : run.operators) measured[op.name] += op.ns * periods;
  for (const OperatorShare& share : estimate.operators) {
    const auto it = measured.find(share.name);
    if (it == measured.end()) continue;
    out.operators.push_back({share.name, predicted[share.name], it->second});
    measured.erase(it);
  }
  return out;
}

void validate_front(MeasuredEvaluator& evaluator, const ValidateOptions& options, TuneRun& run) {
  Validations validations(evaluator, options.budget_s, run);
  const std::vector<std::size_t> chosen = chosen_points(run.front, options.points);
  for (std::size_t i = 0; i < chosen.size() && !evaluator.is_interrupted(); ++i) {
    Evaluation& e = run.evaluations[chosen[i]];
    const Validation* v = validations.of(e);
    if (v == nullptr) continue;
    run.validations.push_back(*v);
    if (has_latency(v->status)) {
      e.measured_ns = v->measured_ns;
      e.measured_interval_ns = v->measured_interval_ns;
    }
    if (options.progress) options.progress(i + 1, chosen.size(), e.configuration.key());
  }
}

}  // namespace halmark::tune
