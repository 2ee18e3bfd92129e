#include "model/weights/weights_check.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "model/spec/kept_modules.hpp"

namespace halmark {

namespace {

constexpr std::size_t differences_max = 16;

std::string shape_of(const StoredMatrix& m) {
  const std::string rest = std::to_string(m.rows) + ", " + std::to_string(m.columns) + ']';
  return m.experts > 0 ? '[' + std::to_string(m.experts) + ", " + rest : '[' + rest;
}

// The modules of a linear as checkpoints have them: those of all experts are one.
std::string without_expert(std::string_view module) {
  std::string out(module);
  if (const auto at = out.find("experts.0."); at != std::string::npos) out.erase(at + 8, 2);
  return out;
}

struct Found {
  std::int64_t values = 0;
  std::string shapes;  // "mlp.gate_proj [14336, 4096]"
};

// Of one linear; nothing unless all its parts are there.
Found find_stored(const LinearModules& linear, const StoredLayer& layer,
                  std::set<std::string>& named) {
  Found out;
  std::set<std::string> modules;
  for (const auto& part : linear.parts) {
    const StoredMatrix* found = nullptr;
    for (const std::string_view name : part) {
      const auto it = std::ranges::find(layer.matrices, without_expert(name), &StoredMatrix::name);
      if (it != layer.matrices.end() && found == nullptr) found = &*it;
    }
    if (found == nullptr) return {};
    if (!modules.insert(found->name).second) continue;
    out.values += found->values();
    append_item(out.shapes, " + ", found->name + ' ' + shape_of(*found));
  }
  named.insert(modules.begin(), modules.end());
  return out;
}

std::int64_t weights_of(const Operator& op, const ModelSpec& spec) {
  if (op.kind != OperatorKind::experts) return op.active_parameters;
  return op.active_parameters / spec.moe->top_k * spec.moe->experts;
}

class Comparison {
 public:
  Comparison(const ModelSpec& spec, const Checkpoint& checkpoint, const OperatorGraph& graph,
             std::int64_t difference)
      : spec_(spec), checkpoint_(checkpoint), graph_(graph), difference_(difference) {}

  // Lines, and for which layers they hold.
  std::vector<std::string> run() {
    compare_tables();
    const std::size_t layers = std::min(graph_.layers.size(), checkpoint_.layers.size());
    if (graph_.layers.size() != checkpoint_.layers.size()) {
      add_line("layers: " + std::to_string(checkpoint_.layers.size()) + " in the weights, " +
               std::to_string(graph_.layers.size()) + " by the configuration");
    }
    for (std::size_t i = 0; i < layers; ++i) compare_layer(i);
    compare_rest(layers);
    for (const auto& [text, of_layers] : by_text_) {
      lines_.push_back((of_layers.size() == 1 ? "layer " + std::to_string(of_layers.front())
                                              : std::to_string(of_layers.size()) + " layers from " +
                                                    std::to_string(of_layers.front())) +
                       ": " + text);
    }
    return std::move(lines_);
  }

 private:
  void add_line(std::string text) { lines_.push_back(std::move(text)); }
  void add(std::size_t layer, const std::string& text) { by_text_[text].push_back(layer); }

  const LayerType& type_of(std::size_t layer) const {
    return graph_.layer_types[as_size(graph_.layers[layer])];
  }

  void compare_tables() {
    const auto& embedding = checkpoint_.embedding;
    const std::int64_t rows = spec_.vocab + spec_.extra_rows;
    if (embedding && (embedding->rows != rows || embedding->columns != spec_.hidden)) {
      said_ += embedding->values() - rows * spec_.hidden;
      add_line(embedding->name + ": " + shape_of(*embedding) + " in the weights, [" +
               std::to_string(rows) + ", " + std::to_string(spec_.hidden) +
               "] by the configuration");
    }
    const auto& head = checkpoint_.head;
    const std::int64_t counted = spec_.vocab * spec_.hidden;
    if (head && spec_.has_lm_head && head->values() != counted) {
      if (!spec_.tied) said_ += head->values() - counted;
      add_line(head->name + ": " + shape_of(*head) + " in the weights, [" +
               std::to_string(spec_.vocab) + ", " + std::to_string(spec_.hidden) +
               "] by the configuration");
    }
    if (head && !spec_.has_lm_head) {
      if (!spec_.tied) said_ += head->values();
      add_line(head->name + ": in the weights alone");
    }
    if (!head && spec_.has_lm_head && !spec_.tied) {
      said_ -= counted;
      add_line("no LM head in the weights, one by the configuration (tie_word_embeddings)");
    }
  }

  // What is in no layer and no table, or in layers that the other does not have.
  void compare_rest(std::size_t layers) {
    std::int64_t rest = difference_ - said_;
    for (std::size_t i = layers; i < checkpoint_.layers.size(); ++i) {
      rest -= checkpoint_.layers[i].values();
    }
    for (std::size_t i = layers; i < graph_.layers.size(); ++i) rest += parameters_of(i);
    std::int64_t parts = 0;
    for (const CheckpointPart& part : checkpoint_.parts) {
      if (rest == -part.parameters) return;  // the configuration counts it too
      parts += part.parameters;
    }
    if (rest == 0 || rest == -parts) return;
    add_line("outside of the layers: " + std::to_string(std::abs(rest)) + " parameters " +
             (rest > 0 ? "more" : "fewer") + " in the weights than by the configuration");
  }

  std::int64_t parameters_of(std::size_t layer) const {
    std::int64_t out = 0;
    for (const std::int32_t index : type_of(layer).operators) {
      out += graph_.operators[as_size(index)].parameters;
    }
    return out;
  }

  void compare_layer(std::size_t i) {
    const StoredLayer& stored = checkpoint_.layers[i];
    const std::int64_t expected = parameters_of(i);
    std::int64_t explained = 0;
    std::set<std::string> named;
    for (const std::int32_t index : type_of(i).operators) {
      const Operator& op = graph_.operators[as_size(index)];
      if (op.active_parameters == 0) continue;
      for (const LinearModules& row : linear_modules()) {
        if (row.linear != op.name || !has_linear(row, spec_, i)) continue;
        const Found found = find_stored(row, stored, named);
        if (found.values == 0) continue;
        const std::int64_t by = found.values - weights_of(op, spec_);
        explained += by;
        if (by != 0) {
          add(i, found.shapes + " in the weights, " + std::to_string(weights_of(op, spec_)) +
                     " values by the configuration");
        }
        break;
      }
    }
    said_ += stored.values() - expected;
    const std::int64_t rest = stored.values() - expected - explained;
    if (rest != 0) add(i, unnamed(stored, named, rest));
  }

  std::string unnamed(const StoredLayer& stored, const std::set<std::string>& named,
                      std::int64_t rest) const {
    std::string names;
    std::size_t count = 0;
    for (const StoredMatrix& m : stored.matrices) {
      constexpr std::size_t shown = 4;
      if (named.contains(m.name) || ++count > shown) continue;
      names += (names.empty() ? ": " : ", ") + printable(m.name) + ' ' + shape_of(m);
    }
    return std::to_string(std::abs(rest)) + " parameters " +
           (rest > 0 ? "more in the weights than" : "fewer in the weights than") +
           " by the configuration, among those that no linear is named for" + names;
  }

  const ModelSpec& spec_;
  const Checkpoint& checkpoint_;
  const OperatorGraph& graph_;
  std::int64_t difference_ = 0, said_ = 0;  // parameters of the decoder beyond those counted
  std::vector<std::string> lines_;
  std::map<std::string, std::vector<std::size_t>> by_text_;
};

OperatorGraph counting_graph(const ModelSpec& spec) {
  Configuration step{.model = spec.id, .precision = Precision::uniform("bf16", Dtype::bf16)};
  step.workload =
      spec.is_causal ? Workload{Phase::decode, 1, 1, 1} : Workload{Phase::prefill, 1, 1, 1};
  auto built = build_graph(spec, step);
  if (const auto* why = built.why()) throw refused(why->reason + ": " + why->text, spec.id);
  return *std::move(built);
}

// Encoders and towers that the configuration prices are parts by their names.
void compare(const ModelSpec& spec, const Checkpoint& checkpoint, WeightsReport& out) {
  const OperatorGraph graph = counting_graph(spec);
  out.counted_parameters = graph.totals.parameters;
  if (checkpoint.parameters == *out.counted_parameters) {
    out.decoder_parameters = checkpoint.parameters;
    out.parts.clear();
    return;
  }
  // A head that is stored though it is tied is the table again.
  if (spec.tied && checkpoint.head) out.decoder_parameters -= checkpoint.head->values();
  if (out.decoder_parameters == *out.counted_parameters) return;
  const std::int64_t difference = out.decoder_parameters - *out.counted_parameters;
  out.differences = Comparison(spec, checkpoint, graph, difference).run();
  if (out.differences.size() <= differences_max) return;
  out.left_out = out.differences.size() - differences_max;
  out.differences.resize(differences_max);
}

std::int64_t experts_in(const Checkpoint& checkpoint) {
  std::int64_t out = 0;
  for (const StoredLayer& layer : checkpoint.layers) {
    for (const StoredMatrix& m : layer.matrices) out = std::max(out, m.experts);
  }
  return out;
}

}  // namespace

double left_out_share(const CheckpointPart& part, const OperatorGraph& graph) {
  const auto own = as_double(part.parameters);
  return own > 0 ? own / (own + as_double(graph.totals.active_parameters)) : 0;
}

std::int64_t priced_bytes(const OperatorGraph& graph) {
  std::int64_t out = 0, table = 0;
  for (const Operator& op : graph.operators) {
    if (op.kind == OperatorKind::embedding && table == 0) table = op.weight_bytes_whole;
    const bool is_table_again =
        graph.spec.tied && op.kind == OperatorKind::head && op.weight_bytes_whole == table;
    if (!graph.is_prediction(op) && !is_table_again) out += op.count * op.weight_bytes_whole;
  }
  return out;
}

std::int64_t WeightsReport::decoder_bytes() const {
  std::int64_t out = bytes;
  for (const CheckpointPart& part : parts) out -= part.bytes;
  return out;
}

WeightsReport report_of(const WeightsHeader& header, const ModelSpec& spec) {
  Checkpoint checkpoint = checkpoint_of(header);
  WeightsReport out{.place = header.place,
                    .files = header.files,
                    .tensors = std::ssize(header.tensors),
                    .layers = std::ssize(checkpoint.layers),
                    .experts = experts_in(checkpoint),
                    .parameters = checkpoint.parameters,
                    .bytes = checkpoint.bytes,
                    .types = checkpoint.types,
                    .parts = checkpoint.parts,
                    .decoder_parameters = checkpoint.decoder_parameters(),
                    .absent_bytes = header.absent_bytes};
  if (!spec.stored_layers) compare(spec, checkpoint, out);
  return out;
}

Json weights_json(const WeightsReport& report, const OperatorGraph& graph) {
  Json types = Json::array();
  for (const auto& [name, stored] : report.types) {
    types.push_back({{"type", name}, {"tensors", stored.tensors}, {"bytes", stored.bytes}});
  }
  Json parts = json_list(report.parts, [&](const CheckpointPart& part) -> Json {
    return {{"name", part.name},
            {"params", part.parameters},
            {"bytes", part.bytes},
            {"left_out_pct", 100 * left_out_share(part, graph)}};
  });
  const auto& counted = report.counted_parameters;
  return {{"place", report.place},
          {"files", report.files},
          {"tensors", report.tensors},
          {"layers", report.layers},
          {"experts", report.experts},
          {"params", report.parameters},
          {"bytes", report.bytes},
          {"types", std::move(types)},
          {"not_priced", std::move(parts)},
          {"decoder_params", report.decoder_parameters},
          {"decoder_bytes", report.decoder_bytes()},
          {"priced_bytes", priced_bytes(graph)},
          {"counted_params", counted ? Json(*counted) : Json(nullptr)},
          {"differences", report.differences},
          {"differences_left_out", report.left_out},
          {"absent_bytes", report.absent_bytes}};
}

}  // namespace halmark
