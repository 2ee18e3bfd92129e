// A training step as a fold over the forward graph: what the backward pass and recomputation add,
// and what a rank keeps in memory. The graph has phase training: whole sequences, nothing cached.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/graph/graph.hpp"
#include "model/training/recompute.hpp"

namespace halmark {

// Bytes of state per trained parameter beside weight and gradient: a master copy in f32 where the
// weights are narrower, and the moments.
enum class Optimizer { none, sgd, momentum, adam, adam8bit };
std::string_view optimizer_name(Optimizer optimizer);
std::optional<Optimizer> parse_optimizer(std::string_view text);

// What the loss holds of the logits while it is taken. in_place: one copy in f32 (2205.05198,
// section 4.3), which is also two in 16 bits. plain: logarithms of the softmax, their gradient and
// that of the logits in f32, 12 bytes each; over a split vocabulary the logits with their copies in
// f32, less the maximum, exponentials and logarithms: 2 + 4 x 4 bytes.
enum class Loss { in_place, plain };
std::string_view loss_name(Loss loss);
std::optional<Loss> parse_loss(std::string_view text);

struct TrainingPlan {
  Recompute recompute = Recompute::none;
  Optimizer optimizer = Optimizer::adam;
  int zero = 0;                    // 0..3: what data-parallel ranks share out instead of copying
  Dtype gradient = Dtype::bf16;    // in which gradients are kept
  std::int64_t lora_rank = 0;      // 0 = every weight is trained
  bool sequence_parallel = false;  // norms and residuals split over the tensor group
  bool fused_attention = true;     // the scores are never stored
  bool dropout = false;            // masks are stored
  Loss loss = Loss::in_place;
};

// Why the plan does not go with the deployment; nothing when it does.
std::optional<Refusal> check_training(const OperatorGraph& graph, const TrainingPlan& plan);

// FLOPs and bytes of one operator over the step. Backward: data and weight gradient, 2 x forward;
// 1 x for products with frozen weights; nothing for lookups. Collectives run once in each pass. A
// low-rank pair beside a frozen product has both gradients; its traffic is left out of the bytes.
struct OperatorTraining {
  double forward = 0, backward = 0, recomputed = 0;  // FLOPs, whole model
  double adapters = 0;      // of these, of its low-rank pair: forward and both gradients
  double model_passes = 0;  // forward and backward, in units of the forward pass
  double passes = 0;        // recomputation included: what is executed
};

struct TrainingCost {
  std::vector<OperatorTraining> operators;           // as in the graph
  double forward = 0, backward = 0, recomputed = 0;  // matmul FLOPs, whole model
  double adapters = 0;                               // of these, of low-rank adapters
  // Of the step. Whole model: forward and backward. Per rank: what it executes, recomputation in.
  GraphTotals totals;
  double model_flops() const { return forward + backward; }             // what MFU counts
  double hardware_flops() const { return model_flops() + recomputed; }  // what HFU counts
};
TrainingCost training_cost(const OperatorGraph& graph, const TrainingPlan& plan);

// Weights of the low-rank pairs [rank, in] and [out, rank] beside one instance of a linear layer:
// of the whole layer and of a rank's share of it. 0 where the operator has no adapter.
struct AdapterWeights {
  std::int64_t whole = 0, local = 0;
};
AdapterWeights adapter_weights(const Operator& op, std::int64_t rank);

// One rank of a stage.
struct TrainingMemory {
  std::int64_t weight_bytes = 0;
  std::int64_t gradient_bytes = 0;
  std::int64_t optimizer_bytes = 0;
  std::int64_t activation_bytes = 0;  // of all micro-batches in flight
  std::int64_t working_bytes = 0;     // the larger: logits, or the layer that is recomputed
  // ZeRO: whole weights of tables, of the layer at work and of the next (3), whole gradients of the
  // larger of tables and one layer before they are shared out (2 and 3).
  std::int64_t gathered_bytes = 0;
  std::int64_t in_flight = 0;           // micro-batches: 1F1B holds min(pp - stage, micro-batches)
  std::int64_t trained_parameters = 0;  // of this rank
  std::int64_t gradient_message_bytes = 0;  // all-reduced over data parallel ranks once a step
  std::int64_t total() const {
    return weight_bytes + gradient_bytes + optimizer_bytes + activation_bytes + working_bytes +
           gathered_bytes;
  }
};
std::vector<TrainingMemory> training_memory(const OperatorGraph& graph, const TrainingPlan& plan);
const TrainingMemory& largest(const std::vector<TrainingMemory>& stages);

// Products of one execution that alternate recomputation repeats, of those that the operator
// stands for: gate and up, keys and values are two. `place`: how many products stand before it in
// its layer.
struct Products {
  int all = 0, repeated = 0;
};
Products products_of(const Operator& op, int place);

// Bytes that one layer of type `type` keeps for its backward pass, per rank and micro-batch: the
// inputs of products, norms, activations and attention, once where several read the same. With
// dropout, unfused attention, a plain FFN and 16 bit this is the table of 2205.05198, section 4.
std::int64_t saved_activation_bytes(const OperatorGraph& graph, const LayerType& type,
                                    const TrainingPlan& plan);

}  // namespace halmark
