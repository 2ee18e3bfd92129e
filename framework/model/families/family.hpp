// A model family: which configurations it reads and which operators it executes. One file per
// family in families/, one line in families/table.cpp.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/graph/builder.hpp"
#include "model/spec/config_reader.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark {

struct Family {
  std::string_view name;
  std::initializer_list<std::string_view> model_types;
  // Fills the architecture; throws Error (exit 2) naming the field.
  void (*read)(ConfigReader& config, ModelSpec& spec);
  // Emits layer types, their operators in execution order, and the type of every layer.
  void (*build)(const ModelSpec& spec, GraphBuilder& builder);
  // The layer inside a multi-token-prediction module: its operators from the first norm to the last
  // residual addition. Families without modules have none.
  void (*predict)(const ModelSpec& spec, GraphBuilder& builder) = nullptr;
  // How a module joins hidden state and embedding, where one product of both is not how.
  void (*join)(const ModelSpec& spec, GraphBuilder& builder) = nullptr;
};

std::span<const Family* const> all_families();
const Family* find_family(std::string_view name);
const Family* family_of_model_type(std::string_view model_type);

// An architecture that is known and refused. `nearest`: the known type that is most like it; empty
// where none is.
struct Unmodelled {
  std::string_view model_type, reason, nearest;
};
const Unmodelled* find_unmodelled(std::string_view model_type);

// Every model_type of the table, sorted, and the one nearest to `model_type`; empty where none is
// near.
std::vector<std::string> known_model_types();
std::string nearest_model_type(std::string_view model_type);

}  // namespace halmark
