#include "kernel.hpp"

#include <algorithm>
#include <cstring>

#include <halmark_plugin.hpp>

namespace hm_cpu {

void unsupported(const std::string& reason) {
  throw halmark::plugin::failure(HM_UNSUPPORTED, reason);
}

void invalid(const std::string& reason) {
  throw halmark::plugin::failure(HM_INVALID_ARGUMENT, reason);
}

const hm_param* Params::find(std::string_view name) const {
  const hm_param* end = values_ + count_;
  const hm_param* found =
      std::find_if(values_, end, [&](const hm_param& param) { return name == param.name; });
  return found == end ? nullptr : found;
}

std::int64_t Params::at(std::string_view name) const {
  const hm_param* found = find(name);
  if (found == nullptr) unsupported("parameter '" + std::string(name) + "' is missing");
  return found->value;
}

std::int64_t Params::value_or(std::string_view name, std::int64_t fallback) const {
  const hm_param* found = find(name);
  return found == nullptr ? fallback : found->value;
}

std::int64_t Params::size(std::string_view name) const {
  const std::int64_t value = at(name);
  if (value < 1) unsupported("parameter '" + std::string(name) + "' must be at least 1");
  return value;
}

void Params::reject_unknown(std::initializer_list<std::string_view> known) const {
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (std::find(known.begin(), known.end(), values_[i].name) == known.end()) {
      unsupported("unknown parameter '" + std::string(values_[i].name) + "'");
    }
  }
}

std::int64_t width_bytes(std::int32_t dtype) {
  const std::int64_t bits = halmark::plugin::dtype_bits(dtype);
  if (bits == 0 || bits % 8 != 0) unsupported("dtype number " + std::to_string(dtype));
  return bits / 8;
}

std::string_view dtype_name(std::int32_t dtype) {
  switch (dtype) {
    case HM_DTYPE_F64:
      return "f64";
    case HM_DTYPE_F32:
      return "f32";
    case HM_DTYPE_F16:
      return "f16";
    case HM_DTYPE_BF16:
      return "bf16";
    case HM_DTYPE_S32:
      return "s32";
    case HM_DTYPE_S8:
      return "s8";
    case HM_DTYPE_U8:
      return "u8";
    default:
      return "another dtype";
  }
}

std::uint64_t plain_bytes(const Operand& operand) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : operand.dims) elements *= dim;
  return static_cast<std::uint64_t>(elements * width_bytes(operand.dtype));
}

void Prepared::load_constants(void* const* packed, const void* const* plain) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].role != HM_ROLE_CONSTANT) continue;
    std::memcpy(packed[i], plain[i], plain_bytes(operands[i]));
  }
}

}  // namespace hm_cpu
