#include "model/training/training_words.hpp"

#include <vector>

#include "core/dtype.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

template <typename Value, typename Parse>
Value parsed(std::string_view option, const std::string& text, const Parse& parse,
             const std::vector<std::string>& known) {
  const auto value = parse(text);
  if (value) return *value;
  throw refused("unknown value '" + printable(text) + "' of " + std::string(option), {},
                suggestion(text, known));
}

}  // namespace

bool TrainingWords::has_any() const {
  return recompute || optimizer || gradients || zero || lora_rank || micro_batch ||
         sequence_parallel || loss;
}

TrainingPlan training_plan(const TrainingWords& o, const Precision& precision) {
  TrainingPlan plan;
  plan.gradient = precision.activation;
  if (o.recompute) {
    plan.recompute = parsed<Recompute>("--recompute", *o.recompute, parse_recompute,
                                       {"none", "selective", "alternate", "full"});
  }
  if (o.optimizer) {
    plan.optimizer = parsed<Optimizer>("--optimizer", *o.optimizer, parse_optimizer,
                                       {"none", "sgd", "momentum", "adam", "adam8bit"});
  }
  if (o.gradients) {
    plan.gradient = parsed<Dtype>("--gradients", *o.gradients, parse_dtype, {"bf16", "f16", "f32"});
  }
  if (o.loss) plan.loss = parsed<Loss>("--loss", *o.loss, parse_loss, {"in-place", "plain"});
  plan.zero = o.zero.value_or(0);
  plan.lora_rank = o.lora_rank.value_or(0);
  if (o.lora_rank && *o.lora_rank < 1) throw refused("--lora-rank must be at least 1");
  plan.sequence_parallel = o.sequence_parallel;
  return plan;
}

}  // namespace halmark
