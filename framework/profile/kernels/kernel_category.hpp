// What the category of a kernel says about the operators that it can be.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "model/graph/graph.hpp"

namespace halmark {

struct KernelCategory {
  enum class Kind {
    product,      // matrix products of one type: one row, one operator
    whole,        // one thing that may be several operators: rows are all of them
    single,       // rows are single operators
    bookkeeping,  // like single, and no graph has to price it
    overhead,
  };
  std::string_view name;
  Kind kind = Kind::single;
  std::optional<Dtype> dtype = std::nullopt;  // of its matrix products
  bool (*claims)(const Operator&) = nullptr;
};

// Nothing for a category that is not known.
const KernelCategory* find_kernel_category(std::string_view name);
std::span<const KernelCategory> all_kernel_categories();

// f8_e5m2 is fp8 too, and tf32 runs where f32 was asked for.
bool is_same_class(Dtype a, Dtype b);

}  // namespace halmark
