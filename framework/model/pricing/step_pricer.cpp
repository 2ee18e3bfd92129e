// Times are kept apart by what they follow from, because a walk over a space changes one measure of
// the load at a time: a new context then costs the attention of one micro-batch.
#include "model/pricing/step_pricer.hpp"

#include <utility>

#include "core/numeric/cast.hpp"
#include "core/text/units.hpp"
#include "model/graph/rank_places.hpp"
#include "roofline/peaks.hpp"

namespace halmark {

namespace {

using Dependence = RankTemplate::Dependence;

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

namespace {

// Small numbers are mixed one by one: form 3 of 5 tokens must not meet form 5 of 3.
std::uint64_t mixed(std::uint64_t hash, std::int64_t value) {
  hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

}  // namespace

std::uint64_t StepPricer::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = mixed(0, std::int64_t{key.rank_class} * 4 + static_cast<int>(key.phase));
  for (const std::int64_t value : {key.sequences, key.new_tokens, key.context}) {
    hash = mixed(hash, value);
  }
  return hash;
}

std::uint64_t StepPricer::KeyHash::operator()(const FormedProblem& problem) const {
  std::uint64_t hash = mixed(0, problem.form);
  for (const std::int64_t value : problem.values) hash = mixed(hash, value);
  return hash;
}

StepPricer::StepPricer(const ModelSpec& spec, TimeOf time_of, const Device* peaks,
                       std::int64_t routing_skew)
    : time_of_(std::move(time_of)), peaks_(peaks), layouts_(spec, routing_skew) {}

// All keys of a visit are known before the first is looked up, so that their places can be fetched
// at the same time.
void StepPricer::ask(RankTemplate& operators, Dependence dependence, const RankLoad& load,
                     std::optional<std::int32_t> layer_type) {
  operators.visit(
      dependence, load,
      [&](RankTemplate::Entry& entry, const FormedProblem& problem) {
        const std::uint64_t hash = times_.hash_of(problem);
        times_.fetch(hash);
        asked_.push_back({&entry, problem, hash});
      },
      layer_type);
}

template <class AddTo>
void StepPricer::add_asked(const AddTo& add_to) {
  for (const Asked& one : asked_) {
    const auto [time, is_new] = times_.find_or_insert(one.problem, one.hash);
    if (is_new) {
      one.entry->move(one.problem);
      *time = time_of_(one.entry->op);
    }
    add_to(*one.entry, *time);
  }
}

TypeTimes StepPricer::times(RankTemplate& operators, Dependence dependence, const RankLoad& load) {
  TypeTimes out(layouts_.layer_types(), no_executions);
  asked_.clear();
  ask(operators, dependence, load);
  add_asked([&](const RankTemplate::Entry& entry, const KernelTime& time) {
    add(out[as_size(entry.layer_type)], time);
  });
  return out;
}

const TypeTimes& StepPricer::of_tokens(Layout layout, std::int64_t tokens) {
  const std::int32_t of = layouts_[layout].rank_class;
  return of_tokens_.get({of, Phase::decode, tokens, 1, 1}, [&] {
    return times(layouts_.operators(of, Phase::decode), Dependence::tokens, {tokens, 1, 1});
  });
}

const TypeTimes& StepPricer::of_sequences(Layout layout, Phase phase, std::int64_t sequences,
                                          std::int64_t new_tokens) {
  const std::int32_t of = layouts_[layout].rank_class;
  return of_sequences_.get({of, phase, sequences, new_tokens, 0}, [&] {
    return times(layouts_.operators(of, phase), Dependence::sequences,
                 {sequences, new_tokens, new_tokens});
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
  const std::int32_t of = layouts_[layout].rank_class;
  TypeTimes& out =
      of_context_
          .get({of, phase, load.sequences, load.new_tokens, 0}, [] { return ContextTimes{}; })
          .at(load.context);
  if (out.empty()) out = times(layouts_.operators(of, phase, load), Dependence::context, load);
  return out;
}

KernelTime StepPricer::of_head(Layout layout, std::int64_t rows, std::int64_t context) {
  const std::int32_t of = layouts_[layout].rank_class;
  return heads_.get({of, Phase::decode, rows, 1, context}, [&] {
    KernelTime sum = no_executions;
    const RankLoad load{rows, 1, context};
    RankTemplate& operators = layouts_.operators(of, Phase::decode, load);
    asked_.clear();
    for (const auto part : {Dependence::tokens, Dependence::sequences, Dependence::context}) {
      ask(operators, part, load, head_type());
    }
    add_asked([&](const RankTemplate::Entry&, const KernelTime& time) { add(sum, time); });
    return sum;
  });
}

KernelTime StepPricer::hand_over(Layout layout, std::int64_t tokens) {
  const Layouts::Facts& of = layouts_[layout];
  if (of.parallel.pp == 1) return no_executions;
  const std::int32_t alone = layouts_.rank_class(of.rank_class).alone;
  const std::int64_t stride = group_stride(of.parallel, Split::pipeline);
  return hand_overs_.get({alone, Phase::decode, of.parallel.pp, tokens, stride}, [&] {
    KernelTime sum = no_executions;
    for (const Operator& op : layouts_.hand_over(layout, tokens)) add(sum, time_of_(op));
    return sum;
  });
}

// Of the matmul FLOPs of one sequence at the peaks of one device: a whole step has as many times
// that as sequences.
std::optional<double> StepPricer::ideal_sequence_ns(std::int32_t rank_class, Phase phase,
                                                    std::int64_t new_tokens, std::int64_t context) {
  const std::int32_t alone = layouts_.rank_class(rank_class).alone;
  return ideal_.get({alone, phase, 1, new_tokens, context}, [&] {
    return made_ideal_ns(alone, phase, {1, new_tokens, context});
  });
}

std::optional<double> StepPricer::made_ideal_ns(std::int32_t alone, Phase phase,
                                                const RankLoad& load) {
  const OperatorGraph& sample = layouts_.rank_class(alone).sample;
  std::vector<double> counts(layouts_.layer_types(), 0);
  for (const std::int32_t type : sample.stage_sequence(0)) {
    ++counts[as_size(type)];
  }
  std::optional<double> ns = 0;
  const auto add_ideal = [&](RankTemplate::Entry& entry, const FormedProblem& problem) {
    entry.move(problem);
    const double flops = entry.op.local_work.matmul_flops;
    if (flops <= 0 || !ns) return;
    if (const auto peak = shard_peak(*peaks_, entry.op.dtype, {})) {
      *ns += counts[as_size(entry.layer_type)] * flops / *peak * ns_per_s;
    } else {
      ns.reset();
    }
  };
  RankTemplate& operators = layouts_.operators(alone, phase, load);
  for (const auto part : {Dependence::tokens, Dependence::sequences, Dependence::context}) {
    operators.visit(part, load, add_ideal);
  }
  return ns;
}

std::optional<Price> StepPricer::price(Layout layout, Phase phase, std::int64_t batch,
                                       std::int64_t new_tokens, std::int64_t context) {
  const Layouts::Facts& of = layouts_[layout];
  const std::int64_t parts = std::int64_t{of.parallel.dp} * of.parallel.pp;
  if (of.refusal || batch % parts != 0) return std::nullopt;
  const std::int64_t sequences = batch / parts;
  const TypeTimes& by_tokens = of_tokens(layout, sequences * new_tokens);
  const TypeTimes& by_sequences = of_sequences(layout, phase, sequences, new_tokens);
  const TypeTimes& by_context = of_context(layout, phase, {sequences, new_tokens, context});
  slots_ = by_tokens;
  for (std::size_t type = 0; type < slots_.size(); ++type) {
    add(slots_[type], by_sequences[type]);
    add(slots_[type], by_context[type]);
  }
  if (of.parallel.pp > 1) {
    add(slots_[as_size(pipeline_type())], hand_over(layout, sequences * new_tokens));
  }
  std::optional<double> ideal_ns;
  if (peaks_ != nullptr) {
    ideal_ns = ideal_sequence_ns(of.rank_class, phase, new_tokens, context);
    if (ideal_ns) *ideal_ns *= as_double(batch) / of.parallel.devices();
  }
  return halmark::price(step(layout), slots_, as_double(batch) * as_double(new_tokens), ideal_ns);
}

}  // namespace halmark
