// The values of the C++ sugar: parameters, domains, element types, operands, and the failure that
// carries a status. No handle and no table: a kernel's own file needs nothing more than this.
#pragma once

#include <halmark_plugin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halmark::plugin {

// What a backend throws to answer with a status other than HM_INTERNAL.
class failure : public std::runtime_error {
 public:
  failure(std::int32_t code, const std::string& text, std::int64_t vendor = 0)
      : std::runtime_error(text), code(code == HM_OK ? HM_INTERNAL : code), vendor(vendor) {}
  std::int32_t code;
  std::int64_t vendor;  // the vendor API's own code; 0 = none
};

[[noreturn]] inline void unsupported(const std::string& reason) {
  throw failure(HM_UNSUPPORTED, reason);
}
// For what the host got wrong; `unsupported` is for problems that this backend cannot do.
[[noreturn]] inline void invalid(const std::string& reason) {
  throw failure(HM_INVALID_ARGUMENT, reason);
}

// Copies at most `capacity` - 1 bytes and terminates; a cut never leaves half a UTF-8 character.
inline void copy_text(char* target, std::size_t capacity, std::string_view text) noexcept {
  std::size_t length = std::min(text.size(), capacity - 1);
  if (length < text.size()) {
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0u) == 0x80u) --length;
  }
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}
template <std::size_t N>
void copy_text(char (&target)[N], std::string_view text) noexcept {
  copy_text(target, N, text);
}

// A view of problem or config parameters, valid for the call; a NULL config reads as empty.
class Params {
 public:
  Params() = default;
  Params(const hm_param* values, std::size_t count) : params_(values), count_(count) {}
  Params(const hm_problem& problem) : params_(problem.params), count_(problem.count) {}
  Params(const hm_problem* problem) : Params(*problem) {}
  Params(const hm_config& config) : params_(config.params), count_(config.count) {}
  Params(const hm_config* config) {
    if (config != nullptr) *this = Params(*config);
  }
  const hm_param* begin() const { return params_; }
  const hm_param* end() const { return params_ + count_; }
  bool empty() const { return count_ == 0; }
  const hm_param* find(std::string_view name) const {
    const hm_param* found =
        std::find_if(begin(), end(), [&](const hm_param& param) { return name == param.name; });
    return found == end() ? nullptr : found;
  }
  std::int64_t value_or(std::string_view name, std::int64_t fallback) const {
    const hm_param* found = find(name);
    return found == nullptr ? fallback : found->value;
  }
  // HM_UNSUPPORTED with the name when the parameter is absent.
  std::int64_t at(std::string_view name) const {
    const hm_param* found = find(name);
    if (found == nullptr) unsupported("parameter '" + std::string(name) + "' is missing");
    return found->value;
  }
  // A size: at() that is at least 1, else HM_UNSUPPORTED.
  std::int64_t extent(std::string_view name) const {
    const std::int64_t value = at(name);
    if (value < 1) unsupported("parameter '" + std::string(name) + "' must be at least 1");
    return value;
  }
  // An HM_DTYPE_* number; whether the kernel takes it is for the kernel to say.
  std::int32_t dtype(std::string_view name) const { return static_cast<std::int32_t>(at(name)); }

 private:
  const hm_param* params_ = nullptr;
  std::size_t count_ = 0;
};

inline std::int64_t param_or(Params params, std::string_view name, std::int64_t fallback) {
  return params.value_or(name, fallback);
}
inline std::int64_t require_param(Params params, std::string_view name) { return params.at(name); }

// HM_UNSUPPORTED with the name for a parameter that is not listed: ignoring it would measure
// something else than what was asked for.
inline void reject_unknown(Params params, std::initializer_list<std::string_view> known) {
  for (const hm_param& param : params) {
    if (std::find(known.begin(), known.end(), param.name) == known.end()) {
      unsupported("unknown parameter '" + std::string(param.name) + "'");
    }
  }
}

// One tunable parameter. Categorical domains have one label per value.
struct Domain {
  std::string name;
  std::int32_t kind = HM_DOMAIN_LIST;
  std::uint32_t flags = 0;
  std::vector<std::int64_t> values;
  std::vector<std::string> labels;
  std::int64_t default_value = 0;
};

namespace domain {
inline Domain list(std::string name, std::vector<std::int64_t> values, std::int64_t fallback) {
  return {std::move(name), HM_DOMAIN_LIST, 0, std::move(values), {}, fallback};
}
inline Domain ordered(std::string name, std::vector<std::int64_t> values, std::int64_t fallback) {
  return {std::move(name), HM_DOMAIN_LIST, HM_DOMAIN_ORDERED, std::move(values), {}, fallback};
}
inline Domain range(std::string name, std::int64_t low, std::int64_t high, std::int64_t step,
                    std::int64_t fallback) {
  return {std::move(name), HM_DOMAIN_RANGE, HM_DOMAIN_ORDERED, {low, high, step}, {}, fallback};
}
inline Domain pow2(std::string name, std::int64_t low, std::int64_t high, std::int64_t fallback) {
  return {std::move(name), HM_DOMAIN_POW2, HM_DOMAIN_ORDERED, {low, high}, {}, fallback};
}
// Value i means labels[i]; records keep the label, because indices change between library versions.
inline Domain categorical(std::string name, std::vector<std::string> labels,
                          std::int64_t fallback = 0) {
  std::vector<std::int64_t> values(labels.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i);
  return {std::move(name),   HM_DOMAIN_LIST,    HM_DOMAIN_CATEGORICAL,
          std::move(values), std::move(labels), fallback};
}
}  // namespace domain

// HM_UNSUPPORTED for a config that names no domain of these, or a value outside its domain.
inline void reject_outside(const std::vector<Domain>& domains, Params config) {
  const auto holds = [](const Domain& domain, std::int64_t value) {
    const std::vector<std::int64_t>& v = domain.values;
    switch (domain.kind) {
      case HM_DOMAIN_RANGE:
        return value >= v[0] && value <= v[1] && (value - v[0]) % v[2] == 0;
      case HM_DOMAIN_POW2:
        return value >= v[0] && value <= v[1] && (value & (value - 1)) == 0;
      default:
        return std::find(v.begin(), v.end(), value) != v.end();
    }
  };
  for (const hm_param& param : config) {
    const auto domain = std::find_if(domains.begin(), domains.end(),
                                     [&](const Domain& d) { return d.name == param.name; });
    if (domain == domains.end()) {
      unsupported("unknown parameter '" + std::string(param.name) + "'");
    }
    if (!holds(*domain, param.value)) {
      unsupported("value " + std::to_string(param.value) + " is outside the domain of '" +
                  domain->name + "'");
    }
  }
}

// Width of one element in memory; 0 for an unknown number.
constexpr std::int64_t dtype_bits(std::int64_t dtype) {
  switch (dtype) {
    case HM_DTYPE_C128:
      return 128;
    case HM_DTYPE_F64:
    case HM_DTYPE_S64:
    case HM_DTYPE_U64:
    case HM_DTYPE_C64:
      return 64;
    case HM_DTYPE_F32:
    case HM_DTYPE_TF32:
    case HM_DTYPE_S32:
    case HM_DTYPE_U32:
      return 32;
    case HM_DTYPE_F16:
    case HM_DTYPE_BF16:
    case HM_DTYPE_S16:
    case HM_DTYPE_U16:
      return 16;
    case HM_DTYPE_F8_E4M3FN:
    case HM_DTYPE_F8_E5M2:
    case HM_DTYPE_F8_E4M3FNUZ:
    case HM_DTYPE_F8_E5M2FNUZ:
    case HM_DTYPE_F8_E8M0:
    case HM_DTYPE_S8:
    case HM_DTYPE_U8:
      return 8;
    case HM_DTYPE_F6_E3M2:
    case HM_DTYPE_F6_E2M3:
      return 6;
    case HM_DTYPE_F4_E2M1:
    case HM_DTYPE_S4:
    case HM_DTYPE_U4:
      return 4;
    case HM_DTYPE_S2:
      return 2;
    case HM_DTYPE_U1:
      return 1;
    default:
      return 0;
  }
}

// The name that the host prints, for messages; "unknown dtype" for another number.
constexpr std::string_view dtype_name(std::int64_t dtype) {
  constexpr std::string_view names[] = {
      "f64",         "f32",         "tf32",    "f16",     "bf16",    "f8_e4m3fn", "f8_e5m2",
      "f8_e4m3fnuz", "f8_e5m2fnuz", "f8_e8m0", "f6_e3m2", "f6_e2m3", "f4_e2m1",   "s64",
      "s32",         "s16",         "s8",      "s2",      "s4",      "u64",       "u32",
      "u16",         "u8",          "u4",      "u1",      "c64",     "c128",
  };
  constexpr std::int64_t count = std::size(names);
  return dtype < 1 || dtype > count ? "unknown dtype" : names[dtype - 1];
}

// Bytes of one element; HM_UNSUPPORTED for types whose elements share a byte.
inline std::int64_t element_bytes(std::int64_t dtype) {
  const std::int64_t bits = dtype_bits(dtype);
  if (bits == 0 || bits % 8 != 0) {
    unsupported("elements of dtype " + std::to_string(dtype) + " (" +
                std::string(dtype_name(dtype)) + ")");
  }
  return bits / 8;
}

// Describes a plain row-major operand: strides in elements, rows padded to a byte.
inline void plain_operand(hm_operand& out, std::string_view name, std::int32_t role,
                          std::int64_t dtype, const std::vector<std::int64_t>& dims,
                          std::uint64_t alignment = 64) {
  if (dims.empty() || dims.size() > HM_RANK_MAX) throw failure(HM_INTERNAL, "operand rank");
  out.role = role;
  out.dtype = static_cast<std::int32_t>(dtype);
  out.rank = static_cast<std::uint32_t>(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    out.dims[i] = dims[i];
    out.strides[i] = stride;
    stride *= dims[i];
  }
  const std::int64_t rows = dims.back() == 0 ? 0 : stride / dims.back();
  out.bytes = static_cast<std::uint64_t>(rows * ((dims.back() * dtype_bits(dtype) + 7) / 8));
  out.alignment = alignment;
  copy_text(out.name, name);
  copy_text(out.layout, std::string_view("abcdefgh").substr(0, dims.size()));
}

// One operand of a prepared kernel as plain values, for backends that keep them beside their code.
struct Operand {
  std::string name;  // the contract's
  std::int32_t role = HM_ROLE_INPUT;
  std::int32_t dtype = HM_DTYPE_F32;
  std::vector<std::int64_t> dims;  // row-major unless opaque
  std::uint64_t bytes = 0;         // as stored; 0 = the size of the plain layout
  std::string opaque_layout;       // not empty = packed by load_constants; strides mean nothing
};

inline void describe(const Operand& operand, hm_operand& out) {
  plain_operand(out, operand.name, operand.role, operand.dtype, operand.dims);
  if (operand.bytes != 0) out.bytes = operand.bytes;
  if (operand.opaque_layout.empty()) return;
  std::fill(std::begin(out.strides), std::end(out.strides), 0);
  copy_text(out.layout, operand.opaque_layout);
}

// Bytes in plain row-major layout, as load_constants finds its sources.
inline std::uint64_t plain_bytes(const Operand& operand) {
  hm_operand plain{};
  plain_operand(plain, operand.name, operand.role, operand.dtype, operand.dims);
  return plain.bytes;
}
// Bytes of the operand's buffer.
inline std::uint64_t stored_bytes(const Operand& operand) {
  return operand.bytes != 0 ? operand.bytes : plain_bytes(operand);
}

// What `prepare` chose, as plain values.
struct PreparedInfo {
  std::string
      implementation;  // verbatim from the library, or a name of the backend's own; never ""
  std::string isa;     // avx2, avx512_core, sm_90, ...; "" = unknown
  std::string library, library_version;
  std::uint64_t workspace_bytes = 0;
  std::uint32_t launches_per_execution = 1;
  std::uint32_t flags = 0;  // HM_PREPARED_*
};

// The number of operands and the bytes of packed constants follow from the operands.
inline void describe(const PreparedInfo& info, const std::vector<Operand>& operands,
                     hm_prepared_info& out) {
  out.flags = info.flags;
  out.operand_count = static_cast<std::uint32_t>(operands.size());
  out.launches_per_execution = info.launches_per_execution;
  out.workspace_bytes = info.workspace_bytes;
  out.constant_bytes = 0;
  for (const Operand& operand : operands) {
    if (operand.role == HM_ROLE_CONSTANT) out.constant_bytes += stored_bytes(operand);
  }
  copy_text(out.implementation, info.implementation);
  copy_text(out.isa, info.isa);
  copy_text(out.library, info.library);
  copy_text(out.library_version, info.library_version);
}

}  // namespace halmark::plugin
