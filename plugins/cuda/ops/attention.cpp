// attention: several kernels over one problem. Their order is their preference: decode where few
// queries share a key/value head, prefill where many do, and a plain one for everything else.
#include "device/attention.hpp"

#include <cmath>

#include "kernel.hpp"
#include "row_geometry.hpp"

namespace hm_cuda {
namespace {

struct AttentionProblem {
  std::int64_t batch, heads, kv_heads, head_dim, new_tokens, context, causal, window, dtype;

  explicit AttentionProblem(plug::Params p)
      : batch(p.extent("batch")),
        heads(p.extent("heads")),
        kv_heads(p.extent("kv_heads")),
        head_dim(p.extent("head_dim")),
        new_tokens(p.extent("new_tokens")),
        context(p.extent("context")),
        causal(p.value_or("causal", 1)),
        window(p.value_or("window", 0)),
        dtype(p.at("q_dtype")) {
    plug::reject_unknown(p, {"batch", "heads", "kv_heads", "head_dim", "new_tokens", "context",
                             "causal", "window", "q_dtype", "kv_dtype", "dst_dtype"});
    if (heads % kv_heads != 0) unsupported("heads must be a multiple of kv_heads");
    if (new_tokens > context) unsupported("new_tokens must not exceed context");
    if (window < 0 || (window > 0 && causal == 0)) unsupported("a window needs causal=1");
    if (causal != 0 && causal != 1) unsupported("causal is 0 or 1");
    if (dtype != HM_DTYPE_F32 && dtype != HM_DTYPE_BF16 && dtype != HM_DTYPE_F16) {
      unsupported("attention takes f32, bf16 and f16, not " + std::string(plug::dtype_name(dtype)));
    }
    if (p.at("kv_dtype") != dtype || p.at("dst_dtype") != dtype) {
      unsupported("q_dtype, kv_dtype and dst_dtype must be the same here");
    }
    constexpr std::int64_t index_max = std::int64_t{1} << 30;
    if (context > index_max || packed_rows() > index_max || batch * heads > index_max) {
      unsupported("more than 2^30 keys, or queries of a key/value head");
    }
  }

  std::int64_t group() const { return heads / kv_heads; }
  std::int64_t packed_rows() const { return new_tokens * group(); }
  std::int64_t pairs() const { return batch * kv_heads; }
  // Keys that the first query sees at least, and any query at most.
  std::int64_t keys() const {
    return window > 0 ? std::min(context, window + new_tokens - 1) : context;
  }

  std::vector<Operand> operands() const {
    const std::vector queries{batch, new_tokens, heads, head_dim};
    const std::vector keys{batch, kv_heads, context, head_dim};
    return {{"q", HM_ROLE_INPUT, dtype, queries},
            {"k", HM_ROLE_STATE, dtype, keys},
            {"v", HM_ROLE_STATE, dtype, keys},
            {"dst", HM_ROLE_OUTPUT, dtype, queries}};
  }
};

// One pass over tiles of rows, and one that adds splits up where there are several.
struct AttentionPlan {
  std::string implementation;
  DeviceFunction function = nullptr;
  std::int64_t tile_rows = 1, threads = 32, splits = 1, shared_bytes = 0;
};

class PreparedAttention : public Prepared {
 public:
  PreparedAttention(const OpenedDevice& device, const AttentionProblem& p,
                    const AttentionPlan& plan) {
    operands = p.operands();
    implementation = plan.implementation + "_splits" + std::to_string(plan.splits);
    const std::int64_t blocks = blocks_of(p.packed_rows(), plan.tile_rows) * p.pairs();
    if (blocks > grid_x_max) unsupported("more tiles of queries than a grid has blocks");
    launch_.function = plan.function;
    launch_.grid = dim3(as_dim(blocks), as_dim(plan.splits));
    launch_.block = dim3(as_dim(plan.threads));
    launch_.shared_bytes = static_cast<std::size_t>(plan.shared_bytes);
    make_ready(launch_);
    task_.queries = p.batch * p.new_tokens * p.heads;
    task_.batch = static_cast<std::int32_t>(p.batch);
    task_.heads = static_cast<std::int32_t>(p.heads);
    task_.kv_heads = static_cast<std::int32_t>(p.kv_heads);
    task_.head_dim = static_cast<std::int32_t>(p.head_dim);
    task_.new_tokens = static_cast<std::int32_t>(p.new_tokens);
    task_.context = static_cast<std::int32_t>(p.context);
    task_.window = static_cast<std::int32_t>(std::min(p.window, p.context));
    task_.splits = static_cast<std::int32_t>(plan.splits);
    task_.is_causal = p.causal == 1;
    task_.scale_log2 =
        static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(p.head_dim)));
    if (plan.splits > 1) combine_splits(p, plan.splits, device.capability >= 90);
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void* workspace) override {
    AttentionTask task = task_;
    task.q = address_of(buffers[0]);
    task.k = address_of(buffers[1]);
    task.v = address_of(buffers[2]);
    task.dst = address_of(buffers[3]);
    task.partial = static_cast<float*>(workspace);
    task.state = task.partial + partial_values_;
    start(stream, launch_, task);
    if (task.splits > 1) start(stream, combine_, task);
  }

 private:
  void combine_splits(const AttentionProblem& p, std::int64_t splits, bool overlaps) {
    partial_values_ = splits * task_.queries * p.head_dim;
    const std::int64_t states = splits * task_.queries * 2;
    workspace_bytes = static_cast<std::uint64_t>(partial_values_ + states) * sizeof(float);
    combine_.function = attention_combine_function(p.dtype);
    combine_.grid = dim3(as_dim(blocks_of(task_.queries, combine_warps)));
    combine_.block = dim3(combine_warps * 32);
    combine_.overlaps_previous = overlaps;
    make_ready(combine_);
    launches = 2;
  }

  Launch launch_, combine_;
  AttentionTask task_{};
  std::int64_t partial_values_ = 0;
};

// Splits of the keys, so that all multiprocessors have a block and none waits long for the last.
constexpr std::int64_t split_counts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};

std::vector<std::int64_t> splits_for(std::int64_t steps) {
  std::vector<std::int64_t> counts;
  for (const std::int64_t count : split_counts) {
    if (count == 1 || count <= steps) counts.push_back(count);
  }
  return counts;
}

// Of so many blocks without splits and so many at once on the device: the fullest waves, and few
// splits where that changes little, for each is written out and read again. `steps` per block that
// are not worth dividing.
std::int64_t default_splits(std::int64_t blocks, std::int64_t at_once, std::int64_t steps,
                            std::int64_t least_steps) {
  constexpr double worth = 1.05;
  std::int64_t best = 1;
  double best_share = 0;
  for (const std::int64_t splits : splits_for(steps)) {
    if (splits > 1 && steps / splits < least_steps) break;
    const std::int64_t total = blocks * splits;
    const std::int64_t waves = blocks_of(total, at_once);
    const double share = static_cast<double>(total) / static_cast<double>(waves * at_once);
    if (share > best_share * worth) {
      best = splits;
      best_share = share;
    }
  }
  return best;
}

void require_mma(const OpenedDevice& device, const AttentionProblem& p) {
  if (device.capability < 80) {
    unsupported("this attention needs sm_80 or later; this is " + device.architecture);
  }
  if (attention_decode_function(p.dtype, p.head_dim) == nullptr) {
    unsupported("this attention takes bf16 and f16 with head_dim a multiple of 8 up to 256");
  }
}

class AttentionDecode : public Kernel {
 public:
  std::string_view name() const override { return "attention_decode"; }
  std::string_view op() const override { return "attention"; }

  void require_support(OpenedDevice& device, plug::Params problem) const override {
    const AttentionProblem p(problem);
    require_mma(device, p);
    if (p.packed_rows() > packed_rows_max) {
      unsupported("attention_decode takes at most " + std::to_string(packed_rows_max) +
                  " queries per key/value head");
    }
  }

  std::vector<plug::Domain> domains(OpenedDevice& device, plug::Params problem) const override {
    const AttentionProblem p(problem);
    return {plug::domain::ordered("splits", splits_for(steps(p)), own_splits(device, p)),
            plug::domain::ordered("warps", {1, 2, 4, 8}, default_warps)};
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const AttentionProblem p(problem);
    AttentionPlan plan;
    const std::int64_t warps = plug::param_or(config, "warps", default_warps);
    plan.implementation = "flash_decode_mma_warps" + std::to_string(warps);
    plan.function = attention_decode_function(p.dtype, p.head_dim);
    plan.tile_rows = decode_rows;
    plan.threads = warps * 32;
    plan.splits = plug::param_or(config, "splits", own_splits(device, p));
    return std::make_unique<PreparedAttention>(device, p, plan);
  }

 private:
  static constexpr std::int64_t default_warps = 4, packed_rows_max = 64;
  static std::int64_t steps(const AttentionProblem& p) { return blocks_of(p.keys(), decode_keys); }
  static std::int64_t own_splits(const OpenedDevice& device, const AttentionProblem& p) {
    constexpr std::int64_t blocks_per_processor = 2;
    return default_splits(blocks_of(p.packed_rows(), decode_rows) * p.pairs(),
                          blocks_per_processor * device.processors, steps(p), 2 * default_warps);
  }
};

class AttentionWgmma : public Kernel {
 public:
  std::string_view name() const override { return "attention_wgmma"; }
  std::string_view op() const override { return "attention"; }

  void require_support(OpenedDevice& device, plug::Params problem) const override {
    const AttentionProblem p(problem);
    if (device.capability != 90) {
      unsupported("attention_wgmma is for sm_90; this is " + device.architecture);
    }
    const PrefillShape shape = attention_wgmma_function(p.dtype, p.head_dim);
    if (shape.function == nullptr || shape.shared_bytes > device.shared_bytes_max) {
      unsupported("attention_wgmma takes bf16 and f16 with head_dim a multiple of 8 up to 128");
    }
  }
  std::vector<plug::Domain> domains(OpenedDevice&, plug::Params) const override { return {}; }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params) const override {
    const AttentionProblem p(problem);
    const PrefillShape shape = attention_wgmma_function(p.dtype, p.head_dim);
    AttentionPlan plan;
    plan.implementation = "flash_prefill_wgmma";
    plan.function = shape.function;
    plan.shared_bytes = shape.shared_bytes;
    plan.tile_rows = attention_wgmma_rows;
    plan.threads = attention_wgmma_threads;
    return std::make_unique<PreparedAttention>(device, p, plan);
  }
};

class AttentionPrefill : public Kernel {
 public:
  std::string_view name() const override { return "attention_prefill"; }
  std::string_view op() const override { return "attention"; }

  void require_support(OpenedDevice& device, plug::Params problem) const override {
    const AttentionProblem p(problem);
    require_mma(device, p);
    if (warps_that_fit(device, p).empty()) {
      unsupported("attention_prefill needs more shared memory than a block has on " +
                  device.architecture);
    }
  }

  std::vector<plug::Domain> domains(OpenedDevice& device, plug::Params problem) const override {
    const auto counts = warps_that_fit(device, AttentionProblem(problem));
    return {plug::domain::ordered("warps", counts, default_warps(counts))};
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const AttentionProblem p(problem);
    AttentionPlan plan;
    const std::int64_t warps =
        plug::param_or(config, "warps", default_warps(warps_that_fit(device, p)));
    const PrefillShape shape = attention_prefill_function(p.dtype, p.head_dim, warps);
    plan.implementation = "flash_prefill_mma_rows" + std::to_string(16 * warps);
    plan.function = shape.function;
    plan.shared_bytes = shape.shared_bytes;
    plan.tile_rows = 16 * warps;
    plan.threads = 32 * warps;
    return std::make_unique<PreparedAttention>(device, p, plan);
  }

 private:
  static std::vector<std::int64_t> warps_that_fit(const OpenedDevice& device,
                                                  const AttentionProblem& p) {
    std::vector<std::int64_t> counts;
    for (const std::int64_t warps : {4, 8}) {
      const PrefillShape shape = attention_prefill_function(p.dtype, p.head_dim, warps);
      if (shape.shared_bytes <= device.shared_bytes_max) counts.push_back(warps);
    }
    return counts;
  }
  static std::int64_t default_warps(const std::vector<std::int64_t>& counts) {
    return counts.front();
  }
};

class AttentionPlain : public Kernel {
 public:
  std::string_view name() const override { return "attention_plain"; }
  std::string_view op() const override { return "attention"; }

  void require_support(OpenedDevice&, plug::Params problem) const override {
    const AttentionProblem p(problem);
    if (attention_plain_function(p.dtype, p.head_dim) == nullptr) {
      unsupported("attention takes head_dim up to " + std::to_string(plain_head_dim_max));
    }
  }

  std::vector<plug::Domain> domains(OpenedDevice& device, plug::Params problem) const override {
    const AttentionProblem p(problem);
    return {plug::domain::ordered("splits", splits_for(steps(p)), own_splits(device, p)),
            plug::domain::ordered("warps", {1, 2, 4, 8}, own_warps(p))};
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const AttentionProblem p(problem);
    AttentionPlan plan;
    const std::int64_t warps = plug::param_or(config, "warps", own_warps(p));
    plan.implementation = "flash_plain_warps" + std::to_string(warps);
    plan.function = attention_plain_function(p.dtype, p.head_dim);
    plan.tile_rows = warps;
    plan.threads = warps * 32;
    plan.splits = plug::param_or(config, "splits", own_splits(device, p));
    return std::make_unique<PreparedAttention>(device, p, plan);
  }

 private:
  static constexpr std::int64_t keys_per_step = 32;
  static std::int64_t steps(const AttentionProblem& p) {
    return blocks_of(p.keys(), keys_per_step);
  }
  static std::int64_t own_warps(const AttentionProblem& p) {
    return std::min<std::int64_t>(power_of_two_from(p.packed_rows()), 8);
  }
  static std::int64_t own_splits(const OpenedDevice& device, const AttentionProblem& p) {
    constexpr std::int64_t warps_per_processor = 32;
    return default_splits(blocks_of(p.packed_rows(), own_warps(p)) * p.pairs(),
                          warps_per_processor / own_warps(p) * device.processors, steps(p), 2);
  }
};

}  // namespace

const Kernel& attention_decode_kernel() {
  static const AttentionDecode kernel;
  return kernel;
}

const Kernel& attention_wgmma_kernel() {
  static const AttentionWgmma kernel;
  return kernel;
}

const Kernel& attention_prefill_kernel() {
  static const AttentionPrefill kernel;
  return kernel;
}

const Kernel& attention_plain_kernel() {
  static const AttentionPlain kernel;
  return kernel;
}

}  // namespace hm_cuda
