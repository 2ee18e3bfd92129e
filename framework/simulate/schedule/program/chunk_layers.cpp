#include "simulate/schedule/program/chunk_layers.hpp"

#include "core/text/error.hpp"

namespace halmark::schedule {
namespace {

void add_layers(const OperatorGraph& graph, const Stage& cut, std::vector<ChunkLayer>& out) {
  if (cut.has_embedding && graph.embedding_type) out.push_back({*graph.embedding_type});
  for (std::int64_t i = cut.first_layer; i < cut.first_layer + cut.layers; ++i) {
    out.push_back({graph.layers[static_cast<std::size_t>(i)], i});
  }
  if (cut.has_head && graph.head_type) out.push_back({*graph.head_type});
  if (cut.has_head && graph.prediction_type) {
    out.insert(out.end(), static_cast<std::size_t>(graph.drafted), {*graph.prediction_type});
  }
}

}  // namespace

std::vector<std::vector<std::vector<ChunkLayer>>> chunk_layers(const OperatorGraph& graph,
                                                               const Pipeline& p) {
  std::vector<std::vector<std::vector<ChunkLayer>>> out(
      static_cast<std::size_t>(p.stages),
      std::vector<std::vector<ChunkLayer>>(static_cast<std::size_t>(p.chunks)));
  if (p.chunks == 1) {
    for (std::size_t s = 0; s < out.size(); ++s) add_layers(graph, graph.stages[s], out[s][0]);
    return out;
  }
  const auto layers = static_cast<std::int64_t>(graph.layers.size());
  const std::int64_t all = p.chunks_in_all();
  if (layers % all != 0) {
    throw refused(std::to_string(layers) + " layers cannot be shared out over " +
                      std::to_string(all) + " virtual stages of schedule interleaved",
                  {}, "use a number of --virtual-stages whose product with pp divides the layers");
  }
  for (std::int32_t s = 0; s < p.stages; ++s) {
    for (std::int32_t c = 0; c < p.chunks; ++c) {
      const std::int32_t number = p.number(s, c);
      add_layers(graph,
                 {.first_layer = number * (layers / all),
                  .layers = layers / all,
                  .has_embedding = number == 0,
                  .has_head = number + 1 == all},
                 out[static_cast<std::size_t>(s)][static_cast<std::size_t>(c)]);
    }
  }
  return out;
}

}  // namespace halmark::schedule
