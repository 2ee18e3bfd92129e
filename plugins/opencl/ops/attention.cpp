// attention over a key/value cache: prefill and decode, any group size, causal, windowed.
#include <algorithm>
#include <cmath>

#include "attention_source.hpp"
#include "elements.hpp"
#include "elements_source.hpp"
#include "vectors_source.hpp"

namespace hm_opencl {
namespace {

struct AttentionProblem {
  std::int64_t batch, heads, kv_heads, head_dim, new_tokens, context, causal, window;
  std::int32_t dtype;

  explicit AttentionProblem(plug::Params p)
      : batch(p.extent("batch")),
        heads(p.extent("heads")),
        kv_heads(p.extent("kv_heads")),
        head_dim(p.extent("head_dim")),
        new_tokens(p.extent("new_tokens")),
        context(p.extent("context")),
        causal(p.value_or("causal", 1)),
        window(p.value_or("window", 0)),
        dtype(p.dtype("q_dtype")) {
    plug::reject_unknown(p, {"batch", "heads", "kv_heads", "head_dim", "new_tokens", "context",
                             "causal", "window", "q_dtype", "kv_dtype", "dst_dtype"});
    if (heads % kv_heads != 0) unsupported("heads must be a multiple of kv_heads");
    if (new_tokens > context) unsupported("new_tokens must not exceed context");
    if (window < 0 || (window > 0 && causal == 0)) unsupported("a window needs causal=1");
    if (causal != 0 && causal != 1) unsupported("causal is 0 or 1");
    require_float("attention", dtype);
    if (p.dtype("kv_dtype") != dtype || p.dtype("dst_dtype") != dtype) {
      unsupported("q_dtype, kv_dtype and dst_dtype must be the same here");
    }
    constexpr std::int64_t head_dim_max = 512;
    if (head_dim > head_dim_max) {
      unsupported("head_dim=" + std::to_string(head_dim) + "; at most " +
                  std::to_string(head_dim_max));
    }
    require_size("batch", batch);
    require_size("context", context);
    require_size("heads", heads);
    require_size("packed rows (new_tokens x heads / kv_heads)", packed_rows());
    require_size("batch x kv_heads", batch * kv_heads);
  }

  // Queries that read the same keys.
  std::int64_t packed_rows() const { return new_tokens * (heads / kv_heads); }

  std::vector<Operand> operands() const {
    const std::vector queries{batch, new_tokens, heads, head_dim};
    const std::vector keys{batch, kv_heads, context, head_dim};
    return {{"q", HM_ROLE_INPUT, dtype, queries, 0, ""},
            {"k", HM_ROLE_STATE, dtype, keys, 0, ""},
            {"v", HM_ROLE_STATE, dtype, keys, 0, ""},
            {"dst", HM_ROLE_OUTPUT, dtype, queries, 0, ""}};
  }
};

// Packed rows of a work-item, work-items that share their keys, floats of a vector.
struct Sharing {
  std::int64_t rows, splits, width;

  // Sums and states of the splits meet in local memory.
  std::int64_t local_bytes(const AttentionProblem& p) const {
    const std::int64_t padded = (p.head_dim + width - 1) / width * width;
    return splits == 1 ? 0 : 4 * splits * rows * (padded + 2);
  }
};

Sharing default_sharing(const Limits& limits, const AttentionProblem& p) {
  const std::int64_t rows = p.packed_rows() >= 8   ? 8
                            : p.packed_rows() >= 4 ? 4
                            : p.packed_rows() >= 2 ? 2
                                                   : 1;
  if (limits.is_cpu) return {rows, 1, 16};
  // Lanes with few registers: one row each, many of them where the queries are few.
  const Sharing many{1, 16, 4};
  const bool fits = limits.work_group_items >= 16 &&
                    many.local_bytes(p) <= static_cast<std::int64_t>(limits.local_bytes);
  return fits ? many : Sharing{1, 1, 4};
}

Sharing sharing_of(const Limits& limits, const AttentionProblem& p, plug::Params config) {
  const Sharing d = default_sharing(limits, p);
  return {config.value_or("rows_per_item", d.rows), config.value_or("key_splits", d.splits),
          config.value_or("vector_width", d.width)};
}

class Attention : public Kernel {
 public:
  std::string_view name() const override { return "attention"; }
  std::string_view op() const override { return "attention"; }

  std::vector<plug::Domain> domains(const Limits& limits, plug::Params problem) const override {
    const Sharing d = default_sharing(limits, AttentionProblem(problem));
    return {plug::domain::ordered("rows_per_item", {1, 2, 4, 8}, d.rows),
            plug::domain::ordered("key_splits", {1, 4, 16}, d.splits),
            plug::domain::ordered("vector_width", {4, 8, 16}, d.width)};
  }

  void require_support(const Limits& limits, plug::Params problem,
                       plug::Params config) const override {
    const AttentionProblem p(problem);
    const Sharing s = sharing_of(limits, p, config);
    if (s.rows > 1 && s.rows >= 2 * p.packed_rows()) {
      unsupported("blocks of " + std::to_string(s.rows) + " rows; a key/value head has " +
                  std::to_string(p.packed_rows()));
    }
    if (static_cast<std::size_t>(s.splits) > limits.work_group_items) {
      unsupported("work-groups of " + std::to_string(s.splits) + " items; this device has " +
                  std::to_string(limits.work_group_items));
    }
    if (s.local_bytes(p) > static_cast<std::int64_t>(limits.local_bytes)) {
      unsupported(std::to_string(s.local_bytes(p)) + " bytes of local memory; this device has " +
                  std::to_string(limits.local_bytes));
    }
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const AttentionProblem p(problem);
    const Sharing s = sharing_of(device.limits, p, config);
    const auto splits = static_cast<std::size_t>(s.splits);
    const auto blocks = static_cast<std::size_t>((p.packed_rows() + s.rows - 1) / s.rows);
    Plan plan{
        .source = std::string(elements_source) + vectors_source + attention_source,
        .options =
            kinds(p.dtype, p.dtype) + define("HEAD_DIM", p.head_dim) + define("ROWS", s.rows) +
            define("SPLITS", s.splits) + define("WIDTH", s.width) + define("CAUSAL", p.causal) +
            define("SCALE", 1 / std::sqrt(static_cast<double>(p.head_dim))) + "-cl-std=CL1.2",
        .entry = "run",
        .sizes = {p.heads, p.kv_heads, p.new_tokens, p.context, std::min(p.window, p.context)},
        .global = cl::NDRange(splits * blocks, static_cast<std::size_t>(p.batch * p.kv_heads)),
        .local = cl::NDRange(splits, 1)};
    auto made = std::make_unique<Launched>(device, plan, p.operands());
    made->implementation = "attention " + plan.options;
    return made;
  }
};

}  // namespace

const Kernel& attention_kernel() {
  static const Attention kernel;
  return kernel;
}

}  // namespace hm_opencl
