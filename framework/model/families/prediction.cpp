#include "model/families/prediction.hpp"

#include <string>

#include "model/families/decoder.hpp"

namespace halmark::prediction {

namespace {

void norm(const ModelSpec& spec, const char* name, GraphBuilder& b) {
  b.norm({.name = name,
          .rows = b.tokens(),
          .columns = GraphBuilder::replicated(spec.hidden),
          .kind = spec.norm});
}

// The joining projection stays in the activations' type: the checkpoints do not quantise it.
void join(const ModelSpec& spec, GraphBuilder& b) {
  b.linear({.name = "draft_join",
            .rows = b.tokens(),
            .columns_in = GraphBuilder::replicated(2 * spec.hidden),
            .columns_out = GraphBuilder::replicated(spec.hidden),
            .split = Split::replicated,
            .dtype = b.precision().activation});
}

constexpr std::int64_t predicted_max = 64;

std::optional<Refusal> check_modules(const ModelSpec& spec, std::int64_t predicted) {
  if (predicted < 0 || predicted > predicted_max) {
    return Refusal{"drafted_out_of_range", "predicted tokens " + std::to_string(predicted) +
                                               " is not in 0.." + std::to_string(predicted_max)};
  }
  if (spec.prediction_modules > 0) return std::nullopt;
  return Refusal{"no_prediction_modules",
                 "the configuration of " + spec.id +
                     " states no multi-token-prediction modules that are modelled"};
}

}  // namespace

void emit(const ModelSpec& spec, GraphBuilder& b, const Family& family) {
  b.begin_layer_type("prediction");
  b.embedding("draft_embedding", spec.vocab, spec.hidden, Split::vocab, true);
  b.all_reduce("draft_embedding_all_reduce", spec.hidden);
  norm(spec, "draft_embedding_norm", b);
  norm(spec, "draft_hidden_norm", b);
  (family.join != nullptr ? family.join : join)(spec, b);
  family.predict(spec, b);
  decoder::head(spec, "draft_", true, b);
}

std::int64_t read_modules(const ConfigReader& config) {
  for (const char* field : {"num_nextn_predict_layers", "mtp_num_hidden_layers"}) {
    const auto stated = config.count(field);
    if (!stated) continue;
    constexpr std::int64_t modules_max = 64;
    if (*stated > modules_max) {
      config.refuse(field, "must lie in 0.." + std::to_string(modules_max));
    }
    return *stated;
  }
  return 0;
}

std::optional<Refusal> check(const ModelSpec& spec, const Configuration& configuration,
                             const Speculation& speculation) {
  const std::int64_t drafted = speculation.drafted;
  const Workload& w = configuration.workload;
  if (drafted == 0) return std::nullopt;
  if (w.phase != Phase::decode) {
    return Refusal{"drafts_without_decode",
                   "drafted tokens " + std::to_string(drafted) + " in phase " +
                       std::string(phase_name(w.phase)) +
                       ": decode steps verify drafts, training steps train the modules"};
  }
  if (auto refusal = check_modules(spec, drafted)) return refusal;
  if (w.context <= drafted) {
    return Refusal{"nonpositive_input", "context " + std::to_string(w.context) + " is below the " +
                                            std::to_string(1 + drafted) +
                                            " tokens that a step verifies"};
  }
  return std::nullopt;
}

std::optional<Refusal> check_trained(const ModelSpec& spec, const Configuration& configuration,
                                     std::int64_t predicted) {
  if (predicted == 0) return std::nullopt;
  const Phase phase = configuration.workload.phase;
  if (phase != Phase::training) {
    return Refusal{"drafts_without_decode", "predicted tokens " + std::to_string(predicted) +
                                                " of a training step in phase " +
                                                std::string(phase_name(phase))};
  }
  return check_modules(spec, predicted);
}

}  // namespace halmark::prediction

namespace halmark {

double expected_tokens_per_step(std::int64_t drafted, double acceptance) {
  double sum = 1, power = 1;
  for (std::int64_t i = 0; i < drafted; ++i) sum += power *= acceptance;
  return sum;
}

std::int64_t prediction_parameters(const ModelSpec& spec) {
  if (spec.prediction_modules == 0) return 0;
  const Precision bf16 = Precision::uniform("bf16", Dtype::bf16);
  const Configuration smallest = {spec.id, {}, bf16, {Phase::decode, 1, 1, 2}};
  const auto built = build_graph(spec, smallest, Speculation{1});
  const auto* graph = built.get();
  return graph != nullptr ? graph->totals.prediction_parameters : 0;
}

}  // namespace halmark
