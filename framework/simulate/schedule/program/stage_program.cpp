#include "simulate/schedule/program/stage_program.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "simulate/schedule/program/chunk_layers.hpp"
#include "simulate/schedule/program/piece_writer.hpp"

namespace halmark::schedule {
namespace {

using simulate::Collective;

// What the passes of training add, by operator of the graph; see OperatorTraining.
struct OperatorPasses {
  double backward = 0, weight = 0, again = 0;
};

// Gradients of inputs and of weights are one forward pass each, of what has weights that are
// multiplied with; all else has no weights worth a pass.
OperatorPasses passes_of(const PricedStep& step, std::size_t index, bool splits) {
  const OperatorTraining& cost = step.cost->operators[index];
  OperatorPasses out{.backward = cost.model_passes - 1, .again = cost.passes - cost.model_passes};
  const OperatorKind kind = step.graph.operators[index].kind;
  const bool multiplies =
      kind == OperatorKind::linear || kind == OperatorKind::experts || kind == OperatorKind::head;
  if (!splits || !multiplies || out.backward < 2) return out;
  return {.backward = 1, .weight = out.backward - 1, .again = out.again};
}

class Programming {
 public:
  Programming(const PricedStep& step, const ProgramOptions& options)
      : step_(step),
        graph_(step.graph),
        options_(options),
        grid_(graph_.configuration.parallel),
        writer_(step, options.grain, out_) {}

  Programs run() {
    out_.order = step_.is_training() ? options_.order : Order::forward;
    const int usual = out_.order == Order::interleaved ? 2 : 1;
    out_.pipeline = {.stages = graph_.configuration.parallel.pp,
                     .chunks = options_.chunks > 0 ? options_.chunks : usual,
                     .micro_batches = static_cast<std::int32_t>(graph_.micro_batches())};
    check(out_.order, out_.pipeline);
    const auto layers = chunk_layers(graph_, out_.pipeline);
    out_.chunks.resize(layers.size());
    out_.after_step.resize(layers.size());
    zero_ = step_.training ? step_.training->zero : 0;
    has_copies_ = step_.is_training() && grid_.copy_count() > 1;
    out_.reduces_every_pass = zero_ >= 2;
    for (stage_ = 0; stage_ < layers.size(); ++stage_) {
      unit_ = 0;
      weigh(layers[stage_]);
      for (const std::vector<ChunkLayer>& chunk : layers[stage_]) add_chunk(chunk);
      add_after_step();
    }
    return std::move(out_);
  }

 private:
  std::span<const std::int32_t> operators_of(const ChunkLayer& layer) const {
    return graph_.layer_types[static_cast<std::size_t>(layer.type)].operators;
  }

  static std::string prefix_of(const ChunkLayer& layer) {
    return layer.layer < 0 ? std::string() : "layer " + std::to_string(layer.layer) + ' ';
  }

  double weight_bytes(const ChunkLayer& layer) const {
    double out = 0;
    for (const std::int32_t op : operators_of(layer)) {
      out += static_cast<double>(graph_.operators[static_cast<std::size_t>(op)].weight_bytes_local);
    }
    return out;
  }

  void weigh(const std::vector<std::vector<ChunkLayer>>& chunks) {
    stage_weight_ = 0;
    for (const auto& chunk : chunks) {
      for (const ChunkLayer& layer : chunk) stage_weight_ += weight_bytes(layer);
    }
  }

  // Of the stage's gradients, what a layer has of its weights.
  double gradient_bytes(double of_weights) const {
    const auto all = static_cast<double>(step_.training_stages[stage_].gradient_message_bytes);
    return stage_weight_ > 0 ? all * of_weights / stage_weight_ : 0;
  }

  void add_chunk(const std::vector<ChunkLayer>& layers) {
    ChunkProgram chunk;
    const std::int32_t first_unit = unit_;
    for (const ChunkLayer& layer : layers) {
      add_gather(layer, " forward", chunk.forward);
      add_forward(layer, chunk.forward);
      ++unit_;
    }
    if (step_.is_training()) {
      for (std::size_t i = layers.size(); i-- > 0;) {
        unit_ = first_unit + static_cast<std::int32_t>(i);
        add_gather(layers[i], " backward", chunk.backward);
        add_backward(layers[i], chunk);
      }
      unit_ = first_unit + static_cast<std::int32_t>(layers.size());
    }
    if (graph_.pipeline_type && out_.pipeline.stages > 1) {
      for (const std::int32_t op :
           graph_.layer_types[static_cast<std::size_t>(*graph_.pipeline_type)].operators) {
        writer_.add_hand_over(op, "activations to next stage", chunk.hand_on);
        writer_.add_hand_over(op, "gradients to stage before", chunk.hand_back);
      }
    }
    out_.chunks[stage_].push_back(std::move(chunk));
  }

  void add_forward(const ChunkLayer& layer, std::vector<Piece>& to) {
    const std::string suffix = step_.is_training() ? " forward" : "";
    writer_.cut();
    for (const std::int32_t op : operators_of(layer)) {
      writer_.add(op, 1, prefix_of(layer), suffix, to);
    }
  }

  void add_backward(const ChunkLayer& layer, ChunkProgram& chunk) {
    const bool splits = out_.order == Order::zero_bubble;
    const auto operators = operators_of(layer);
    const std::string prefix = prefix_of(layer);
    writer_.cut();
    for (const std::int32_t op : operators) {
      const OperatorPasses passes = passes_of(step_, static_cast<std::size_t>(op), splits);
      writer_.add(op, passes.again, prefix, " again", chunk.backward);
    }
    writer_.cut();
    for (std::size_t i = operators.size(); i-- > 0;) {
      const auto op = static_cast<std::size_t>(operators[i]);
      writer_.add(operators[i], passes_of(step_, op, splits).backward, prefix, " backward",
                  chunk.backward);
    }
    writer_.cut();
    for (std::size_t i = operators.size(); splits && i-- > 0;) {
      const auto op = static_cast<std::size_t>(operators[i]);
      writer_.add(operators[i], passes_of(step_, op, splits).weight, prefix, " weight gradient",
                  chunk.weight);
    }
    add_reduction(layer, splits ? chunk.weight : chunk.backward);
  }

  // ZeRO 3: weights are with their owners until a pass needs them.
  void add_gather(const ChunkLayer& layer, const std::string& suffix, std::vector<Piece>& to) {
    const double bytes = weight_bytes(layer);
    if (!has_copies_ || zero_ < 3 || bytes <= 0) return;
    to.push_back(writer_.over_copies(Collective::all_gather, bytes,
                                     graph_.configuration.precision.activation, grid_,
                                     prefix_of(layer) + "weights" + suffix));
    to.back().unit = unit_;
  }

  Collective reduction() const {
    return zero_ == 0 ? Collective::all_reduce : Collective::reduce_scatter;
  }

  void add_reduction(const ChunkLayer& layer, std::vector<Piece>& to) {
    const double bytes = gradient_bytes(weight_bytes(layer));
    if (!has_copies_ || !reduces_by_layer() || bytes <= 0) return;
    to.push_back(writer_.over_copies(reduction(), bytes, step_.training->gradient, grid_,
                                     prefix_of(layer) + "gradients"));
    to.back().unit = unit_;
  }

  bool reduces_by_layer() const { return options_.overlaps_gradients || out_.reduces_every_pass; }

  std::string of_stage(const std::string& what) const {
    return out_.pipeline.stages == 1 ? what : "stage " + std::to_string(stage_) + ' ' + what;
  }

  void add_after_step() {
    if (!has_copies_) return;
    std::vector<Piece>& to = out_.after_step[stage_];
    const TrainingMemory& memory = step_.training_stages[stage_];
    if (!reduces_by_layer() && memory.gradient_message_bytes > 0) {
      to.push_back(writer_.over_copies(reduction(),
                                       static_cast<double>(memory.gradient_message_bytes),
                                       step_.training->gradient, grid_, of_stage("gradients")));
    }
    if (zero_ != 1 && zero_ != 2) return;
    const Dtype dtype = graph_.configuration.precision.activation;
    to.push_back(writer_.over_copies(
        Collective::all_gather, static_cast<double>(dtype_bytes(dtype, memory.trained_parameters)),
        dtype, grid_, of_stage("weights")));
  }

  const PricedStep& step_;
  const OperatorGraph& graph_;
  const ProgramOptions& options_;
  DeviceGrid grid_;
  Programs out_;
  PieceWriter writer_;
  std::size_t stage_ = 0;
  std::int32_t unit_ = 0;
  double stage_weight_ = 0;
  int zero_ = 0;
  bool has_copies_ = false;
};

}  // namespace

Programs stage_programs(const PricedStep& step, const ProgramOptions& options) {
  return Programming(step, options).run();
}

}  // namespace halmark::schedule
