// Front points are run whole; what is stored is not run again.
#include "tune/validate/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "core/text/units.hpp"
#include "measure/campaign/bandwidth_state.hpp"
#include "tune/validate/measured_memory.hpp"
#include "tune/validate/paired_composition.hpp"

namespace halmark::tune {
namespace {

// Evenly spread over the front, so that both ends and both phases are confronted with a run.
std::vector<std::size_t> chosen_points(const std::vector<std::size_t>& front, std::int64_t points) {
  const auto n = std::ssize(front);
  if (points <= 0 || points >= n) return front;
  std::vector<std::size_t> out;
  for (const std::int64_t i : below(points)) {
    out.push_back(front[as_size(points == 1 ? 0 : i * (n - 1) / (points - 1))]);
  }
  return out;
}

// One of each phase by turns: a budget that ends early leaves no phase without a run.
std::vector<std::size_t> by_turns(const std::vector<std::size_t>& points,
                                  const std::vector<Evaluation>& evaluations) {
  std::map<Phase, std::size_t> taken;
  std::vector<std::pair<std::size_t, std::size_t>> turns;  // turn, point
  for (const std::size_t point : points) {
    turns.emplace_back(taken[evaluations[point].configuration.workload.phase]++, point);
  }
  std::ranges::stable_sort(turns, {}, &std::pair<std::size_t, std::size_t>::first);
  std::vector<std::size_t> out;
  for (const auto& [turn, point] : turns) out.push_back(point);
  return out;
}

// A point whose run is stored already; else it is run, if the time that is left allows. Each has
// its share of that time, and the cheapest way of running the others is kept for them.
class Validations {
 public:
  Validations(MeasuredEvaluator& evaluator, const ValidateOptions& options, TuneRun& run)
      : evaluator_(evaluator), options_(options), run_(run), left_s_(options.budget_s) {
    for (Validation& v : evaluator.context().store->rows<Validation>(run.id)) {
      known_.insert_or_assign(v.deployment_key, std::move(v));
    }
  }

  // Of points[at]; those behind it follow.
  const Validation* of(std::span<const std::size_t> points, std::size_t at) {
    const Evaluation& e = run_.evaluations[points[at]];
    const std::string key = e.configuration.key();
    if (const auto* known = find_value(known_, key)) return known;
    const auto turns = affordable_turns(e, points.subspan(at + 1));
    if (!turns) {
      run_.notes.push_back(fmt::format("not validated: {} would take {:.0f} s of the {:.0f} s left",
                                       key, cheapest_s(e), std::max(0.0, left_s_)));
      return nullptr;
    }
    const auto begin = std::chrono::steady_clock::now();
    Validation v = validate(e, *turns);
    if (evaluator_.is_interrupted()) return nullptr;
    const double took_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    left_s_ -= took_s;
    spent_s_ += took_s;
    forecast_s_ += turns->run_s;
    ++run_points_;
    evaluator_.context().store->append(run_.id, v);
    return &known_.insert_or_assign(key, std::move(v)).first->second;
  }

  void note_time() {
    if (run_points_ == 0) return;
    run_.notes.push_back(
        fmt::format("validation took {:.0f} s for {} of the front's points; {:.0f} s were forecast",
                    spent_s_, run_points_, forecast_s_));
  }

 private:
  // What runs of this machine took so far, for what was forecast of them.
  double overrun() const { return forecast_s_ > 0 ? std::max(1.0, spent_s_ / forecast_s_) : 1; }

  double cheapest_s(const Evaluation& e) const {
    return overrun() * cheapest_run_s(*e.estimate, options_.block_s);
  }

  std::optional<StackTurns> affordable_turns(const Evaluation& e,
                                             std::span<const std::size_t> later) const {
    double kept_s = 0;
    int points = 1;
    for (const std::size_t point : later) {
      const Evaluation& other = run_.evaluations[point];
      if (known_.contains(other.configuration.key())) continue;
      const double other_s = cheapest_s(other);
      if (cheapest_s(e) + kept_s + other_s > left_s_) continue;  // it will not be run
      kept_s += other_s;
      ++points;
    }
    const double share_s = std::max(left_s_ / points, cheapest_s(e));
    const double affordable_s = std::min(left_s_ - kept_s, share_s);
    return turns_within(*e.estimate, options_.block_s, affordable_s / overrun());
  }

  Validation validate(const Evaluation& e, const StackTurns& turns) {
    const RunPeaks* peaks = evaluator_.peaks();
    return run_and_confront(*evaluator_.composers().of(e.configuration).composer,
                            evaluator_.plan().target(), evaluator_.source(), *e.estimate,
                            {.plugin_path = evaluator_.context().plugin_path,
                             .plugin_path_by_backend = evaluator_.context().plugins.paths,
                             .limits = evaluator_.context().worker_limits,
                             .seed = evaluator_.plan().sweep().seed,
                             .turns = turns,
                             .device = peaks ? &peaks->device() : nullptr,
                             .arenas = &arenas_,
                             .job = evaluator_.context().job,
                             .stop = evaluator_.context().stop});
  }

  MeasuredEvaluator& evaluator_;
  const ValidateOptions& options_;
  TuneRun& run_;
  std::vector<SharedMemory> arenas_;
  double left_s_;
  double spent_s_ = 0, forecast_s_ = 0;
  int run_points_ = 0;
  std::map<std::string, Validation> known_;
};

}  // namespace

Validation confront(const OperatorGraph& graph, const Estimate& printed,
                    const StackRunResult& run) {
  // Of a pipeline what was run is the step that stands alone.
  const StepAlone said =
      printed.alone.value_or(StepAlone{printed.step_ns, printed.low_ns, printed.high_ns});
  std::optional<StateInterval> state = printed.run_interval;
  if (state) state = state->times(said.ns / state->step_ns);
  Validation out{.deployment_key = graph.configuration.key(),
                 .predicted_ns = said.ns,
                 .predicted_interval_ns = state ? state->ns : Interval{said.low_ns, said.high_ns},
                 .predicted_state = state,
                 .measured_ns = run.median_ns,
                 .measured_interval_ns = run.interval_ns,
                 .step_ns = run.step_ns,
                 .bubble_share = run.bubble_share,
                 .status = run.status,
                 .reason = run.reason};
  if (!run.shared_instances.empty()) {
    append_item(
        out.reason, "; ",
        "memory ended: " + std::to_string(run.shared_instances.size()) + " kernels share weights");
  }
  out.executions = run.executions;
  std::map<std::string, double> measured;
  for (const auto& op : run.operators) measured[op.name] += op.ns;
  for (const OperatorShare& share : printed.operators) {
    const auto it = measured.find(share.name);
    if (it == measured.end()) continue;
    out.operators.push_back({share.name, std::nullopt, it->second});
    measured.erase(it);
  }
  return out;
}

Validation run_and_confront(const Composer& composer, const Target& target,
                            const LatencySource& source, const Estimate& printed,
                            const StackRunning& running) {
  const OperatorGraph& graph = composer.graph();
  const StackPlacement placement = target.placement(graph.configuration);
  const CarryingKernels beside = carrying_kernels(composer, source);
  const std::vector<Stack> stacks = build_stacks(graph, placement);
  const StackRunResult run =
      run_stacks(stacks, {.plugin_path = running.plugin_path,
                          .plugin_path_by_backend = running.plugin_path_by_backend,
                          .job = filled_nodes(running.job, graph.configuration.devices()),
                          .limits = running.limits,
                          .seed = running.seed,
                          .warmup = printed.step_ns / ns_per_s < running.turns.block_s ? 1 : 0,
                          .beside = beside.cases,
                          .short_stacks = placement.mode == CacheMode::in_stack
                                              ? build_short_stacks(graph, placement)
                                              : std::vector<Stack>(),
                          .pairs = running.turns.pairs,
                          .pairs_more = running.turns.pairs_more,
                          .block_s = running.turns.block_s,
                          .walk_bytes = running.device ? memory_walk_bytes(*running.device) : 0,
                          .measures_memory = true,
                          .arenas = running.arenas,
                          .should_stop = [&] { return running.stop.stop_requested(); }});
  Validation out = confront(graph, printed, run);
  if (run.memory.empty()) {
    out.memory_reason = run.reason.empty() ? std::string(status_name(run.status)) : run.reason;
  } else {
    out.memory = measured_memory(graph, run.memory);
  }
  if (!run.pairs.empty()) compose_pairs(composer, source, beside, run, out);
  return out;
}

std::string oversubscribed_text(int ranks, int cores) {
  return "oversubscribed: " + std::to_string(ranks) + " ranks on " + std::to_string(cores) +
         (cores == 1 ? " core" : " cores");
}

Validation run_oversubscribed(const OperatorGraph& graph, const Target& target,
                              const StackRunning& running) {
  const int ranks = graph.configuration.devices();
  const StackRunResult run =
      run_stacks(build_stacks(graph, target.placement(graph.configuration)),
                 {.plugin_path = running.plugin_path,
                  .plugin_path_by_backend = running.plugin_path_by_backend,
                  .job = filled_nodes(running.job, ranks),
                  // A rank that spins keeps the core from the one that it waits for.
                  .environment = {{"OMPI_MCA_mpi_yield_when_idle", "1"}},
                  .limits = running.limits,
                  .seed = running.seed,
                  .is_oversubscribed = true,
                  .block_s = 0,
                  .arenas = running.arenas,
                  .should_stop = [&] { return running.stop.stop_requested(); }});
  Validation out = confront(graph, {}, run);
  out.predicted_ns.reset();
  out.predicted_interval_ns = {};
  out.is_oversubscribed = true;
  out.composition_reason = oversubscribed_text(ranks, target.cores);
  out.reason = out.composition_reason + (out.reason.empty() ? "" : "; ") + out.reason;
  return out;
}

void validate_front(MeasuredEvaluator& evaluator, const ValidateOptions& options, TuneRun& run) {
  Validations validations(evaluator, options, run);
  const std::vector<std::size_t> chosen =
      by_turns(chosen_points(run.front, options.points), run.evaluations);
  for (std::size_t i = 0; i < chosen.size() && !evaluator.is_interrupted(); ++i) {
    Evaluation& e = run.evaluations[chosen[i]];
    const Validation* v = validations.of(chosen, i);
    if (v == nullptr) continue;
    run.validations.push_back(*v);
    if (v->has_time()) {
      e.measured_ns = v->measured_ns;
      e.measured_interval_ns = v->measured_interval_ns;
    }
    if (options.progress) options.progress(i + 1, chosen.size(), e.configuration.key());
  }
  validations.note_time();
}

}  // namespace halmark::tune
