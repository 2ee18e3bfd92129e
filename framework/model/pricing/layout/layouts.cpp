// A rank class costs two graphs, one per phase, and a cut of the layers one; every load beyond that
// is evaluated from the terms of their operators.
#include "model/pricing/layout/layouts.hpp"

#include <algorithm>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/graph/rank_places.hpp"

namespace halmark {

Layouts::Layouts(const ModelSpec& spec, std::int64_t routing_skew)
    : spec_(spec), routing_skew_(routing_skew) {}

Workload Layouts::workload_of(Phase phase, std::int64_t batch, std::int64_t new_tokens,
                              std::int64_t context, std::int64_t routing_skew) {
  return {.phase = phase,
          .batch = batch,
          .new_tokens = new_tokens,
          .context = context,
          .routing_skew = routing_skew};
}

Layouts::Id Layouts::id(const Parallel& parallel, const Precision& precision) {
  const bool is_last =
      last_ != ids_.end() && last_->first.first == parallel && last_->first.second == precision;
  if (is_last) return last_->second;
  const auto next = static_cast<Id>(layouts_.size());
  const auto [it, is_new] = ids_.try_emplace({parallel, precision}, next);
  last_ = it;
  if (!is_new) return it->second;
  Facts made{.parallel = parallel};
  // The least that this layout can do: one new token of one sequence in every micro-batch.
  const std::int64_t batch = std::int64_t{parallel.dp} * parallel.pp;
  made.refusal = check_configuration(
      spec_,
      {spec_.id, parallel, precision, workload_of(Phase::decode, batch, 1, 1, routing_skew_)});
  if (!made.refusal && spec_.encoder) {
    made.refusal = Refusal{"encoder_decoder", "the encoder and the decoder of " + spec_.id +
                                                  " run different layers: halmark model prices a "
                                                  "step of either (--phase)"};
  }
  if (!made.refusal) {
    made.rank_class = class_of(parallel, precision);
    made.cut = cut_of(parallel);
  }
  layouts_.push_back(std::move(made));
  return next;
}

std::int32_t Layouts::class_of(const Parallel& parallel, const Precision& precision) {
  const Parallel smallest{
      .dp = expert_layout(parallel).across_replicas, .tp = parallel.tp, .pp = 1, .ep = parallel.ep};
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (classes_[i].parallel == smallest && classes_[i].precision == precision) {
      return static_cast<std::int32_t>(i);
    }
  }
  const bool is_alone = smallest.devices() == 1;
  const std::int32_t alone = is_alone ? -1 : class_of({}, precision);
  const auto next = static_cast<std::int32_t>(classes_.size());
  RankClass made{.parallel = smallest,
                 .precision = precision,
                 .sample = graph(smallest, precision, Phase::decode, {}),
                 .alone = is_alone ? next : alone};
  made.decode.emplace_back(made.sample, forms_);
  made.prefill.emplace_back(graph(smallest, precision, Phase::prefill, {}), forms_);
  made.decode.front().share_tokens(made.prefill.front());
  made.prefill.front().share_tokens(made.decode.front());
  layer_types_ = made.sample.layer_types.size();
  head_type_ = made.sample.head_type.value_or(-1);
  pipeline_type_ = made.sample.pipeline_type.value_or(-1);
  classes_.push_back(std::move(made));
  return next;
}

OperatorGraph Layouts::graph(const Parallel& parallel, const Precision& precision, Phase phase,
                             const RankLoad& load) {
  ++graphs_built_;
  auto built = build_graph(spec_,
                           {spec_.id, parallel, precision,
                            workload_of(phase, load.sequences * parallel.dp * parallel.pp,
                                        load.new_tokens, load.context, routing_skew_)},
                           {}, ExpertRanks::heaviest);
  if (const auto* refusal = built.why()) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  return *std::move(built);
}

std::int32_t Layouts::cut_of(const Parallel& parallel) {
  const auto next = static_cast<std::int32_t>(cuts_.size());
  const auto [it, is_new] = cut_of_.try_emplace({parallel.pp, parallel.stages}, next);
  if (!is_new) return it->second;
  const OperatorGraph of_pp = graph({.pp = parallel.pp, .stages = parallel.stages},
                                    classes_.front().precision, Phase::decode, {});
  Cut made{
      .shapes = {},
      .step = {.micro_batches = as_double(parallel.pp), .spread = unconfirmed_spread(of_pp.spec)}};
  for (std::size_t s = 0; s < of_pp.stages.size(); ++s) {
    StageShape shape{.counts = std::vector<double>(of_pp.layer_types.size(), 0),
                     .stage = of_pp.stages[s],
                     .first_stage = static_cast<std::int32_t>(s)};
    for (const std::int32_t type : of_pp.stage_sequence(s)) {
      ++shape.counts[as_size(type)];
    }
    for (std::size_t type = 0; type < shape.counts.size(); ++type) {
      if (shape.counts[type] == 0) continue;
      made.step.terms.push_back({static_cast<std::int32_t>(type), shape.counts[type]});
    }
    made.step.end_stage();
    const auto same = std::ranges::find(made.shapes, shape.counts, &StageShape::counts);
    if (same == made.shapes.end()) {
      made.shapes.push_back(std::move(shape));
    } else {
      ++same->stages;
    }
  }
  cuts_.push_back(std::move(made));
  return next;
}

RankTemplate& Layouts::operators(std::int32_t of_class, Phase phase) {
  RankClass& of = classes_[as_size(of_class)];
  return phase == Phase::decode ? of.decode.front() : of.prefill.front();
}

RankTemplate& Layouts::operators(std::int32_t of_class, Phase phase, const RankLoad& load) {
  RankClass& of = classes_[as_size(of_class)];
  auto& known = phase == Phase::decode ? of.decode : of.prefill;
  for (RankTemplate& one : known) {
    if (one.agrees_with(load)) return one;
  }
  RankTemplate made(graph(of.parallel, of.precision, phase, load), forms_);
  made.share_tokens((phase == Phase::decode ? of.prefill : of.decode).front());
  if (!made.is_alike_without_context(known.front())) {
    throw Error(ExitCode::error, "operators of " + spec_.id +
                                     " that see no context exist in some contexts only; prices of "
                                     "its steps would not add up");
  }
  return known.emplace_back(std::move(made));
}

// They move tokens of the model's width in the activations' type, whatever the layout.
std::vector<Operator> Layouts::hand_over(Id layout, std::int64_t tokens) {
  const Facts& facts = (*this)[layout];
  RankClass& alone = classes_[as_size(rank_class(facts.rank_class).alone)];
  if (alone.hand_over.empty()) {
    const OperatorGraph of_two = graph({.pp = 2}, alone.precision, Phase::decode, {});
    for (const std::int32_t index : of_two.layer_types[as_size(pipeline_type_)].operators) {
      alone.hand_over.push_back(of_two.operators[as_size(index)]);
    }
  }
  std::vector<Operator> out = alone.hand_over;
  for (Operator& op : out) {
    const OpContract& contract = *find_contract(op.local.op);
    set_load(op, {.sequences = tokens}, op.local.params);
    op.local.params.set("ranks", facts.parallel.pp);
    op.group_stride = group_stride(facts.parallel, Split::pipeline);
    op.local_work = op.rank_work = contract.work(op.local.params);
  }
  return out;
}

}  // namespace halmark
