// moe_route: the largest logits of each token and their weights.
#include "device/moe.hpp"
#include "kernel.hpp"
#include "row_geometry.hpp"

namespace hm_cuda {
namespace {

constexpr std::int64_t warp_experts_max = route_lanes * route_experts_per_lane_max;
enum Method : std::int64_t { by_warp, by_block };

struct RouteProblem {
  std::int64_t tokens, experts, top_k, src, scoring, renormalize;

  explicit RouteProblem(plug::Params p)
      : tokens(p.extent("tokens")),
        experts(p.extent("experts")),
        top_k(p.extent("top_k")),
        src(p.at("src_dtype")),
        scoring(p.value_or("scoring", 0)),
        renormalize(p.value_or("renormalize", 1)) {
    plug::reject_unknown(p, {"tokens", "experts", "top_k", "src_dtype", "scoring", "renormalize"});
    if (route_block_function(src) == nullptr) {
      unsupported("moe_route takes f32, bf16 and f16, not " + std::string(plug::dtype_name(src)));
    }
    if (top_k > experts) unsupported("top_k must not exceed experts");
    if (scoring != 0 && scoring != 1) unsupported("scoring is 0 (softmax) or 1 (sigmoid)");
    if (renormalize != 0 && renormalize != 1) unsupported("renormalize is 0 or 1");
    if (experts > INT32_MAX || tokens > grid_x_max) unsupported("more than 2^31 - 1 logits");
  }
};

class PreparedRoute : public Prepared {
 public:
  PreparedRoute(const RouteProblem& p, std::int64_t method, std::int64_t warps) {
    operands = {{"logits", HM_ROLE_INPUT, p.src, {p.tokens, p.experts}},
                {"expert_index", HM_ROLE_OUTPUT, HM_DTYPE_S32, {p.tokens, p.top_k}},
                {"weight", HM_ROLE_OUTPUT, HM_DTYPE_F32, {p.tokens, p.top_k}}};
    task_ = {.logits = nullptr,
             .index = nullptr,
             .weight = nullptr,
             .tokens = p.tokens,
             .experts = static_cast<std::int32_t>(p.experts),
             .top_k = static_cast<std::int32_t>(p.top_k),
             .is_sigmoid = p.scoring == 1,
             .renormalizes = p.renormalize == 1};
    if (method == by_warp) {
      launch_.function =
          route_warp_function(p.src, power_of_two_from(blocks_of(p.experts, route_lanes)));
      launch_.block = dim3(as_dim(warps * route_lanes));
      launch_.grid = dim3(as_dim(blocks_of(p.tokens, warps)));
      implementation = "moe_route_warp";
    } else {
      constexpr unsigned block_threads = 256;
      launch_.function = route_block_function(p.src);
      launch_.block = dim3(block_threads);
      launch_.grid = dim3(as_dim(p.tokens));
      implementation = "moe_route_block";
    }
    make_ready(launch_);
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void*) override {
    RouteTask task = task_;
    task.logits = address_of(buffers[0]);
    task.index = static_cast<std::int32_t*>(address_of(buffers[1]));
    task.weight = static_cast<float*>(address_of(buffers[2]));
    start(stream, launch_, task);
  }

 private:
  Launch launch_;
  RouteTask task_{};
};

class Route : public Kernel {
 public:
  std::string_view name() const override { return "moe_route"; }
  std::string_view op() const override { return "moe_route"; }

  void require_support(OpenedDevice&, plug::Params problem) const override {
    static_cast<void>(RouteProblem(problem));
  }

  std::vector<plug::Domain> domains(OpenedDevice&, plug::Params problem) const override {
    if (RouteProblem(problem).experts > warp_experts_max) return {};
    return {plug::domain::categorical("method", {"warp", "block"}, by_warp),
            plug::domain::ordered("warps", {1, 2, 4, 8}, default_warps)};
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice&, plug::Params problem,
                                    plug::Params config) const override {
    const RouteProblem p(problem);
    const std::int64_t method = p.experts > warp_experts_max ? by_block : by_warp;
    return std::make_unique<PreparedRoute>(p, plug::param_or(config, "method", method),
                                           plug::param_or(config, "warps", default_warps));
  }

 private:
  static constexpr std::int64_t default_warps = 4;
};

}  // namespace

const Kernel& moe_route_kernel() {
  static const Route kernel;
  return kernel;
}

}  // namespace hm_cuda
