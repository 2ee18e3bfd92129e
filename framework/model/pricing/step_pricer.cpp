#include "model/pricing/step_pricer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.hpp"
#include "kernels/routing.hpp"
#include "model/graph/expert_layout.hpp"
#include "roofline/peaks.hpp"

namespace halmark {

namespace {

constexpr double ns_per_s = 1e9;

void add(KernelTime& sum, double count, const KernelTime& time) {
  sum.ns += count * time.ns;
  sum.low_ns += count * time.low_ns;
  sum.high_ns += count * time.high_ns;
  sum.lower_bound_ns += count * time.lower_bound_ns;
  sum.is_known = sum.is_known && time.is_known;
}

KernelTime nothing() { return {.is_known = true}; }

Workload workload_of(Phase phase, std::int64_t batch, std::int64_t new_tokens, std::int64_t context,
                     std::int64_t routing_skew) {
  return {.phase = phase,
          .batch = batch,
          .new_tokens = new_tokens,
          .context = context,
          .routing_skew = routing_skew};
}

// Operators of both graphs with one name in one layer type, and the same problem.
std::vector<bool> shared_operators(const OperatorGraph& graph, const OperatorGraph& other) {
  std::vector<bool> out(graph.operators.size(), false);
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    out[i] = std::ranges::any_of(other.operators, [&](const Operator& o) {
      return o.name == op.name && o.layer_type == op.layer_type && o.local == op.local;
    });
  }
  return out;
}

}  // namespace

std::optional<double> ideal_device_ns(const OperatorGraph& graph, const Device& device) {
  double ns = 0;
  for (const Operator& op : graph.operators) {
    if (op.matmul_flops <= 0) continue;
    const auto peak = shard_peak(device, op.dtype, {});
    if (!peak) return std::nullopt;
    ns += op.matmul_flops / *peak * ns_per_s;
  }
  return ns;
}

std::size_t StepPricer::KeyHash::operator()(const Key& key) const {
  auto h = static_cast<std::uint64_t>(key.rank_class) * 4 + static_cast<std::uint64_t>(key.phase);
  for (const std::int64_t value : {key.sequences, key.new_tokens, key.context}) {
    h = (h ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return static_cast<std::size_t>(h);
}

StepPricer::StepPricer(const ModelSpec& spec, TimeOf time_of, const Device* peaks,
                       std::int64_t routing_skew)
    : spec_(spec), time_of_(std::move(time_of)), peaks_(peaks), routing_skew_(routing_skew) {}

StepPricer::Layout StepPricer::layout(const Parallel& parallel, const Precision& precision) {
  const auto next = static_cast<Layout>(layouts_.size());
  const auto [it, is_new] = layout_index_.try_emplace({parallel, precision}, next);
  if (!is_new) return it->second;
  LayoutFacts made{.parallel = parallel};
  // The least that this layout can do: one new token of one sequence in every micro-batch.
  const std::int64_t batch = std::int64_t{parallel.dp} * parallel.pp;
  made.refusal = check_configuration(
      spec_,
      {spec_.id, parallel, precision, workload_of(Phase::decode, batch, 1, 1, routing_skew_)});
  if (!made.refusal) {
    made.rank_class = rank_class(parallel, precision);
    made.stages = stages_of(parallel.pp);
  }
  layouts_.push_back(std::move(made));
  return next;
}

const std::optional<Refusal>& StepPricer::refusal(Layout layout) const {
  return facts(layout).refusal;
}

const Parallel& StepPricer::parallel(Layout layout) const { return facts(layout).parallel; }

std::int32_t StepPricer::rank_class(const Parallel& parallel, const Precision& precision) {
  const Parallel smallest{
      .dp = expert_layout(parallel).across_replicas, .tp = parallel.tp, .pp = 1, .ep = parallel.ep};
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (classes_[i].parallel == smallest && classes_[i].precision == precision) {
      return static_cast<std::int32_t>(i);
    }
  }
  const bool is_alone = smallest.devices() == 1;
  const std::int32_t alone = is_alone ? -1 : rank_class({}, precision);
  RankClass made;
  made.parallel = smallest;
  made.precision = precision;
  made.sample = graph(made, Phase::decode, {});
  find_templates(made);
  const auto next = static_cast<std::int32_t>(classes_.size());
  made.alone = is_alone ? next : alone;
  head_type_ = made.sample.head_type.value_or(-1);
  pipeline_type_ = made.sample.pipeline_type.value_or(-1);
  classes_.push_back(std::move(made));
  return next;
}

OperatorGraph StepPricer::graph(const RankClass& rank_class, Phase phase, const RankLoad& load,
                                int pp) {
  Parallel parallel = rank_class.parallel;
  parallel.pp = pp;
  ++graphs_built_;
  auto built = build_graph(spec_, {spec_.id, parallel, rank_class.precision,
                                   workload_of(phase, load.sequences * parallel.dp * pp,
                                               load.new_tokens, load.context, routing_skew_)});
  if (const auto* refusal = std::get_if<Refusal>(&built)) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  return std::get<OperatorGraph>(std::move(built));
}

// Odd sizes, so that what is proportional to one thing is not by accident to another.
void StepPricer::find_templates(RankClass& rank_class) {
  constexpr std::array<RankLoad, 2> decoded = {{{7, 1, 53}, {109, 1, 41}}};
  constexpr std::array<RankLoad, 2> prompts = {{{3, 37, 61}, {1, 23, 59}}};
  const auto find = [&](Phase phase, std::span<const RankLoad> loads) {
    return RankTemplate::find([&](const RankLoad& load) { return graph(rank_class, phase, load); },
                              loads, expert_layout(rank_class.parallel), routing_skew_);
  };
  rank_class.decode = find(Phase::decode, decoded);
  if (rank_class.decode) rank_class.prefill = find(Phase::prefill, prompts);
  if (rank_class.prefill) {
    mark_shared(*rank_class.decode, *rank_class.prefill);
    return;
  }
  rank_class.decode.reset();
  constexpr std::int64_t tokens = 24, cached = 40;
  const OperatorGraph decode = graph(rank_class, Phase::decode, {tokens, 1, cached + 1});
  const OperatorGraph prefill = graph(rank_class, Phase::prefill, {1, tokens, cached + tokens});
  rank_class.shared_in_decode = shared_operators(decode, prefill);
  rank_class.shared_in_prefill = shared_operators(prefill, decode);
}

std::int32_t StepPricer::stages_of(int pp) {
  const auto next = static_cast<std::int32_t>(stage_shapes_.size());
  const auto [it, is_new] = stage_index_.try_emplace(pp, next);
  if (!is_new) return it->second;
  RankClass alone;
  alone.precision = classes_.front().precision;
  const OperatorGraph of_pp = graph(alone, Phase::decode, {}, pp);
  std::vector<StageShape> shapes;
  for (std::size_t stage = 0; stage < of_pp.stages.size(); ++stage) {
    StageShape shape{.counts = std::vector<double>(of_pp.layer_types.size(), 0),
                     .stage = of_pp.stages[stage],
                     .first_stage = static_cast<std::int32_t>(stage)};
    for (const std::int32_t type : of_pp.stage_sequence(stage)) {
      ++shape.counts[static_cast<std::size_t>(type)];
    }
    const auto same = std::ranges::find(shapes, shape.counts, &StageShape::counts);
    if (same == shapes.end()) {
      shapes.push_back(std::move(shape));
    } else {
      ++same->stages;
    }
  }
  stage_shapes_.push_back(std::move(shapes));
  return next;
}

const std::vector<StageShape>& StepPricer::stages(Layout layout) const {
  return stage_shapes_[static_cast<std::size_t>(facts(layout).stages)];
}

TypeTimes StepPricer::summed(RankClass& rank_class, Phase phase, const RankLoad& load,
                             RankTemplate::Dependence dependence) {
  using Dependence = RankTemplate::Dependence;
  TypeTimes out(rank_class.sample.layer_types.size(), nothing());
  auto& found = phase == Phase::decode ? rank_class.decode : rank_class.prefill;
  if (found) {
    found->visit(dependence, load, [&](const RankTemplate::Entry& entry) {
      add(out[static_cast<std::size_t>(entry.layer_type)], 1, time_of_(entry.op));
    });
    return out;
  }
  if (dependence == Dependence::sequences) return out;  // in the part of the context
  const OperatorGraph built = graph(rank_class, phase, load);
  const std::vector<bool>& is_of_tokens =
      phase == Phase::decode ? rank_class.shared_in_decode : rank_class.shared_in_prefill;
  if (is_of_tokens.size() != built.operators.size() || out.size() != built.layer_types.size()) {
    throw Error(ExitCode::error,
                "operators of " + spec_.id + " do not follow from the phase alone");
  }
  for (std::size_t type = 0; type < built.layer_types.size(); ++type) {
    for (const std::int32_t index : built.layer_types[type].operators) {
      const auto i = static_cast<std::size_t>(index);
      if (is_of_tokens[i] != (dependence == Dependence::tokens)) continue;
      add(out[type], 1, time_of_(built.operators[i]));
    }
  }
  return out;
}

const TypeTimes& StepPricer::of_tokens(Layout layout, std::int64_t tokens) {
  const std::int32_t of = facts(layout).rank_class;
  return of_tokens_.get({of, Phase::decode, tokens, 1, 1}, [&] {
    return summed(classes_[static_cast<std::size_t>(of)], Phase::decode, {tokens, 1, 1},
                  RankTemplate::Dependence::tokens);
  });
}

const TypeTimes& StepPricer::of_sequences(Layout layout, Phase phase, std::int64_t sequences,
                                          std::int64_t new_tokens) {
  const std::int32_t of = facts(layout).rank_class;
  return of_sequences_.get({of, phase, sequences, new_tokens, 0}, [&] {
    return summed(classes_[static_cast<std::size_t>(of)], phase,
                  {sequences, new_tokens, new_tokens}, RankTemplate::Dependence::sequences);
  });
}

TypeTimes& StepPricer::ContextTimes::at(std::int64_t context) {
  if (next_ >= times_.size() || times_[next_].first != context) {
    const auto [place, is_new] = places_.try_emplace(context, times_.size());
    if (is_new) times_.emplace_back(context, TypeTimes{});
    next_ = place->second;
  }
  TypeTimes& out = times_[next_].second;
  next_ = next_ + 1 < times_.size() ? next_ + 1 : 0;
  return out;
}

const TypeTimes& StepPricer::of_context(Layout layout, Phase phase, const RankLoad& load) {
  const std::int32_t of = facts(layout).rank_class;
  TypeTimes& times =
      of_context_
          .get({of, phase, load.sequences, load.new_tokens, 0}, [] { return ContextTimes{}; })
          .at(load.context);
  if (times.empty()) {
    times = summed(classes_[static_cast<std::size_t>(of)], phase, load,
                   RankTemplate::Dependence::context);
  }
  return times;
}

KernelTime StepPricer::hand_over(Layout layout, std::int64_t tokens) {
  const LayoutFacts& of = facts(layout);
  const int pp = of.parallel.pp;
  if (pp == 1) return nothing();
  return hand_overs_.get({of.rank_class, Phase::decode, pp, tokens, 0}, [&] {
    return made_hand_over(classes_[static_cast<std::size_t>(of.rank_class)], pp, tokens);
  });
}

KernelTime StepPricer::made_hand_over(RankClass& rank_class, int pp, std::int64_t tokens) {
  if (rank_class.hand_over.empty()) {
    const OperatorGraph of_two = graph(rank_class, Phase::decode, {}, 2);
    for (const std::int32_t index :
         of_two.layer_types[static_cast<std::size_t>(pipeline_type_)].operators) {
      const Operator& op = of_two.operators[static_cast<std::size_t>(index)];
      rank_class.hand_over.push_back({op, op.local.params.at("bytes")});
    }
  }
  KernelTime sum = nothing();
  for (HandOver& one : rank_class.hand_over) {
    Params& params = one.op.local.params;
    params.set("bytes", one.bytes_per_token * tokens);
    params.set("ranks", pp);
    one.op.local_work = find_contract(one.op.local.op)->work(params);
    add(sum, 1, time_of_(one.op));
  }
  return sum;
}

// Of the matmul FLOPs of one sequence at the peaks of one device: a whole step has as many times
// that as sequences.
std::optional<double> StepPricer::ideal_sequence_ns(std::int32_t of_class, Phase phase,
                                                    std::int64_t new_tokens, std::int64_t context) {
  const std::int32_t alone = classes_[static_cast<std::size_t>(of_class)].alone;
  return ideal_.get({alone, phase, 1, new_tokens, context}, [&] {
    return made_ideal_ns(classes_[static_cast<std::size_t>(alone)], phase,
                         {1, new_tokens, context});
  });
}

std::optional<double> StepPricer::made_ideal_ns(RankClass& alone, Phase phase,
                                                const RankLoad& load) {
  using Dependence = RankTemplate::Dependence;
  auto& moved = phase == Phase::decode ? alone.decode : alone.prefill;
  if (!moved) return ideal_device_ns(graph(alone, phase, load), *peaks_);
  std::vector<double> counts(alone.sample.layer_types.size(), 0);
  for (const std::int32_t type : alone.sample.stage_sequence(0)) {
    ++counts[static_cast<std::size_t>(type)];
  }
  std::optional<double> ns = 0;
  for (const auto part : {Dependence::tokens, Dependence::sequences, Dependence::context}) {
    moved->visit(part, load, [&](const RankTemplate::Entry& entry) {
      const double flops = entry.op.local_work.matmul_flops;
      if (flops <= 0 || !ns) return;
      if (const auto peak = shard_peak(*peaks_, entry.op.dtype, {})) {
        *ns += counts[static_cast<std::size_t>(entry.layer_type)] * flops / *peak * ns_per_s;
      } else {
        ns.reset();
      }
    });
  }
  return ns;
}

std::optional<Price> StepPricer::price(Layout layout, Phase phase, std::int64_t batch,
                                       std::int64_t new_tokens, std::int64_t context) {
  const LayoutFacts& of = facts(layout);
  const std::int64_t parts = std::int64_t{of.parallel.dp} * of.parallel.pp;
  if (of.refusal || batch % parts != 0) return std::nullopt;
  const std::int64_t sequences = batch / parts;
  const TypeTimes& by_tokens = of_tokens(layout, sequences * new_tokens);
  const TypeTimes& by_sequences = of_sequences(layout, phase, sequences, new_tokens);
  const TypeTimes& by_context = of_context(layout, phase, {sequences, new_tokens, context});
  const KernelTime between = hand_over(layout, sequences * new_tokens);
  Price out;
  for (const StageShape& stage : stage_shapes_[static_cast<std::size_t>(of.stages)]) {
    KernelTime time = nothing();
    for (std::size_t type = 0; type < stage.counts.size(); ++type) {
      if (stage.counts[type] == 0) continue;
      add(time, stage.counts[type], by_tokens[type]);
      add(time, stage.counts[type], by_sequences[type]);
      add(time, stage.counts[type], by_context[type]);
      if (static_cast<std::int32_t>(type) == pipeline_type_) add(time, stage.counts[type], between);
    }
    if (!time.is_known) return std::nullopt;
    if (time.ns > out.step_ns) out.slowest_stage = stage.first_stage;
    out.step_ns = std::max(out.step_ns, time.ns);
    out.low_ns = std::max(out.low_ns, time.low_ns);
    out.high_ns = std::max(out.high_ns, time.high_ns);
    out.lower_bound_ns = std::max(out.lower_bound_ns, time.lower_bound_ns);
  }
  for (double* ns : {&out.step_ns, &out.low_ns, &out.high_ns, &out.lower_bound_ns}) {
    *ns *= of.parallel.pp;
  }
  if (out.step_ns <= 0) return std::nullopt;
  out.tokens_per_s =
      static_cast<double>(batch) * static_cast<double>(new_tokens) / out.step_ns * ns_per_s;
  if (peaks_ == nullptr) return out;
  if (const auto ideal = ideal_sequence_ns(of.rank_class, phase, new_tokens, context)) {
    out.mfu = *ideal * static_cast<double>(batch) / of.parallel.devices() / out.step_ns;
  }
  return out;
}

// The sample graph stands for any cut of the same layers: its stages are replaced.
const std::vector<StageMemory>& StepPricer::stage_memory(Layout layout, std::int64_t context) {
  const auto [it, is_new] = memories_.try_emplace({layout, context});
  if (!is_new) return it->second;
  OperatorGraph cut = classes_[static_cast<std::size_t>(facts(layout).rank_class)].sample;
  const int pp = facts(layout).parallel.pp;
  cut.configuration.parallel.pp = pp;
  cut.configuration.workload.batch = std::int64_t{cut.configuration.parallel.dp} * pp;
  cut.configuration.workload.context = context;
  cut.stages.clear();
  for (Operator& op : cut.operators) op.stage_counts.clear();
  for (const StageShape& shape : stages(layout)) {
    cut.stages.push_back(shape.stage);
    for (std::size_t type = 0; type < shape.counts.size(); ++type) {
      for (const std::int32_t index : cut.layer_types[type].operators) {
        cut.operators[static_cast<std::size_t>(index)].stage_counts.push_back(
            static_cast<std::int64_t>(shape.counts[type]));
      }
    }
  }
  const MemoryUse use = memory_use(cut);
  for (std::size_t s = 0; s < use.stages.size(); ++s) {
    const StageShape& shape = stages(layout)[s];
    it->second.push_back({use.stages[s].weight_bytes, use.stages[s].kv_bytes / pp,
                          shape.stage.has_head, shape.stages});
  }
  return it->second;
}

std::int64_t StepPricer::activation_bytes(Layout layout, std::int64_t tokens) {
  RankClass& rank_class = classes_[static_cast<std::size_t>(facts(layout).rank_class)];
  const auto [it, is_new] = rank_class.activations.try_emplace(tokens, 0);
  if (!is_new) return it->second;
  OperatorGraph step = rank_class.sample;
  step.configuration.workload =
      workload_of(Phase::prefill, rank_class.parallel.dp, tokens, tokens, routing_skew_);
  if (step.expert_use) {
    const ExpertSpec& experts = *spec_.moe;
    const std::int64_t all = tokens * rank_class.parallel.dp;
    const auto counts = routing_counts(all, experts.top_k, experts.experts, routing_skew_);
    const int ep = rank_class.parallel.ep;
    const auto heaviest =
        rows_of(counts, local_experts(experts.experts, ep, heaviest_rank(counts, ep)));
    step.expert_use->imbalance =
        static_cast<double>(heaviest) * ep / static_cast<double>(all * experts.top_k);
  }
  it->second = memory_use(step).largest.activation_bytes;
  return it->second;
}

}  // namespace halmark
