#include "model/pricing/memory.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/numeric/cast.hpp"
#include "model/graph/context_split.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/pricing/memory_text.hpp"

namespace halmark {

namespace {

const LayerType* type_of(const OperatorGraph& graph, std::optional<std::int32_t> index) {
  return index ? &graph.layer_types[as_size(*index)] : nullptr;
}

const Operator* first_of(const OperatorGraph& graph, const LayerType* type, OperatorKind kind) {
  if (type == nullptr) return nullptr;
  for (const std::int32_t index : type->operators) {
    const Operator& op = graph.operators[as_size(index)];
    if (op.kind == kind) return &op;
  }
  return nullptr;
}

}  // namespace

std::int64_t shared_table_bytes(const OperatorGraph& graph, const Stage& stage) {
  if (!graph.spec.tied || !stage.has_embedding || !stage.has_head) return 0;
  const Operator* table =
      first_of(graph, type_of(graph, graph.embedding_type), OperatorKind::embedding);
  const Operator* head = first_of(graph, type_of(graph, graph.head_type), OperatorKind::head);
  if (table == nullptr || head == nullptr) return 0;
  const bool is_one_type =
      graph.configuration.precision.head == graph.configuration.precision.activation ||
      head->weight_bytes_local == table->weight_bytes_local;
  return is_one_type ? head->weight_bytes_local : 0;
}

namespace {

std::int64_t weight_bytes(const OperatorGraph& graph, std::size_t stage) {
  std::int64_t bytes = 0;
  for (const Operator& op : graph.operators) {
    const std::int64_t executed = op.stage_counts[stage];
    const std::int64_t instances =
        graph.is_prediction(op) ? std::min(executed, graph.prediction_instances()) : executed;
    bytes += instances * op.weight_bytes_local;
  }
  return bytes - shared_table_bytes(graph, graph.stages[stage]);
}

// Layers that keep a cache: those of the model, then the layer of every prediction module in use.
std::vector<std::int32_t> caching_layers(const OperatorGraph& graph, std::int64_t first,
                                         std::int64_t layers, bool has_head) {
  const auto begin = graph.layers.begin() + first;
  std::vector<std::int32_t> out(begin, begin + layers);
  if (has_head && graph.prediction_type) {
    out.insert(out.end(), as_size(graph.prediction_instances()), *graph.prediction_type);
  }
  return out;
}

std::vector<std::int32_t> caching_layers(const OperatorGraph& graph) {
  return caching_layers(graph, 0, static_cast<std::int64_t>(graph.layers.size()), true);
}

// Of all sequences of a replica: every micro-batch in flight keeps its own.
std::int64_t kv_bytes(const OperatorGraph& graph, const Stage& stage) {
  const Configuration& configuration = graph.configuration;
  const std::int64_t sequences = configuration.workload.batch / configuration.parallel.dp;
  std::int64_t bytes = 0;
  for (const std::int32_t type :
       caching_layers(graph, stage.first_layer, stage.layers, stage.has_head)) {
    bytes += layer_cache_bytes(graph, type);
  }
  return sequences * bytes;
}

// One more token of one sequence, whole model; compressed entries in parts. A window counts as
// long as it grows.
std::int64_t kv_bytes_per_token(const OperatorGraph& graph) {
  double bytes = 0;
  for (const std::int32_t type : caching_layers(graph)) {
    for (const LayerCache& cache : graph.layer_types[as_size(type)].caches) {
      bytes += as_double(cache.entry_bytes.whole.constant()) / as_double(cache.tokens_per_entry);
    }
  }
  return std::llround(bytes);
}

std::int64_t state_bytes_per_sequence(const OperatorGraph& graph) {
  std::int64_t bytes = 0;
  for (const std::int32_t type : caching_layers(graph)) {
    for (const LayerCache& cache : graph.layer_types[as_size(type)].caches) {
      bytes += cache.constant_bytes.whole.constant();
    }
  }
  return bytes;
}

// Values that the experts of a layer keep per token of the micro-batch on the fullest rank: for
// each row its input and gate and up, K (H + 2 fe) on one device.
std::int64_t expert_values_per_token(const OperatorGraph& graph) {
  if (!graph.spec.moe) return 0;
  const ExpertSpec& moe = *graph.spec.moe;
  const ExpertLayout layout = expert_layout(graph.configuration.parallel);
  const double share = graph.expert_use->imbalance * layout.across_replicas / layout.ep;
  const std::int64_t of_row = graph.spec.hidden + 2 * moe.width / layout.width;
  const double rows = share * as_double(moe.top_k);
  return static_cast<std::int64_t>(rows * as_double(of_row)) +
         2 * moe.shared_width / graph.configuration.parallel.tp;
}

// Values that the widest mixer keeps per token: queries, keys and values, or what a recurrence
// projects its input to.
std::int64_t mixer_values_per_token(const ModelSpec& spec) {
  std::int64_t widest = (spec.heads + 2 * spec.kv_heads) * spec.head_dim;
  for (const LayerMixer& mixer : spec.mixers) {
    if (mixer.kind != Mixer::attention) continue;
    const std::int64_t queries = (spec.output_gate ? 2 : 1) * mixer.heads * mixer.head_dim;
    widest = std::max(widest, queries + mixer.kv_heads * (mixer.head_dim + mixer.value_dim));
  }
  if (const auto& delta = spec.delta_rule) {
    const std::int64_t decays = delta->gate_rank > 0 ? delta->key_width() : 0;
    widest = std::max(widest, 2 * (delta->key_width() + delta->value_width()) + decays);
  }
  if (const auto& ssm = spec.state_space) {
    widest = std::max(widest, 2 * (ssm->width() + ssm->group_width()));
  }
  // x and its gate, and the steps.
  if (const auto& scan = spec.selective_scan) widest = std::max(widest, 3 * scan->channels);
  return widest;
}

// Peak of an inference step: residual and normed input, beside the widest intermediate of the
// layer; the logits of the last stage in f32 or wider sums. An estimate, printed as one.
std::int64_t activation_bytes(const OperatorGraph& graph, const Stage& stage) {
  const ModelSpec& spec = graph.spec;
  const Configuration& configuration = graph.configuration;
  const std::int64_t tp = configuration.parallel.tp;
  const std::int64_t tokens = graph.micro_batch() * graph.rank_tokens();
  std::int64_t ffn = spec.intermediate;
  for (const std::int64_t width : spec.ffn_widths) ffn = std::max(ffn, width);
  const std::int64_t widest =
      std::max({mixer_values_per_token(spec) / tp, 2 * ffn / tp, expert_values_per_token(graph)});
  const std::int64_t live =
      dtype_bytes(configuration.precision.activation, tokens * (2 * spec.hidden + widest));
  const bool is_decode = configuration.workload.phase == Phase::decode;
  const std::int64_t rows = is_decode ? tokens : graph.micro_batch();
  const std::int64_t logits = stage.has_head ? rows * spec.vocab * 4 / tp : 0;
  return live + logits;
}

}  // namespace

MemoryUse memory_use(const OperatorGraph& graph) {
  MemoryUse use;
  const Parallel& parallel = graph.configuration.parallel;
  const std::int64_t ranks_per_stage =
      std::int64_t{parallel.dp} * parallel.tp * graph.configuration.parallel.cp;
  for (std::size_t i = 0; i < graph.stages.size(); ++i) {
    const RankMemory rank = {.weight_bytes = weight_bytes(graph, i),
                             .kv_bytes = kv_bytes(graph, graph.stages[i]),
                             .activation_bytes = activation_bytes(graph, graph.stages[i])};
    use.stages.push_back(rank);
    use.weight_bytes_total += ranks_per_stage * rank.weight_bytes;
    use.kv_bytes_total += ranks_per_stage * rank.kv_bytes;
    use.total_bytes += ranks_per_stage * rank.total();
    if (rank.total() > use.largest.total()) use.largest = rank;
  }
  use.kv_bytes_per_token = kv_bytes_per_token(graph);
  use.state_bytes_per_sequence = state_bytes_per_sequence(graph);
  return use;
}

std::int64_t layer_cache_bytes(const OperatorGraph& graph, std::int32_t type) {
  std::int64_t bytes = 0;
  for (const LayerCache& cache : graph.layer_types[as_size(type)].caches) {
    bytes += cache.bytes(kept_tokens(graph, cache), &Extent::local);
  }
  return bytes;
}

std::optional<std::int64_t> memory_shortfall(const MemoryUse& use, std::int64_t available_bytes) {
  const std::int64_t missing = use.largest.total() - available_bytes;
  return missing > 0 ? std::optional(missing) : std::nullopt;
}

std::optional<Refusal> check_memory(const MemoryUse& use, std::int64_t available_bytes) {
  if (!memory_shortfall(use, available_bytes)) return std::nullopt;
  return Refusal{"out_of_memory", memory_shortage_text(use.largest.total(), available_bytes)};
}

}  // namespace halmark
