#include "model/step_pricer.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "model/expert_layout.hpp"
#include "model/roofline.hpp"

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

KernelTime LayerSums::total() const {
  KernelTime out = of_tokens;
  add(out, 1, of_sequences);
  return out;
}

std::size_t StepPricer::SumKeyHash::operator()(const SumKey& key) const {
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
  LayoutFacts facts{.parallel = parallel};
  // The least that this layout can do: one new token of one sequence in every micro-batch.
  const std::int64_t batch = std::int64_t{parallel.dp} * parallel.pp;
  facts.refusal = check_deployment(spec_, {spec_.id, parallel, precision,
                                           workload_of(Phase::decode, batch, 1, 1, routing_skew_)});
  if (!facts.refusal) {
    facts.rank_class = rank_class(parallel, precision);
    facts.stages = stages_of(parallel.pp);
  }
  layouts_.push_back(std::move(facts));
  return next;
}

const std::optional<Refusal>& StepPricer::refusal(Layout layout) const {
  return layouts_[static_cast<std::size_t>(layout)].refusal;
}

const Parallel& StepPricer::parallel(Layout layout) const {
  return layouts_[static_cast<std::size_t>(layout)].parallel;
}

std::int32_t StepPricer::rank_class(const Parallel& parallel, const Precision& precision) {
  const Parallel smallest{
      .dp = expert_layout(parallel).across_replicas, .tp = parallel.tp, .pp = 1, .ep = parallel.ep};
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (classes_[i].parallel == smallest && classes_[i].precision == precision) {
      return static_cast<std::int32_t>(i);
    }
  }
  classes_.push_back({.parallel = smallest, .precision = precision});
  sort_operators(classes_.back());
  return static_cast<std::int32_t>(classes_.size()) - 1;
}

OperatorGraph StepPricer::graph(const RankClass& rank_class, Phase phase, std::int64_t sequences,
                                std::int64_t new_tokens, std::int64_t context, int pp) {
  Parallel parallel = rank_class.parallel;
  parallel.pp = pp;
  ++graphs_built_;
  auto built = build_graph(spec_, {spec_.id, parallel, rank_class.precision,
                                   workload_of(phase, sequences * parallel.dp * pp, new_tokens,
                                               context, routing_skew_)});
  if (const auto* refusal = std::get_if<Refusal>(&built)) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  return std::get<OperatorGraph>(std::move(built));
}

// An operator works on tokens alone when as many tokens of one prompt are the same problem.
void StepPricer::sort_operators(RankClass& rank_class) {
  constexpr std::int64_t tokens = 24, cached = 40;
  const OperatorGraph decode = graph(rank_class, Phase::decode, tokens, 1, cached + 1);
  const OperatorGraph prefill = graph(rank_class, Phase::prefill, 1, tokens, cached + tokens);
  rank_class.is_of_tokens = shared_operators(decode, prefill);
  rank_class.is_of_tokens_in_prefill = shared_operators(prefill, decode);
  head_type_ = decode.head_type.value_or(-1);
  pipeline_type_ = decode.pipeline_type.value_or(-1);
}

std::int32_t StepPricer::stages_of(int pp) {
  const auto next = static_cast<std::int32_t>(stage_shapes_.size());
  const auto [it, is_new] = stage_index_.try_emplace(pp, next);
  if (!is_new) return it->second;
  const RankClass alone{.parallel = {}, .precision = classes_.front().precision};
  const OperatorGraph of_pp = graph(alone, Phase::decode, 1, 1, 1, pp);
  std::vector<StageShape> shapes;
  for (std::size_t stage = 0; stage < of_pp.stages.size(); ++stage) {
    StageShape shape{.counts = std::vector<double>(of_pp.layer_types.size(), 0),
                     .has_head = of_pp.stages[stage].has_head,
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
  return stage_shapes_[static_cast<std::size_t>(layouts_[static_cast<std::size_t>(layout)].stages)];
}

const StepPricer::Sums& StepPricer::sums_of(const SumKey& key) {
  if (const auto found = sums_.find(key); found != sums_.end()) return found->second;
  const RankClass& rank_class = classes_[static_cast<std::size_t>(key.rank_class)];
  const OperatorGraph built =
      graph(rank_class, key.phase, key.sequences, key.new_tokens, key.context);
  const std::vector<bool>& is_of_tokens =
      key.phase == Phase::decode ? rank_class.is_of_tokens : rank_class.is_of_tokens_in_prefill;
  if (is_of_tokens.size() != built.operators.size()) {
    throw Error(ExitCode::error,
                "operators of " + spec_.id + " do not follow from the phase alone");
  }
  Sums out{.types = std::vector<LayerSums>(built.layer_types.size(), {nothing(), nothing()})};
  for (std::size_t type = 0; type < built.layer_types.size(); ++type) {
    for (const std::int32_t index : built.layer_types[type].operators) {
      const auto i = static_cast<std::size_t>(index);
      LayerSums& sums = out.types[type];
      add(is_of_tokens[i] ? sums.of_tokens : sums.of_sequences, 1, time_of_(built.operators[i]));
    }
  }
  if (peaks_ != nullptr) {
    out.ideal_device_ns = ideal_device_ns(built, *peaks_);
    if (out.ideal_device_ns) *out.ideal_device_ns /= rank_class.parallel.dp;
  }
  return sums_.try_emplace(key, std::move(out)).first->second;
}

const std::vector<LayerSums>& StepPricer::sums(Layout layout, Phase phase, std::int64_t sequences,
                                               std::int64_t new_tokens, std::int64_t context) {
  const LayoutFacts& facts = layouts_[static_cast<std::size_t>(layout)];
  return sums_of({facts.rank_class, phase, sequences, new_tokens, context}).types;
}

KernelTime StepPricer::hand_over(Layout layout, std::int64_t tokens) {
  const LayoutFacts& facts = layouts_[static_cast<std::size_t>(layout)];
  const int pp = facts.parallel.pp;
  if (pp == 1) return nothing();
  const auto [it, is_new] = hand_overs_.try_emplace({facts.rank_class, pp, tokens}, nothing());
  if (!is_new) return it->second;
  const RankClass& rank_class = classes_[static_cast<std::size_t>(facts.rank_class)];
  const OperatorGraph built = graph(rank_class, Phase::decode, tokens, 1, 1, pp);
  for (const std::int32_t index :
       built.layer_types[static_cast<std::size_t>(*built.pipeline_type)].operators) {
    add(it->second, 1, time_of_(built.operators[static_cast<std::size_t>(index)]));
  }
  return it->second;
}

std::optional<Price> StepPricer::price(Layout layout, Phase phase, std::int64_t batch,
                                       std::int64_t new_tokens, std::int64_t context) {
  const LayoutFacts& facts = layouts_[static_cast<std::size_t>(layout)];
  const std::int64_t parts = std::int64_t{facts.parallel.dp} * facts.parallel.pp;
  if (facts.refusal || batch % parts != 0) return std::nullopt;
  const std::int64_t sequences = batch / parts;
  const Sums& sums = sums_of({facts.rank_class, phase, sequences, new_tokens, context});
  const KernelTime between = hand_over(layout, sequences * new_tokens);
  Price out;
  for (const StageShape& stage : stage_shapes_[static_cast<std::size_t>(facts.stages)]) {
    KernelTime time = nothing();
    for (std::size_t type = 0; type < stage.counts.size(); ++type) {
      if (stage.counts[type] == 0) continue;
      add(time, stage.counts[type], sums.types[type].of_tokens);
      add(time, stage.counts[type], sums.types[type].of_sequences);
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
    *ns *= facts.parallel.pp;
  }
  if (out.step_ns <= 0) return std::nullopt;
  out.tokens_per_s =
      static_cast<double>(batch) * static_cast<double>(new_tokens) / out.step_ns * ns_per_s;
  if (sums.ideal_device_ns) {
    out.mfu =
        *sums.ideal_device_ns * static_cast<double>(parts) / facts.parallel.devices() / out.step_ns;
  }
  return out;
}

const std::vector<StageMemory>& StepPricer::stage_memory(Layout layout, std::int64_t context) {
  const auto [it, is_new] = memories_.try_emplace({layout, context});
  if (!is_new) return it->second;
  const LayoutFacts& facts = layouts_[static_cast<std::size_t>(layout)];
  const Parallel& parallel = facts.parallel;
  RankClass whole = classes_[static_cast<std::size_t>(facts.rank_class)];
  const OperatorGraph built = graph(whole, Phase::decode, 1, 1, context, parallel.pp);
  const MemoryUse use = memory_use(built);
  for (const StageShape& stage : stages(layout)) {
    const RankMemory& rank = use.stages[static_cast<std::size_t>(stage.first_stage)];
    it->second.push_back(
        {rank.weight_bytes, rank.kv_bytes / parallel.pp, stage.has_head, stage.stages});
  }
  return it->second;
}

std::int64_t StepPricer::activation_bytes(Layout layout, std::int64_t tokens) {
  const LayoutFacts& facts = layouts_[static_cast<std::size_t>(layout)];
  RankClass& rank_class = classes_[static_cast<std::size_t>(facts.rank_class)];
  const auto [it, is_new] = rank_class.activations.try_emplace(tokens, 0);
  if (is_new) {
    it->second =
        memory_use(graph(rank_class, Phase::prefill, 1, tokens, tokens)).largest.activation_bytes;
  }
  return it->second;
}

}  // namespace halmark
