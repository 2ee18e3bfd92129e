// Measured times of layers beside the graph: the utilisation of a layer has its own FLOPs and its
// own time; it is not the model's divided by the number of layers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/graph/graph.hpp"
#include "roofline/peaks.hpp"

namespace halmark {

// One execution of one layer of a type, for one micro-batch, on the ranks of one replica's stage.
struct LayerTime {
  std::string layer_type;
  double ns = 0;
};

struct LayerUse {
  LayerTime time;
  std::int64_t layers = 0;           // of the model, of this type
  double matmul_flops = 0;           // of one micro-batch, all ranks, nothing counted twice
  double matmul_flops_per_rank = 0;  // executed by one rank, with replicated operators
  // matmul_flops / (tp x peak x time), and matmul_flops_per_rank / (peak x time), every operator at
  // the peak of its precision.
  std::optional<double> mfu, executed;
  bool is_quarantined = false;  // the time cannot be true: its products need longer
  std::string reason;           // why they are absent
};

// Throws Error (exit 2) for a layer type that the graph does not have.
std::vector<LayerUse> layer_uses(const std::vector<LayerTime>& times, const OperatorGraph& graph,
                                 const std::optional<Device>& device, ShardShare share);

// "0.35" for a model with one type of layer, or "decoder=0.35,decoder_moe=0.5"; milliseconds.
// Throws Error (exit 2).
std::vector<LayerTime> parse_layer_ms(std::string_view text, const OperatorGraph& graph);

}  // namespace halmark
