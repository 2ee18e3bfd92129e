// The kinds of kernels that have a type of their own, by name. One table says what a kind is called
// and which field it is: a ninth kind is one row and one field.
#include "core/chosen/precision.hpp"

#include <algorithm>
#include <utility>

namespace halmark {

namespace {

const KernelKindRow& row_of(KernelKind kind) {
  return kernel_kinds[static_cast<std::size_t>(kind)];
}

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kernel_kinds.size(); ++i) {
    if (static_cast<std::size_t>(kernel_kinds[i].kind) != i) return false;
  }
  return true;
}
static_assert(is_in_order(), "row_of indexes the table by kind");

constexpr std::array<std::pair<PackedWeights, std::string_view>, 6> packed_names = {
    {{PackedWeights::as_stated, "as_stated"},
     {PackedWeights::mxfp4, "mxfp4"},
     {PackedWeights::nvfp4, "nvfp4"},
     {PackedWeights::weights_only, "weights_only"},
     {PackedWeights::awq, "awq"},
     {PackedWeights::gptq, "gptq"}}};

}  // namespace

std::string_view packed_weights_name(PackedWeights weights) {
  return packed_names[static_cast<std::size_t>(weights)].second;
}

std::optional<PackedWeights> parse_packed_weights(std::string_view text) {
  for (const auto& [weights, name] : packed_names) {
    if (name == text) return weights;
  }
  return std::nullopt;
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
  const auto row = std::ranges::find(kernel_kinds, text, &KernelKindRow::name);
  if (row == kernel_kinds.end()) return std::nullopt;
  return row->kind;
}

std::vector<std::string> kernel_kind_names() {
  std::vector<std::string> out;
  for (const KernelKindRow& row : kernel_kinds) out.emplace_back(row.name);
  return out;
}

}  // namespace halmark
