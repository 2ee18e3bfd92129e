#include "profile/kernels/kernel_layer_type.hpp"

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

using Indices = std::vector<std::int32_t>;

// The layer type that a table names, by any of its means; they must agree.
class TypeChoice {
 public:
  TypeChoice(const KernelLayer& layer, const OperatorGraph& graph) : layer_(layer), graph_(graph) {}

  std::int32_t choose() const {
    Indices types = of_layers();
    if (!layer_.layer_type.empty()) types = {named()};
    if (layer_.compress_ratio) narrow_by_ratio(types);
    if (layer_.layer_id) narrow_by_layer(types);
    if (types.size() == 1) return types.front();
    auto names = mapped(types, [&](const std::int32_t type) { return name_of(type); });
    throw refused("the table does not say which layer it is of; this model has several types",
                  layer_.where, "add \"layer_id\" or \"layer_type\": " + join(names, ", "));
  }

 private:
  const std::string& name_of(std::int32_t type) const {
    return graph_.layer_types[as_size(type)].name;
  }

  Indices of_layers() const {
    Indices out;
    for (const std::int32_t type : graph_.layers) {
      if (!contains(out, type)) out.push_back(type);
    }
    return out;
  }

  std::int32_t named() const {
    std::vector<std::string> names;
    for (const auto i : indices(graph_.layer_types)) {
      names.push_back(graph_.layer_types[i].name);
      if (names.back() == layer_.layer_type) return as_int(i);
    }
    throw refused("unknown layer type '" + printable(layer_.layer_type) + "'", layer_.where,
                  suggestion(layer_.layer_type, names));
  }

  void narrow_by_layer(Indices& types) const {
    const auto id = as_size(*layer_.layer_id);
    if (id >= graph_.layers.size()) {
      throw refused("layer_id " + std::to_string(id) + " is beyond the " +
                        std::to_string(graph_.layers.size()) + " layers of " + graph_.spec.id,
                    layer_.where);
    }
    const std::int32_t type = graph_.layers[id];
    if (!contains(types, type)) {
      throw refused("layer " + std::to_string(id) + " of " + graph_.spec.id + " is of type " +
                        name_of(type) + ", not what the table says of it",
                    layer_.where, "correct layer_id, layer_type or compress_ratio");
    }
    types = {type};
  }

  void narrow_by_ratio(Indices& types) const;

  const KernelLayer& layer_;
  const OperatorGraph& graph_;
};

// Only DeepSeek-V4 has layers of different compression; elsewhere 0 says nothing.
void TypeChoice::narrow_by_ratio(Indices& types) const {
  const std::int64_t ratio = *layer_.compress_ratio;
  if (ratio == 0 && !graph_.spec.compressed) return;
  Indices same;
  for (std::size_t i = 0; graph_.spec.compressed && i < graph_.layers.size(); ++i) {
    const std::int32_t type = graph_.layers[i];
    const bool is_candidate = contains(types, type) && !contains(same, type);
    if (graph_.spec.compressed->ratios[i] == ratio && is_candidate) same.push_back(type);
  }
  if (same.empty()) {
    throw refused(
        "compress_ratio " + std::to_string(ratio) + ": no such layer in " + graph_.spec.id,
        layer_.where, "correct compress_ratio or the layer that the table names");
  }
  types = same;
}

void check_cached(const KernelLayer& layer, const OperatorGraph& graph) {
  const Workload& w = graph.configuration.workload;
  if (!layer.cached || *layer.cached == w.context - w.new_tokens) return;
  throw refused("the table was measured with " + std::to_string(*layer.cached) +
                    " cached tokens, the command says " + std::to_string(w.context - w.new_tokens),
                layer.where,
                "--context " + std::to_string(*layer.cached + w.new_tokens) + " fits the table");
}

}  // namespace

std::int32_t layer_type_of(const KernelLayer& layer, const OperatorGraph& graph) {
  check_cached(layer, graph);
  return TypeChoice(layer, graph).choose();
}

}  // namespace halmark
