#include "onednn.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "isa.hpp"

namespace hm_cpu {

using dnnl::matmul;
using dnnl::memory;

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + '.' + std::to_string(version->minor) + '.' +
         std::to_string(version->patch);
}

// The library has a ceiling on x86-64 only.
#if defined(__x86_64__)
namespace {

#if DNNL_VERSION_MAJOR >= 3
constexpr dnnl::cpu_isa no_ceiling = dnnl::cpu_isa::isa_default;
#else
constexpr dnnl::cpu_isa no_ceiling = dnnl::cpu_isa::all;
#endif

dnnl::cpu_isa onednn_isa(Isa isa) {
  switch (isa) {
    case Isa::generic:
      return dnnl::cpu_isa::sse41;
    case Isa::avx2:
      return dnnl::cpu_isa::avx2;
    case Isa::avx512:
      return dnnl::cpu_isa::avx512_core;
    case Isa::avx512_vnni:
      return dnnl::cpu_isa::avx512_core_vnni;
    case Isa::avx512_bf16:
      return dnnl::cpu_isa::avx512_core_bf16;
    case Isa::amx:
      return no_ceiling;
  }
  return no_ceiling;
}

// The enumerators' numbers differ between library versions, so only names are compared.
Isa effective_isa() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
    case dnnl::cpu_isa::avx:
      return Isa::generic;
    case dnnl::cpu_isa::avx2:
    case dnnl::cpu_isa::avx2_vnni:
      return Isa::avx2;
    case dnnl::cpu_isa::avx512_core:
      return Isa::avx512;
    case dnnl::cpu_isa::avx512_core_vnni:
      return Isa::avx512_vnni;
    case dnnl::cpu_isa::avx512_core_bf16:
      return Isa::avx512_bf16;
    default:
      break;
  }
#if DNNL_VERSION_MAJOR >= 3
  if (dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx512_core_fp16) return Isa::avx512_bf16;
  if (dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx2_vnni_2) return Isa::avx2;
#endif
  return Isa::amx;
}

}  // namespace
#endif

Isa limit_onednn(Isa ceiling) {
#if defined(__x86_64__)
  const dnnl::status set = dnnl::set_max_cpu_isa(onednn_isa(ceiling));
  const Isa effective = effective_isa();
  const Isa expected = std::min(ceiling, detect_isa());
  const bool is_late = set != dnnl::status::success;
  if (effective > ceiling || (is_late && effective < expected)) {
    unsupported("oneDNN already runs under the isa ceiling '" + std::string(isa_label(effective)) +
                "' in this process");
  }
  // Lower without our doing: the library's own environment variable, or tiles it may not use.
  return std::min(expected, effective);
#else
  static_cast<void>(ceiling);
  return Isa::generic;
#endif
}

std::string isa_of_implementation(const std::string& implementation) {
  // Longest names first: each is a part of the next. oneDNN 3 calls the path with f16 after AVX10.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 13> known = {{
      {"avx10_1_512_amx", "avx512_core_amx"},
      {"avx10_2_amx", "avx512_core_amx"},
      {"avx10_2_512_amx", "avx512_core_amx"},
      {"avx10_1_512", "avx512_core_fp16"},
      {"avx10_2", "avx512_core_fp16"},
      {"avx512_core_amx", "avx512_core_amx"},
      {"avx512_core_fp16", "avx512_core_fp16"},
      {"avx512_core_bf16", "avx512_core_bf16"},
      {"avx512_core_vnni", "avx512_core_vnni"},
      {"avx512_core", "avx512_core"},
      {"avx2_vnni", "avx2_vnni"},
      {"avx2", "avx2"},
      {"sse41", "sse41"},
  }};
  for (const auto& [part, key] : known) {
    if (implementation.find(part) != std::string::npos) return std::string(key);
  }
  return "";
}

memory::data_type onednn_dtype(std::int32_t dtype) {
  switch (dtype) {
    case HM_DTYPE_F32:
      return memory::data_type::f32;
    case HM_DTYPE_BF16:
      return memory::data_type::bf16;
    case HM_DTYPE_F16:
      return memory::data_type::f16;
    case HM_DTYPE_S32:
      return memory::data_type::s32;
    case HM_DTYPE_S8:
      return memory::data_type::s8;
    case HM_DTYPE_U8:
      return memory::data_type::u8;
    default:
      unsupported("dtype " + std::string(dtype_name(dtype)) + " in oneDNN");
  }
}

memory::desc plain_weights(const MatmulShape& shape) {
  return {{shape.k, shape.n},
          onednn_dtype(shape.wei_dtype),
          shape.wei_trans ? memory::format_tag::ba : memory::format_tag::ab};
}

namespace {

// Calls visit(descriptor) for each implementation in the library's order until it returns true. All
// happens in here because oneDNN 2.x keeps a pointer to the op descriptor for next_impl().
template <typename Visit>
void visit_implementations(const dnnl::engine& engine, const MatmulShape& shape, Visit&& visit) {
  const memory::desc src({shape.m, shape.k}, onednn_dtype(shape.src_dtype), memory::format_tag::ab);
  const memory::desc dst({shape.m, shape.n}, onednn_dtype(shape.dst_dtype), memory::format_tag::ab);
  const memory::desc weights =
      shape.weights != nullptr ? *shape.weights
      : shape.packed
          ? memory::desc({shape.k, shape.n}, onednn_dtype(shape.wei_dtype), memory::format_tag::any)
          : plain_weights(shape);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(shape.has_own_scratchpad ? dnnl::scratchpad_mode::library
                                                          : dnnl::scratchpad_mode::user);
  // An empty descriptor, not an exception, when the library has nothing for the shape.
#if DNNL_VERSION_MAJOR >= 3
  matmul::primitive_desc candidate(engine, src, weights, dst, attributes, true);
#else
  const matmul::desc op(src, weights, dst);
  matmul::primitive_desc candidate(op, attributes, engine, true);
#endif
  if (!candidate) return;
  do {
    if (visit(candidate)) return;
  } while (candidate.next_impl());
}

}  // namespace

std::optional<matmul::primitive_desc> matmul_implementation(const dnnl::engine& engine,
                                                            const MatmulShape& shape,
                                                            const std::string& label) {
  std::optional<matmul::primitive_desc> found;
  visit_implementations(engine, shape, [&](const matmul::primitive_desc& candidate) {
    if (!label.empty() && label != candidate.impl_info_str()) return false;
    found = candidate;
    return true;
  });
  return found;
}

std::vector<std::string> matmul_implementations(const dnnl::engine& engine,
                                                const MatmulShape& shape) {
  std::vector<std::string> labels;
  visit_implementations(engine, shape, [&](const matmul::primitive_desc& candidate) {
    const std::string label = candidate.impl_info_str();
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
    return false;
  });
  return labels;
}

}  // namespace hm_cpu
