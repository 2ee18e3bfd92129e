// The kinds of kernels that have a type of their own, by name. One table says what a kind is called
// and which field it is: a ninth kind is one row and one field.
#include "core/chosen/precision.hpp"

#include <algorithm>
#include <utility>

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"

namespace halmark {

namespace {

const KernelKindRow& row_of(KernelKind kind) {
  return kernel_kinds[static_cast<std::size_t>(kind)];
}

static_assert(has_row_of_each(kernel_kinds, &KernelKindRow::kind));

constexpr auto packed_names =
    enum_names<PackedWeights>("as_stated", "mxfp4", "nvfp4", "weights_only", "awq", "gptq");

}  // namespace

std::string_view packed_weights_name(PackedWeights weights) { return packed_names.of(weights); }

std::optional<PackedWeights> parse_packed_weights(std::string_view text) {
  return packed_names.parse(text);
}

Precision Precision::uniform(std::string name, Dtype dtype) {
  Precision out{.name = std::move(name)};
  for (const KernelKindRow& row : kernel_kinds) out.*row.field = dtype;
  return out;
}

Dtype Precision::of(KernelKind kind) const { return this->*row_of(kind).field; }

void Precision::set(KernelKind kind, Dtype dtype) { this->*row_of(kind).field = dtype; }

void Precision::set_linears(Dtype dtype) { qkv = output = ffn = experts = dtype; }

std::string_view kernel_kind_name(KernelKind kind) { return row_of(kind).name; }

std::optional<KernelKind> parse_kernel_kind(std::string_view text) {
  const auto* row = find_or_null(kernel_kinds, text, &KernelKindRow::name);
  if (!row) return std::nullopt;
  return row->kind;
}

std::vector<std::string> kernel_kind_names() {
  std::vector<std::string> out;
  for (const KernelKindRow& row : kernel_kinds) out.emplace_back(row.name);
  return out;
}

}  // namespace halmark
