// The attention kernel. Its halves split the work over the team (decode.cpp, prefill.cpp); what one
// thread does with its piece is in simd/, once per instruction set.
#include "prepared.hpp"

namespace hm_cpu {
namespace {

bool is_float(std::int32_t dtype) { return dtype == HM_DTYPE_F32 || dtype == HM_DTYPE_BF16; }

Isa usable(Isa best) { return std::min(best, Isa::avx512); }

// Labels of the domain `impl`; a domain's value is the position of its label.
std::string_view label_of(Isa isa) {
  return isa >= Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "generic";
}

const AttentionParts& parts_for(Isa isa) {
#if defined(__x86_64__)
  if (isa >= Isa::avx512) return attention_parts_avx512();
  if (isa == Isa::avx2) return attention_parts_avx2();
#endif
  static_cast<void>(isa);
  return attention_parts_generic();
}

class AttentionKernel : public Kernel {
 public:
  std::string_view name() const override { return "flash_attention"; }
  std::string_view op() const override { return "attention"; }

  std::vector<Domain> domains(const Device& device, const Params&) const override {
    std::vector<std::string> labels;  // value i is Isa i
    for (const Isa isa : {Isa::generic, Isa::avx2, Isa::avx512}) {
      if (isa <= device.isa) labels.emplace_back(label_of(isa));
    }
    return {domain::categorical("impl", std::move(labels),
                                static_cast<std::int64_t>(usable(device.isa)))};
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
    const Isa isa =
        static_cast<Isa>(config.value_or("impl", static_cast<std::int64_t>(usable(device.isa))));
    std::unique_ptr<Prepared> prepared;
    std::string path;
    if (shape.rows() <= stream_rows_max) {
      prepared = prepare_decode(shape, parts_for(isa), device.threads);
      path = "halmark:flash_decode:";
    } else {
      prepared = prepare_prefill(shape, parts_for(isa), device);
      path = "halmark:flash_prefill:";
    }
    prepared->info.implementation = path + std::string(label_of(isa));
    prepared->info.isa = isa_key(isa);
    return prepared;
  }
};

}  // namespace

const Kernel& attention_kernel() {
  static const AttentionKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
