#include "model/weights/checkpoint.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "model/weights/stored_module.hpp"

namespace halmark {

namespace {

using NameParts = std::vector<std::string_view>;

constexpr std::size_t layers_max = 4096;    // numbers of layers beyond are no layers
constexpr std::size_t matrices_max = 2048;  // of a layer, those of all experts as one
constexpr std::size_t parts_max = 32;       // that are named; the others are one

NameParts name_components(std::string_view name) {
  NameParts out;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    out.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::optional<std::size_t> layer_number(std::string_view text) {
  std::size_t out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool is_all = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return is_all && out < layers_max ? std::optional(out) : std::nullopt;
}

// "model.layers", 3, "mlp.down_proj" of "model.layers.3.mlp.down_proj".
struct LayerPlace {
  std::string stack;
  std::size_t layer = 0;
  std::string below;
};

std::string joined_names(const NameParts& names, std::size_t begin, std::size_t end) {
  std::string out;
  for (std::size_t i = begin; i < end; ++i) {
    append_item(out, ".", names[i]);
  }
  return out;
}

std::optional<LayerPlace> place_of(const std::string& module) {
  const NameParts names = name_components(module);
  for (std::size_t i = 1; i + 1 < names.size(); ++i) {
    const auto layer = layer_number(names[i]);
    if (!layer || names[i - 1] == "experts") continue;
    return LayerPlace{joined_names(names, 0, i), *layer, joined_names(names, i + 1, names.size())};
  }
  return std::nullopt;
}

// "mlp.experts.gate_proj" of "mlp.experts.12.gate_proj": those of all experts are one.
std::pair<std::string, bool> of_all_experts(const std::string& name) {
  const NameParts names = name_components(name);
  for (std::size_t i = 1; i + 1 < names.size(); ++i) {
    if (names[i - 1] != "experts" || !layer_number(names[i])) continue;
    return {joined_names(names, 0, i) + '.' + joined_names(names, i + 1, names.size()), true};
  }
  return {name, false};
}

bool has_word(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool is_beside_decoder(std::string_view name) {
  return has_word(name,
                  {"vision", "visual", "image", "audio", "speech", "projector", "mm_", "merger",
                   "resampler", "connector", "aligner", "adapter", "talker", "mtp"});
}

bool is_one_of(std::string_view last, std::initializer_list<std::string_view> names) {
  return contains(names, last);
}

bool names_embedding(std::string_view last) {
  return is_one_of(last, {"embed_tokens", "wte", "word_embeddings", "tok_embeddings", "token_embd",
                          "embed_in", "shared", "embed"});
}

bool names_head(std::string_view last) {
  return is_one_of(last, {"lm_head", "output", "embed_out", "output_layer", "head"});
}

// The stack with the most bytes is the decoder; the others are towers.
std::string decoder_of(const std::map<std::string, StoredModule>& modules) {
  std::map<std::string, std::int64_t> bytes;
  for (const auto& [name, module] : modules) {
    if (const auto place = place_of(name)) bytes[place->stack] += module.bytes;
  }
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& b) { return b.second; });
  return most == bytes.end() ? std::string() : most->first;
}

class Sorter {
 public:
  Sorter(const WeightsHeader& header, Checkpoint& out)
      : out_(out), place_(header.place), modules_(modules_of(header)) {
    out_.decoder = decoder_of(modules_);
    if (out_.decoder.empty()) {
      throw refused("has no layers: no name of its tensors has a number", header.place);
    }
    std::map<std::string, StoredModule> of_decoder;
    for (const auto& [name, module] : modules_) {
      const auto place = place_of(name);
      if (place && place->stack == out_.decoder) of_decoder.emplace(name, module);
    }
    widths_ = widths_of(of_decoder);
    out_.hidden = widths_.hidden;
    root_ = name_components(out_.decoder);
    root_.pop_back();
  }

  void sort() {
    find_predictors();
    for (const auto& [name, module] : modules_) {
      const auto matrix = matrix_of(name, module, widths_, place_);
      const std::int64_t values = values_of(module, matrix);
      out_.parameters += values;
      const auto place = place_of(name);
      const bool is_adapter = name.find("lora_") != std::string::npos;
      if (is_adapter) {
        add_part("low-rank adapters", module, values);
      } else if (place && place->stack == out_.decoder) {
        add_to_layer(*place, module, matrix, values);
      } else {
        add_outside(name, module, matrix, values, place.has_value());
      }
    }
    find_tables();
    while (!out_.layers.empty() && out_.layers.back().values() == 0) out_.layers.pop_back();
    if (!out_.layers.empty()) return;
    throw refused("has no layers" + (out_.parts.empty() ? "" : ", but " + out_.parts.front().name),
                  place_, "name the checkpoint of a whole model");
  }

 private:
  // Layers behind the last that predict further tokens.
  void find_predictors() {
    for (const auto& [name, module] : modules_) {
      const auto place = place_of(name);
      if (!place || place->stack != out_.decoder) continue;
      if (has_word(place->below, {"eh_proj", "nextn"})) predictors_.insert(place->layer);
    }
  }

  void add_part(const std::string& name, const StoredModule& module, std::int64_t values) {
    auto it = std::ranges::find(out_.parts, name, &CheckpointPart::name);
    const std::string rest = "other parts";
    if (it == out_.parts.end() && out_.parts.size() > parts_max && name != rest) {
      return add_part(rest, module, values);
    }
    if (it == out_.parts.end()) it = out_.parts.insert(it, {.name = name});
    it->parameters += values;
    it->bytes += module.bytes;
  }

  void add_to_layer(const LayerPlace& place, const StoredModule& module,
                    const std::optional<StoredMatrix>& matrix, std::int64_t values) {
    if (predictors_.contains(place.layer)) {
      return add_part("prediction modules", module, values);
    }
    if (out_.layers.size() <= place.layer) out_.layers.resize(place.layer + 1);
    StoredLayer& layer = out_.layers[place.layer];
    if (layer.matrices.size() == matrices_max) {
      throw refused("has more than " + std::to_string(matrices_max) + " matrices in layer " +
                        std::to_string(place.layer),
                    place_);
    }
    if (!matrix) {
      layer.vector_values += values;
      return;
    }
    layer.vector_values += values - matrix->values();
    StoredMatrix one = *matrix;
    const auto [below, is_expert] = of_all_experts(place.below);
    one.name = below;
    if (!is_expert) {
      layer.matrices.push_back(std::move(one));
      return;
    }
    one.experts = 1;
    one.kind = KernelKind::experts;
    const auto same = std::ranges::find_if(layer.matrices, [&](const StoredMatrix& m) {
      return m.name == below && m.rows == one.rows && m.columns == one.columns;
    });
    if (same == layer.matrices.end()) {
      layer.matrices.push_back(std::move(one));
    } else {
      ++same->experts;
    }
  }

  // Up to the first component in which it is not under the decoder's root.
  std::string part_of(const NameParts& names) const {
    std::size_t shared = 0;
    while (shared < root_.size() && shared + 1 < names.size() && names[shared] == root_[shared]) {
      ++shared;
    }
    return joined_names(names, 0, shared + 1);
  }

  void add_outside(const std::string& name, const StoredModule& module,
                   const std::optional<StoredMatrix>& matrix, std::int64_t values,
                   bool is_in_stack) {
    const NameParts names = name_components(name);
    const std::string part = part_of(names);
    // Above the root, or directly below it.
    const bool is_at_root = names.size() <= root_.size() + 1 &&
                            std::equal(names.begin(), names.end() - 1, root_.begin());
    const bool is_table = matrix && matrix->columns == out_.hidden && !is_in_stack;
    const bool is_embedding = names_embedding(names.back()) && !is_beside_decoder(name);
    if (is_table && is_embedding && !out_.embedding) {
      out_.embedding = matrix;
      out_.rest_values += values - matrix->values();
    } else if (is_table && is_at_root && names_head(names.back()) && !out_.head) {
      out_.head = matrix;
      out_.rest_values += values - matrix->values();
    } else if (is_beside_decoder(name) || is_in_stack || !is_under_root(names)) {
      add_part(part, module, values);
    } else if (is_table && !is_embedding) {
      unnamed_.push_back(*matrix);
      out_.rest_values += values;
    } else {
      out_.rest_values += values;
    }
  }

  bool is_under_root(const NameParts& names) const {
    const std::size_t n = std::min(root_.size(), names.size() - 1);
    return std::equal(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(n), root_.begin());
  }

  // By their rows, where no name says which they are.
  void find_tables() {
    std::ranges::sort(unnamed_, std::greater(), &StoredMatrix::rows);
    for (const StoredMatrix& matrix : unnamed_) {
      const std::int64_t vocab = out_.embedding ? out_.embedding->rows : unnamed_.front().rows;
      if (matrix.rows != vocab) continue;
      std::optional<StoredMatrix>& to = out_.embedding ? out_.head : out_.embedding;
      if (to) continue;
      to = matrix;
      out_.rest_values -= matrix.values();
    }
  }

  Checkpoint& out_;
  std::string place_;
  std::map<std::string, StoredModule> modules_;
  ModelWidths widths_;
  NameParts root_;
  std::set<std::size_t> predictors_;
  std::vector<StoredMatrix> unnamed_;
};

}  // namespace

std::int64_t Checkpoint::decoder_parameters() const {
  std::int64_t out =
      rest_values + (embedding ? embedding->values() : 0) + (head ? head->values() : 0);
  for (const StoredLayer& layer : layers) out += layer.values();
  return out;
}

Checkpoint checkpoint_of(const WeightsHeader& header) {
  Checkpoint out;
  for (const StoredTensor& tensor : header.tensors) {
    StoredBytes& of_type = out.types[tensor.type];
    ++of_type.tensors;
    of_type.bytes += tensor.bytes;
    out.bytes += tensor.bytes;
  }
  Sorter(header, out).sort();
  return out;
}

}  // namespace halmark
