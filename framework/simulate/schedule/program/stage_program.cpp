#include "simulate/schedule/program/stage_program.hpp"

#include <vector>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "model/graph/graph.hpp"
#include "simulate/schedule/program/pass_order.hpp"
#include "simulate/schedule/program/piece_writer.hpp"

namespace halmark::schedule {
namespace {

// Which layers each chunk of a pipeline has.

struct ChunkLayer {
  std::int32_t type = 0;    // into OperatorGraph::layer_types
  std::int64_t layer = -1;  // of the model; -1: embedding, head, predictions
};

void add_layers(const OperatorGraph& graph, const Stage& cut, std::vector<ChunkLayer>& out) {
  if (cut.has_embedding && graph.embedding_type) out.push_back({*graph.embedding_type});
  for (std::int64_t i = cut.first_layer; i < cut.first_layer + cut.layers; ++i) {
    out.push_back({graph.layers[as_size(i)], i});
  }
  if (cut.has_head && graph.head_type) out.push_back({*graph.head_type});
  if (cut.has_head && graph.prediction_type) {
    out.insert(out.end(), as_size(graph.drafted), {*graph.prediction_type});
  }
}

// By stage, then by chunk. One chunk per stage: the stages of the graph. Throws Error (exit 2)
// where layers cannot be shared out over several chunks.
std::vector<std::vector<std::vector<ChunkLayer>>> chunk_layers(const OperatorGraph& graph,
                                                               const Pipeline& p) {
  std::vector<std::vector<std::vector<ChunkLayer>>> out(
      as_size(p.stages), std::vector<std::vector<ChunkLayer>>(as_size(p.chunks)));
  if (p.chunks == 1) {
    for (const auto s : indices(out)) add_layers(graph, graph.stages[s], out[s][0]);
    return out;
  }
  const auto layers = std::ssize(graph.layers);
  const std::int64_t all = p.chunks_in_all();
  if (layers % all != 0) {
    throw refused(std::to_string(layers) + " layers cannot be shared out over " +
                      std::to_string(all) + " virtual stages of schedule interleaved",
                  {}, "use a number of --virtual-stages whose product with pp divides the layers");
  }
  for (const std::int32_t s : below(p.stages)) {
    for (const std::int32_t c : below(p.chunks)) {
      const std::int32_t number = p.number(s, c);
      add_layers(graph,
                 {.first_layer = number * (layers / all),
                  .layers = layers / all,
                  .has_embedding = number == 0,
                  .has_head = number + 1 == all},
                 out[as_size(s)][as_size(c)]);
    }
  }
  return out;
}

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
                     .micro_batches = as_int(graph_.micro_batches())};
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
    return graph_.layer_types[as_size(layer.type)].operators;
  }

  static std::string prefix_of(const ChunkLayer& layer) {
    return layer.layer < 0 ? std::string() : "layer " + std::to_string(layer.layer) + ' ';
  }

  double weight_bytes(const ChunkLayer& layer) const {
    double out = 0;
    for (const std::int32_t op : operators_of(layer)) {
      out += as_double(graph_.operators[as_size(op)].weight_bytes_local);
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
    const auto all = as_double(step_.training_stages[stage_].gradient_message_bytes);
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
        unit_ = first_unit + as_int(i);
        add_gather(layers[i], " backward", chunk.backward);
        add_backward(layers[i], chunk);
      }
      unit_ = first_unit + as_int(layers.size());
    }
    if (graph_.pipeline_type && out_.pipeline.stages > 1) {
      for (const std::int32_t op : graph_.layer_types[as_size(*graph_.pipeline_type)].operators) {
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
      const OperatorPasses passes = passes_of(step_, as_size(op), splits);
      writer_.add(op, passes.again, prefix, " again", chunk.backward);
    }
    writer_.cut();
    for (std::size_t i = operators.size(); i-- > 0;) {
      const auto op = as_size(operators[i]);
      writer_.add(operators[i], passes_of(step_, op, splits).backward, prefix, " backward",
                  chunk.backward);
    }
    writer_.cut();
    for (std::size_t i = operators.size(); splits && i-- > 0;) {
      const auto op = as_size(operators[i]);
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
      to.push_back(writer_.over_copies(reduction(), as_double(memory.gradient_message_bytes),
                                       step_.training->gradient, grid_, of_stage("gradients")));
    }
    if (zero_ != 1 && zero_ != 2) return;
    const Dtype dtype = graph_.configuration.precision.activation;
    to.push_back(writer_.over_copies(Collective::all_gather,
                                     as_double(dtype_bytes(dtype, memory.trained_parameters)),
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
