// The kernels of attention. Their order in the table is their preference: decode where few queries
// share a key/value head, prefill where many do, and a plain one for everything else.
#include "attention_problem.hpp"
#include "device/attention.hpp"
#include "row_geometry.hpp"
#include "tensor_map.hpp"

namespace hm_cuda {
namespace {

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
    return prepare_attention(device, p, plan);
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
    if (!tensor_map_absence().empty()) unsupported(tensor_map_absence());
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
    plan.blocks_max = device.processors;
    plan.is_tiled = true;
    return prepare_attention(device, p, plan);
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
    return prepare_attention(device, p, plan);
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
    return prepare_attention(device, p, plan);
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
