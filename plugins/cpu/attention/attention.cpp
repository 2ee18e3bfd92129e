// The attention kernel. Its halves split the work over the team (decode.cpp, prefill.cpp); what one
// thread does with its piece is in simd/, once per instruction set.
#include <algorithm>

#include "isa.hpp"
#include "prepared.hpp"

namespace hm_cpu {
namespace {

bool is_float(std::int32_t dtype) { return dtype == HM_DTYPE_F32 || dtype == HM_DTYPE_BF16; }

// Ways through the arithmetic, each better than the one before where it can be taken at all; their
// labels are those of the domain `impl`.
struct Path {
  std::string_view label;
  Isa isa;
  const AttentionParts& (*parts)();
  bool is_of_pairs;  // many rows of bf16 against bf16
};

std::span<const Path> all_paths() {
  static const Path paths[] = {
    {"generic", Isa::generic, attention_parts_generic, false},
#if defined(__x86_64__)
    {"avx2", Isa::avx2, attention_parts_avx2, false},
    {"avx512", Isa::avx512, attention_parts_avx512, false},
    {"avx512_bf16", Isa::avx512_bf16, attention_parts_avx512_bf16, true},
    {"amx_bf16", Isa::amx, attention_parts_amx_bf16, true},
#endif
  };
  return paths;
}

// Tiles that compute something else, as an emulated processor's might, are left alone.
bool is_right(const Path& path) {
#if defined(__x86_64__)
  static const bool are_tiles_right = detect_isa() == Isa::amx && amx_bf16_is_right();
  if (path.isa == Isa::amx) return are_tiles_right;
#endif
  static_cast<void>(path);
  return true;
}

// Those that this problem can take here; the last one is the best.
std::span<const Path> paths_for(const Device& device, const AttentionShape& shape) {
  const bool is_of_pairs = shape.rows() > stream_rows_max && shape.q_dtype == HM_DTYPE_BF16 &&
                           shape.kv_dtype == HM_DTYPE_BF16;
  const std::span<const Path> all = all_paths();
  const auto first_refused = std::find_if(all.begin(), all.end(), [&](const Path& path) {
    return path.isa > device.isa || (path.is_of_pairs && !is_of_pairs) || !is_right(path);
  });
  return all.first(static_cast<std::size_t>(first_refused - all.begin()));
}

class AttentionKernel : public Kernel {
 public:
  std::string_view name() const override { return "flash_attention"; }
  std::string_view op() const override { return "attention"; }

  std::vector<Domain> domains(const Device& device, const Params& problem) const override {
    std::vector<std::string> labels;
    for (const Path& path : paths_for(device, AttentionShape(problem))) {
      labels.emplace_back(path.label);
    }
    const auto best = static_cast<std::int64_t>(labels.size()) - 1;
    return {domain::categorical("impl", std::move(labels), best)};
  }

  void require_support(const Device&, const Params& problem, const Params& config) const override {
    reject_unknown(problem, {"batch", "heads", "kv_heads", "head_dim", "new_tokens", "context",
                             "causal", "window", "q_dtype", "kv_dtype", "dst_dtype"});
    reject_unknown(config, {"impl"});
    const AttentionShape shape(problem);
    if (shape.heads % shape.kv_heads != 0) unsupported("heads must be a multiple of kv_heads");
    if (shape.new_tokens > shape.context) unsupported("new_tokens must not exceed context");
    if (shape.window < 0) unsupported("window must not be negative");
    for (const std::int32_t dtype : {shape.q_dtype, shape.kv_dtype, shape.dst_dtype}) {
      if (!is_float(dtype)) {
        unsupported("attention takes f32 and bf16, not " + std::string(dtype_name(dtype)));
      }
    }
  }

  std::unique_ptr<Prepared> prepare(const Device& device, const Params& problem,
                                    const Params& config, Comm*) const override {
    const AttentionShape shape(problem);
    const std::span<const Path> paths = paths_for(device, shape);
    const auto best = static_cast<std::int64_t>(paths.size()) - 1;
    const Path& path = paths[static_cast<std::size_t>(config.value_or("impl", best))];
    const bool is_decode = shape.rows() <= stream_rows_max;
    std::unique_ptr<Prepared> prepared = is_decode
                                             ? prepare_decode(shape, path.parts(), device.threads)
                                             : prepare_prefill(shape, path.parts(), device);
    prepared->info.implementation =
        (is_decode ? "halmark:flash_decode:" : "halmark:flash_prefill:") + std::string(path.label);
    prepared->info.isa = isa_label(path.isa);
    return prepared;
  }
};

}  // namespace

const Kernel& attention_kernel() {
  static const AttentionKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
