// Every layout is built as a graph: half a thousand of them for a thousand shards, each with a
// dozen kernels whose times are known from the kernels of others.
#include "simulate/sharding/planner.hpp"

#include <algorithm>
#include <tuple>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "kernels/contract.hpp"
#include "model/graph/graph.hpp"
#include "model/graph/rank_places.hpp"
#include "model/pricing/memory.hpp"
#include "model/training/training.hpp"
#include "simulate/sharding/layer_groups.hpp"
#include "simulate/sharding/stage_choice.hpp"
#include "simulate/sharding/step_cost.hpp"

namespace halmark::simulate {
namespace {

// What a training step takes, and what a rank of it holds: a fold over the forward graph.

std::optional<double> exchange_ns(const char* op, std::int64_t bytes, const OperatorGraph& graph,
                                  const OperatorTime& time) {
  const Parallel& parallel = graph.configuration.parallel;
  Operator exchange{.name = std::string("gradient_") + op, .kind = OperatorKind::collective};
  exchange.split = parallel.dp > 1 ? Split::data : Split::context;
  exchange.local =
      complete_problem({op,
                        {{"bytes", bytes},
                         {"ranks", std::int64_t{parallel.dp} * parallel.cp},
                         {"dtype", as_int64(graph.configuration.precision.activation)}}});
  exchange.local_work = find_contract(op)->work(exchange.local.params);
  exchange.rank_work = exchange.local_work;
  exchange.group_stride = group_stride(parallel, exchange.split);
  return time(exchange);
}

void add_gradients(const OperatorGraph& graph, const TrainingPlan& plan, const OperatorTime& time,
                   StepCost& out) {
  std::int64_t bytes = 0;
  for (const TrainingMemory& stage : training_memory(graph, plan)) {
    bytes = std::max(bytes, stage.gradient_message_bytes);
  }
  const Parallel& parallel = graph.configuration.parallel;
  if (bytes == 0 || parallel.dp * parallel.cp == 1) return;
  const std::int64_t ranks = std::int64_t{parallel.dp} * parallel.cp;
  const std::int64_t whole = (bytes + ranks - 1) / ranks * ranks;  // parts are alike
  double ns = 0;
  const auto add = [&](const char* op, std::int64_t of) {
    const auto one = exchange_ns(op, of, graph, time);
    if (!one && out.unknown.empty()) out.unknown = std::string("gradient_") + op;
    ns += one.value_or(0);
  };
  if (plan.zero == 0) {
    add("all_reduce", bytes);
  } else {
    add("reduce_scatter", whole);
    add("all_gather", whole);
  }
  out.step.communication_ns += ns;
  out.alone_ns += ns;
}

// Every operator as often as its passes say (the backward pass is two products of the forward one's
// size), stages filled and drained as by 1F1B, whose length is that of all forward passes before
// all backward ones (Narayanan et al., 2104.04473, section 2.2.1), and the gradients of the fullest
// stage exchanged once, hidden behind nothing: an all-reduce, or with ZeRO a reduce-scatter and an
// all-gather.
StepCost training_step_cost(const OperatorGraph& graph, const TrainingPlan& plan,
                            const OperatorTime& time) {
  const TrainingCost passes = training_cost(graph, plan);
  const OperatorTime trained = [&](const Operator& op) -> std::optional<double> {
    const auto ns = time(op);
    if (!ns) return std::nullopt;
    const auto index = as_size(&op - graph.operators.data());
    return passes.operators[index].passes * *ns;
  };
  StepCost out = step_cost(graph, trained);
  const double filled = out.ns() > 0 ? out.alone_ns / out.ns() : 1;
  out.step = filled * out.step;
  add_gradients(graph, plan, time, out);
  return out;
}

// Of the fullest rank: weights with gradients and optimizer states; activations with what is
// gathered and recomputed.
RankMemory training_rank_memory(const OperatorGraph& graph, const TrainingPlan& plan) {
  const std::vector<TrainingMemory> stages = training_memory(graph, plan);
  const TrainingMemory& m = largest(stages);
  return {.weight_bytes = m.weight_bytes + m.gradient_bytes + m.optimizer_bytes,
          .kv_bytes = 0,
          .activation_bytes = m.activation_bytes + m.working_bytes + m.gathered_bytes};
}

std::vector<int> degrees(std::int64_t most, int stated) {
  if (stated > 0) return {stated};
  std::vector<int> out;
  for (std::int64_t d = 1; d <= most; ++d) {
    if (most % d == 0) out.push_back(as_int(d));
  }
  return out;
}

std::optional<std::int64_t> bytes_max_of(const PlanQuestion& question, std::size_t stage) {
  if (question.stage_devices.empty()) return question.bytes_max;
  return question.stage_devices[stage].bytes_max;
}

bool fits(const MemoryUse& memory, const PlanQuestion& question) {
  for (const auto s : indices(memory.stages)) {
    const auto most = bytes_max_of(question, s);
    if (most && memory.stages[s].total() > *most) return false;
  }
  return true;
}

// Layers, and what the ends of the pipeline execute beside them.
StageQuestion stage_question(const OperatorGraph& graph, const StepCost& cost,
                             const MemoryUse& memory, const PlanQuestion& asked) {
  const std::size_t stages = graph.stages.size();
  std::vector<std::int64_t> bytes;
  const std::int64_t of_layers = [&] {
    std::int64_t sum = 0;
    for (const RankMemory& m : memory.stages) sum += m.weight_bytes + m.kv_bytes;
    return sum;
  }();
  const auto type_ns = [&](std::size_t stage, std::optional<std::int32_t> type) {
    return type ? cost.type(stage, *type).ns() : 0.0;
  };
  std::int64_t placed = 0;
  for (const std::int32_t type : graph.layers) {
    bytes.push_back(layer_bytes(graph, type));
    placed += bytes.back();
  }
  StageQuestion out;
  out.layer_bytes.assign(stages, bytes);
  out.own_ns.assign(stages, 0);
  out.own_bytes.assign(stages, 0);
  for (const auto s : indices(stages)) {
    out.layer_ns.emplace_back();
    for (const std::int32_t type : graph.layers) out.layer_ns[s].push_back(type_ns(s, type));
    out.own_bytes[s] = memory.stages[s].activation_bytes;
    if (s + 1 < stages) out.hand_over_ns.push_back(type_ns(s, graph.pipeline_type));
    if (const auto most = bytes_max_of(asked, s)) out.bytes_max.push_back(*most);
  }
  if (out.bytes_max.size() != stages) out.bytes_max.clear();
  out.own_ns.front() += type_ns(0, graph.embedding_type);
  out.own_ns.back() +=
      type_ns(stages - 1, graph.head_type) + type_ns(stages - 1, graph.pipeline_type);
  // What is of no layer lies at the ends, as the graph has it.
  const std::int64_t beside = of_layers - placed;
  const std::int64_t first = table_bytes(graph);
  out.own_bytes.front() += std::min(first, beside);
  out.own_bytes.back() += beside - std::min(first, beside);
  return out;
}

class Planner {
 public:
  Planner(const ModelSpec& spec, const PlanQuestion& question, const OperatorTime& time)
      : spec_(spec), q_(question), time_(time) {}

  ShardPlan plan() {
    const bool has_context = q_.base.workload.phase != Phase::decode;
    for (const Parallel& parallel :
         layouts_of(q_.shards, q_.stated, spec_.moe.has_value(), has_context)) {
      ++out_.tried;
      add(parallel);
    }
    add_measured_cuts();
    std::ranges::stable_sort(out_.layouts, [](const PlannedLayout& a, const PlannedLayout& b) {
      return std::tuple(!a.fits, a.cost.ns(), a.largest.total()) <
             std::tuple(!b.fits, b.cost.ns(), b.largest.total());
    });
    if (!out_.layouts.empty()) name_winner();
    const bool is_plain = q_.stage_devices.empty() && !q_.training;
    if (q_.groups_layers && is_plain && !out_.layouts.empty()) {
      out_.grouped = group_layers(spec_, q_, out_.layouts, time_);
    }
    return std::move(out_);
  }

 private:
  std::optional<PlannedLayout> priced(const Parallel& parallel) {
    Configuration c = q_.base;
    c.parallel = parallel;
    const auto graph = build_graph(spec_, c);
    std::optional<Refusal> refusal;
    if (const Refusal* why = graph.why()) {
      refusal = *why;
    } else if (q_.training) {
      refusal = check_training(*graph, *q_.training);
    }
    if (refusal) {
      ++out_.refused[refusal->reason];
      if (out_.first_refusal.empty()) out_.first_refusal = refusal->text;
      return std::nullopt;
    }
    PlannedLayout made{.configuration = c, .cost = cost_of(*graph)};
    if (!made.cost.unknown.empty()) {
      throw refused("no time of '" + made.cost.unknown + "' on this device is known", {},
                    "name a device whose file states its peaks and its memory bandwidth");
    }
    const MemoryUse memory = memory_use(*graph);
    made.largest = memory.largest;
    made.fits = simulate::fits(memory, q_);
    if (q_.training) {
      made.largest = training_rank_memory(*graph, *q_.training);
      made.fits = !q_.bytes_max || made.largest.total() <= *q_.bytes_max;
    }
    if (const auto* it = find_value(q_.measured_ns, c.key())) {
      made.measured_ns = *it;
    }
    if (parallel.pp > 1 && parallel.stages.empty()) {
      question_ = stage_question(*graph, made.cost, memory, q_);
      if (q_.training) question_->bytes_max.clear();  // states and what is in flight are no layer's
    }
    return made;
  }

  StepCost cost_of(const OperatorGraph& graph) const {
    if (q_.training) return training_step_cost(graph, *q_.training, time_);
    if (q_.stage_devices.empty()) return step_cost(graph, time_);
    std::vector<OperatorTime> times = mapped(q_.stage_devices, &PlanQuestion::StageDevice::time);
    return step_cost(graph, times);
  }

  // The even cut, and the best one where that is faster or where it alone fits.
  void add(Parallel parallel) {
    const auto even = priced(parallel);
    if (!even) return;
    std::optional<PlannedLayout> cut;
    if (parallel.pp > 1 && parallel.stages.empty()) {
      if (const auto chosen = choose_stages(*question_)) {
        parallel.stages = chosen->layers;
        cut = priced(parallel);
      }
    }
    if (even->measured_ns) out_.layouts.push_back(*even);
    const bool is_better =
        cut && (cut->fits != even->fits ? cut->fits : cut->cost.ns() < even->cost.ns());
    if (is_better) {
      out_.layouts.push_back(*cut);
    } else if (!even->measured_ns) {
      out_.layouts.push_back(*even);
    }
  }

  // Pipelines that were run with other stages than the planner's.
  void add_measured_cuts() {
    for (const Parallel& parallel : q_.measured_cuts) {
      if (parallel.devices() != q_.shards || !keeps_stated(parallel)) continue;
      const bool is_known = std::ranges::any_of(out_.layouts, [&](const PlannedLayout& layout) {
        return layout.configuration.parallel == parallel;
      });
      Configuration c = q_.base;
      c.parallel = parallel;
      if (is_known || !q_.measured_ns.contains(c.key())) continue;
      ++out_.tried;
      add(parallel);
    }
  }

  bool keeps_stated(const Parallel& p) const {
    const Parallel& s = q_.stated;
    const auto keeps = [](int stated, int has) { return stated == 0 || stated == has; };
    return keeps(s.dp, p.dp) && keeps(s.tp, p.tp) && keeps(s.pp, p.pp) && keeps(s.ep, p.ep) &&
           keeps(s.cp, p.cp) && (s.stages.empty() || s.stages == p.stages);
  }

  void name_winner() {
    for (const PlannedLayout& layout : out_.layouts) {
      if (!layout.measured_ns) continue;
      if (out_.winner && out_.winner->second <= *layout.measured_ns) continue;
      out_.winner = {layout.configuration.key(), *layout.measured_ns};
    }
    // A choice that nobody measured stays: it is worth a run.
    const PlannedLayout& first = out_.layouts.front();
    if (!out_.winner || !first.measured_ns || *first.measured_ns <= out_.winner->second) return;
    out_.overruled = first;
    const auto faster = std::ranges::find_if(out_.layouts, [&](const PlannedLayout& layout) {
      return layout.configuration.key() == out_.winner->first;
    });
    std::rotate(out_.layouts.begin(), faster, faster + 1);
  }

  const ModelSpec& spec_;
  const PlanQuestion& q_;
  const OperatorTime& time_;
  ShardPlan out_;
  std::optional<StageQuestion> question_;  // of the layout that was priced last
};

}  // namespace

std::optional<double> ShardPlan::slower_than_winner() const {
  if (!winner || layouts.empty()) return std::nullopt;
  const PlannedLayout& first = overruled ? *overruled : layouts.front();
  return first.measured_ns.value_or(first.cost.alone_ns) / winner->second - 1;
}

std::vector<Parallel> layouts_of(std::int64_t shards, const Parallel& stated, bool has_experts,
                                 bool has_context) {
  std::vector<Parallel> out;
  for (const int tp : degrees(shards, stated.tp)) {
    for (const int pp : degrees(shards, stated.pp)) {
      for (const int cp : degrees(has_context ? shards : 1, stated.cp)) {
        const std::int64_t of_replica = std::int64_t{tp} * pp * cp;
        if (of_replica > shards || shards % of_replica != 0) continue;
        const auto dp = as_int(shards / of_replica);
        if (stated.dp > 0 && stated.dp != dp) continue;
        const std::int64_t experts = has_experts ? std::int64_t{tp} * dp : 1;
        for (const int ep : degrees(experts, stated.ep)) {
          out.push_back(
              {.dp = dp, .tp = tp, .pp = pp, .ep = ep, .cp = cp, .stages = stated.stages});
        }
      }
    }
  }
  return out;
}

ShardPlan plan_shards(const ModelSpec& spec, const PlanQuestion& question,
                      const OperatorTime& time) {
  return Planner(spec, question, time).plan();
}

}  // namespace halmark::simulate
