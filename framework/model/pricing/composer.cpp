// Latencies are asked by kernel and shown by operator: one kernel may stand for several operators,
// and a stage of several that are alike stands for all of them.
#include "model/pricing/composer.hpp"

#include <algorithm>
#include <utility>

#include "core/numeric/cast.hpp"
#include "core/text/units.hpp"
#include "model/pricing/memory.hpp"
#include "model/pricing/run_interval.hpp"

namespace halmark {

namespace {

// Stages that work at the same time in a stream of steps: all, or as many as there is work for.
std::int64_t most_at_work(const OperatorGraph& graph) {
  return std::min<std::int64_t>(std::ssize(graph.stages), graph.micro_batches());
}

}  // namespace

Composer::Composer(OperatorGraph graph, const StackPlacement& placement, DeviceFacts facts)
    : graph_(std::move(graph)), facts_(std::move(facts)) {
  place_stages(placement);
  sum_ = compile(table_);
  if (graph_.stages.size() > 1) fill_and_drain(placement);
}

void Composer::place_stages(const StackPlacement& placement) {
  const Parallel& parallel = graph_.configuration.parallel;
  for (int stage = 0; stage < parallel.pp; ++stage) {
    for (const int rank : distinct_ranks(parallel, placement.ranks, stage)) {
      stages_.push_back({.stage = stage,
                         .rank = rank,
                         .ranks = ranks_like(parallel, placement.ranks, stage, rank),
                         .kernels = stage_kernels(graph_, placement.of_rank(rank), as_size(stage),
                                                  most_at_work(graph_))});
    }
  }
}

// Only kernels that are measured where they stand tell how many stages are at work.
void Composer::fill_and_drain(const StackPlacement& placement) {
  slots_ = pipeline_slots(std::ssize(graph_.stages), graph_.micro_batches());
  if (placement.mode != CacheMode::in_stack) return;
  for (const PipelineSlot& slot : slots_) {
    if (slot.stages == most_at_work(graph_)) continue;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const AtWork key{i, slot.stages};
      if (!slot.has(stages_[i].stage) || at_work_.contains(key)) continue;
      at_work_[key] = stage_kernels(graph_, placement.of_rank(stages_[i].rank),
                                    as_size(stages_[i].stage), slot.stages);
      for (const StageKernel& kernel : at_work_[key]) table_.index_of(kernel.kernel_case);
    }
  }
}

const std::vector<StageKernel>& Composer::kernels_at(AtWork key) const {
  const auto apart = at_work_.find(key);
  return apart != at_work_.end() ? apart->second : stages_[key.first].kernels;
}

StepSum Composer::compile(KernelTable& table) const {
  StepSum out;
  const bool is_placed = !facts_.of_ranks.empty();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    for (const StageKernel& kernel : stages_[i].kernels) {
      out.terms.push_back({table.index_of(kernel.kernel_case), as_double(kernel.count)});
    }
    if (is_placed) {
      out.end_placed(i > 0 && stages_[i].stage == stages_[i - 1].stage);
    } else {
      out.end_stage();
    }
  }
  out.micro_batches = as_double(graph_.micro_batches());
  const Workload& workload = graph_.configuration.workload;
  out.tokens = as_double(workload.batch) * as_double(workload.new_tokens);
  out.ideal_ns = ideal_ns(&DeviceFacts::measured).value;
  out.spread = unconfirmed_spread(graph_.spec);
  return out;
}

std::string Composer::bound(const Operator& op, const Latency& latency) const {
  if (op.kind == OperatorKind::collective) return "communication";
  if (facts_.launch_floor_ns && latency.lower_bound_ns < *facts_.launch_floor_ns) return "launch";
  return std::string(limiter_name(latency.limiter));
}

OperatorShare Composer::share(const Operator& op, const KernelCase& kernel_case,
                              const Latency& latency, std::int64_t executions) const {
  // A block of queries is one of several launches of its operator, each with work of its own.
  const Work work = op.of_context_rank.empty()
                        ? op.local_work
                        : find_contract(kernel_case.problem.op)->work(kernel_case.problem.params);
  const auto count = as_double(executions);
  OperatorShare out;
  out.name = op.name;
  out.layer_type = op.layer_type;
  out.count = executions;
  out.ns = count * latency.ns;
  out.low_ns = count * latency.low_ns;
  out.high_ns = count * latency.high_ns;
  out.lower_bound_ns = count * latency.lower_bound_ns;
  out.flops = count * work.flops();
  out.bytes = count * work.bytes();
  out.bound = bound(op, latency);
  out.provenance = latency.provenance;
  out.status = latency.status;
  out.strategy = op.strategy;
  out.dtype = dtype_name(op.dtype);
  out.implementation = latency.implementation;
  out.origin = latency.origin;
  out.quarantined = latency.quarantined;
  out.is_in_stack = kernel_case.mode == CacheMode::in_stack;
  return out;
}

// Its place among the stages that the sum states once.
std::size_t Composer::slowest_of_sum(const Price& priced) const {
  return as_size(
      std::ranges::find(sum_.stages, priced.slowest_stage, &StepSum::Stage::first_stage) -
      sum_.stages.begin());
}

namespace {

// The same operator on another stage.
void add_share(OperatorShare& to, const OperatorShare& more) {
  to.count += more.count;
  to.ns += more.ns;
  to.low_ns += more.low_ns;
  to.high_ns += more.high_ns;
  to.lower_bound_ns += more.lower_bound_ns;
  to.flops += more.flops;
  to.bytes += more.bytes;
}

}  // namespace

// What the step is the sum of, in execution order: the slowest stage for every micro-batch, or all
// stages for one. `latencies` by index of table_.
std::vector<OperatorShare> Composer::shares(std::span<const std::optional<Latency>> latencies,
                                            const Price& priced) const {
  std::map<std::pair<std::int32_t, std::int32_t>, OperatorShare> found;  // by operator, by kernel
  const auto add_stage = [&](const PlacedStage& placed, std::int64_t turns) {
    const auto stage = as_size(placed.stage);
    for (const StageKernel& kernel : placed.kernels) {
      const std::int32_t at = table_.find(kernel.kernel_case);
      for (const std::int32_t index : kernel.operators) {
        const Operator& op = graph_.operators[as_size(index)];
        OperatorShare one =
            share(op, kernel.kernel_case, *latencies[as_size(at)], turns * op.stage_counts[stage]);
        const auto [it, is_new] = found.try_emplace({index, at}, std::move(one));
        if (!is_new) add_share(it->second, one);
      }
    }
  };
  if (priced.is_way) {
    for (const PlacedStage& placed : stages_) add_stage(placed, 1);
  } else {
    add_stage(stages_[as_size(priced.slowest_stage)], graph_.micro_batches());
  }
  std::vector<OperatorShare> out;
  for (auto& [place, operator_share] : found) out.push_back(std::move(operator_share));
  return out;
}

namespace {

// The first kernel without a usable latency decides the row.
Evaluation refuse(Evaluation evaluation, const KernelCase& kernel_case,
                  const std::optional<Latency>& latency) {
  evaluation.status = latency ? latency->status : Status::cancelled;
  evaluation.reason = "no latency for " + kernel_case.key();
  if (latency && !latency->reason.empty()) evaluation.reason += ": " + latency->reason;
  return evaluation;
}

// Suspect operators that together take less of the step than this cannot move it by more than the
// doubt about any figure on a shared machine; their own rows still say suspect.
constexpr double suspect_share_max = 0.05;

// Least trusted provenance, doubts, and the operator that takes longest.
void summarise_parts(Estimate& estimate, std::span<const std::optional<Latency>> latencies,
                     std::span<const KernelCase> kernels) {
  std::string first_doubt;
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    estimate.provenance = std::max(estimate.provenance, latencies[i]->provenance);
    if (latencies[i]->status != Status::suspect || !first_doubt.empty()) continue;
    first_doubt = kernels[i].key() + ": " + latencies[i]->reason;
  }
  double total_ns = 0, suspect_ns = 0, in_stack_ns = 0;
  for (const OperatorShare& share : estimate.operators) {
    total_ns += share.ns;
    if (share.is_in_stack) in_stack_ns += share.ns;
    if (share.status == Status::suspect) suspect_ns += share.ns;
  }
  if (suspect_ns > suspect_share_max * total_ns) {
    estimate.status = Status::suspect;
    estimate.reason = first_doubt;
  }
  if (total_ns > 0) estimate.in_stack_share = in_stack_ns / total_ns;
  const auto largest = std::ranges::max_element(estimate.operators, {}, &OperatorShare::ns);
  estimate.bottleneck = largest->name + " (" + largest->bound + ")";
}

}  // namespace

std::optional<StepAlone> Composer::alone(std::span<const KernelTime> times) const {
  if (slots_.empty()) return std::nullopt;
  std::map<std::pair<std::int64_t, std::int64_t>, KernelTime> known;
  const KernelTime time = pipeline_time(slots_, [&](std::int64_t stage, std::int64_t at_work) {
    const auto [it, is_new] = known.try_emplace({stage, at_work}, no_executions);
    if (!is_new) return it->second;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (stages_[i].stage != stage) continue;
      KernelTime placed = no_executions;
      for (const StageKernel& kernel : kernels_at({i, at_work})) {
        const auto at = as_size(table_.find(kernel.kernel_case));
        add(placed, as_double(kernel.count) * times[at]);
      }
      it->second = largest(it->second, placed);
    }
    return it->second;
  });
  return StepAlone{.ns = time.ns, .low_ns = time.low_ns, .high_ns = time.high_ns};
}

std::map<std::string, double> Composer::operators_ns(const Lookup& lookup,
                                                     const Estimate& estimate) const {
  std::map<std::string, double> out;
  if (slots_.empty()) {
    for (const OperatorShare& share : estimate.operators) out[share.name] += share.ns;
    return out;
  }
  std::vector<std::map<std::string, double>> of_stage(stages_.size());
  std::vector<double> total_ns(stages_.size(), 0);
  for (const PipelineSlot& slot : slots_) {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (!slot.has(stages_[i].stage)) continue;
      const auto stage = as_size(stages_[i].stage);
      for (const StageKernel& kernel : kernels_at({i, slot.stages})) {
        const double ns = lookup(kernel.kernel_case).value_or(Latency{}).ns;
        for (const std::int32_t index : kernel.operators) {
          const Operator& op = graph_.operators[as_size(index)];
          const double all_ns = ns * as_double(op.stage_counts[stage]);
          of_stage[i][op.name] += all_ns;
          total_ns[i] += all_ns;
        }
      }
    }
  }
  out = std::move(of_stage[as_size(std::ranges::max_element(total_ns) - total_ns.begin())]);
  if (!graph_.pipeline_type) return out;
  // Idle stages take part in every shift.
  const auto& shifts = graph_.layer_types[as_size(*graph_.pipeline_type)];
  for (const std::int32_t index : shifts.operators) {
    out[graph_.operators[as_size(index)].name] *=
        as_double(slots_.size()) / as_double(graph_.micro_batches());
  }
  return out;
}

Evaluation Composer::compose(const Lookup& lookup) const {
  Evaluation out;
  out.configuration = graph_.configuration;
  std::vector<std::optional<Latency>> latencies;
  std::vector<KernelTime> times;
  for (const KernelCase& kernel_case : kernels()) {
    latencies.push_back(lookup(kernel_case));
    times.push_back(kernel_time(latencies.back()));
    if (!times.back().is_known) return refuse(std::move(out), kernel_case, latencies.back());
  }
  const auto priced = price(sum_, times);
  if (!priced) {
    out.status = Status::quarantined;
    out.reason = "all kernels together take no time";
    return out;
  }

  Estimate estimate;
  estimate.step_ns = priced->step_ns;
  estimate.low_ns = priced->low_ns;
  estimate.high_ns = priced->high_ns;
  estimate.lower_bound_ns = priced->lower_bound_ns;
  estimate.run_interval = priced->is_way ? run_interval(executions(sum_), latencies)
                                         : run_interval(sum_, slowest_of_sum(*priced), latencies);
  estimate.alone = alone(times);
  estimate.tokens_per_s = priced->tokens_per_s;
  estimate.matmul_flops = graph_.totals.matmul_flops;
  const MemoryUse memory = memory_use(graph_);
  estimate.memory_bytes_per_rank = memory.largest.total();
  estimate.memory_bytes_total = memory.total_bytes;
  estimate.operators = shares(latencies, *priced);
  judge_utilisation(estimate);
  judge_energy(latencies, estimate);
  summarise_parts(estimate, latencies, kernels());
  out.status = estimate.status;
  out.reason = estimate.reason;
  out.estimate = std::move(estimate);
  return out;
}

Evaluation Composer::compose(const LatencySource& source) const {
  return compose([&source](const KernelCase& kernel_case) { return source.latency(kernel_case); });
}

}  // namespace halmark
