// What a stage executes in each pass: pieces of a graph, in order, before anybody says when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/graph/expert_layout.hpp"
#include "model/graph/rank_places.hpp"
#include "model/step/priced_step.hpp"
#include "simulate/collectives/collective.hpp"
#include "simulate/events/task_graph.hpp"
#include "simulate/schedule/program/pass_order.hpp"

namespace halmark::schedule {

// Which device a rank of a deployment is: numbered nearest first, as group_stride() says.

// Ranks of a collective, `stride` devices apart.
struct RankGroup {
  std::int64_t ranks = 1, stride = 1;
  bool operator==(const RankGroup&) const = default;
};

// The devices of a stage of one pipeline lie side by side (a block), the stages of a pipeline after
// each other, and the pipelines outermost.
struct DeviceGrid {
  std::int64_t block = 1;      // devices of a stage: tensor, context, replicas that share experts
  std::int64_t stages = 1;     // pipeline
  std::int64_t pipelines = 1;  // replicas, or groups of them that exchange experts' rows
  std::int64_t tensor = 1;

  explicit DeviceGrid(const Parallel& parallel)
      : block(group_stride(parallel, Split::pipeline)),
        stages(parallel.pp),
        pipelines(parallel.dp / expert_layout(parallel).across_replicas),
        tensor(parallel.tp) {}
  std::int64_t devices() const { return block * stages * pipelines; }
  std::int64_t first(std::int64_t pipeline, std::int64_t stage) const {
    return (pipeline * stages + stage) * block;
  }
  // Devices that hold the same weights as the `index`-th of a stage's first tensor group: replicas
  // and context ranks.
  std::vector<std::int64_t> copies(std::int64_t stage, std::int64_t index) const {
    std::vector<std::int64_t> out;
    for (std::int64_t p = 0; p < pipelines; ++p) {
      for (std::int64_t i = index; i < block; i += tensor) out.push_back(first(p, stage) + i);
    }
    return out;
  }
  std::int64_t copy_count() const { return pipelines * (block / tensor); }
  // The distance that stands for the group of copies: the farthest that there is.
  std::int64_t copy_stride() const { return pipelines > 1 ? block * stages : tensor; }
};

// One event per kernel, or one for all kernels of a layer that no collective divides.
enum class Grain { kernel, layer };

// Executions of an operator in units of its forward pass.
struct Part {
  std::int32_t op = 0;  // of the graph, or beyond its end: of Programs::extra
  double passes = 1;
};

// What a label stands for. Figures are of one event.
struct PieceLabel {
  std::string text;  // "layer 3 q_proj backward"
  double flops = 0;
  double bytes = 0;  // moved by the device's memory, or sent by a rank
};

// copies: of a stage's weights, on all replicas.
enum class Among : std::uint8_t { device, block, copies, next_stage };

struct Piece {
  events::EventKind kind = events::EventKind::kernel;
  Among among = Among::device;
  RankGroup group = {};  // of a collective
  simulate::Collective collective = simulate::Collective::all_reduce;
  double message_bytes = 0;  // as in collective.hpp
  std::uint32_t label = 0;
  std::uint32_t part = 0, parts = 1;  // into Programs::parts
  // Of copies: a unit of layers whose weights are gathered before it, or whose gradients are
  // reduced behind it.
  std::int32_t unit = -1;
};

// One chunk of layers of one stage.
struct ChunkProgram {
  std::vector<Piece> forward, backward, weight;
  // To the chunk behind, with activations, and to that in front, with their gradients. None of one
  // stage.
  std::vector<Piece> hand_on, hand_back;
  const std::vector<Piece>& of(PassKind kind) const {
    return kind == PassKind::forward ? forward : kind == PassKind::backward ? backward : weight;
  }
};

// A collective that no operator of the graph is: of weights or gradients.
struct ExtraCollective {
  Problem problem;
  Work work;
  std::int64_t stride = 1;
};

struct Programs {
  Pipeline pipeline;
  Order order = Order::forward;
  std::vector<std::vector<ChunkProgram>> chunks;  // by stage, then by chunk
  std::vector<std::vector<Piece>> after_step;     // by stage: what follows the last pass
  std::vector<PieceLabel> labels;
  std::vector<Part> parts;
  std::vector<ExtraCollective> extra;
  // Gradients are reduced after every backward pass (ZeRO 2 and 3) or once a step.
  bool reduces_every_pass = false;
};

struct ProgramOptions {
  Order order = Order::one_f_one_b;  // of training; inference goes forward
  int chunks = 0;                    // of a stage; 0 = 2 of interleaved, else 1
  Grain grain = Grain::kernel;
  bool overlaps_gradients = true;  // their reduction begins layer by layer, not after the last one
};

// Throws Error (exit 2) of a schedule that does not go with the step.
Programs stage_programs(const PricedStep& step, const ProgramOptions& options);

}  // namespace halmark::schedule
