// packed_grouped_gemm: grouped_gemm whose weights are narrow values with a scale per block, as the
// experts of gpt-oss (mxfp4) and of nvfp4 and AWQ checkpoints are stored.
#include "core/numeric/cast.hpp"
#include "kernels/moe.hpp"
#include "kernels/packed.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    tokens_spec,
    top_k_spec,
    experts_spec,
    skew_spec,
    ep_size_spec,
    ep_rank_spec,
    local_rows_spec,
    priced_size("n", "columns of dst"),
    priced_size("k", "columns of src, reduced"),
    packed_block_spec,
    packed_src_spec,
    priced_dtype("dst_dtype", "of dst"),
    packed_wei_spec,
    packed_scale_spec,
};

class PackedGroupedGemm final : public PricedContract {
 public:
  PackedGroupedGemm()
      : PricedContract(
            "packed_grouped_gemm",
            "dst[rows,n] = src[rows,k] times wei[e,n,k]^T of the row's expert e, wei times "
            "scale[e,n,ceil(k/block)]",
            specs) {}
  std::optional<std::string> check_relations(const Params& p) const override {
    return Routing(p).fault();
  }
  std::int64_t derived(std::string_view, const Params& p) const override {
    return Routing(p).rows();
  }

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto rows = p.at("rows"), n = p.at("n"), k = p.at("k");
    auto counts = Routing(p).local_counts();
    const auto experts = std::ssize(counts);
    return {
        {.name = "src", .role = Role::input, .dtype = p.dtype("src_dtype"), .dims = {rows, k}},
        {.name = "wei",
         .role = Role::constant,
         .dtype = p.dtype("wei_dtype"),
         .dims = {experts, n, k}},
        routing_operand("expert_rows", {experts}, [counts = std::move(counts)] { return counts; }),
        {.name = "dst", .role = Role::output, .dtype = p.dtype("dst_dtype"), .dims = {rows, n}},
    };
  }

  // Of a rank's experts only those with a row are read.
  Work work(const Params& p) const override {
    const auto n = p.at("n"), k = p.at("k");
    const auto rows = as_double(p.at("rows"));
    const auto counts = Routing(p).local_counts();
    const auto active = as_double(active_experts(counts, {0, std::ssize(counts)}));
    const double weights = active * (as_double(dtype_bytes(p.dtype("wei_dtype"), n * k)) +
                                     packed_weight_scale_bytes(p, as_double(n)));
    const auto source = as_double(dtype_bytes(p.dtype("src_dtype"), p.at("rows") * k));
    return {.matmul_flops = 2 * rows * as_double(n) * as_double(k),
            .bytes_read = source + packed_source_scale_bytes(p, rows) + weights +
                          as_double(dtype_bytes(Dtype::s32, std::ssize(counts))),
            .bytes_written = as_double(dtype_bytes(p.dtype("dst_dtype"), p.at("rows") * n)),
            .constant_bytes = weights,
            .compute_dtype = packed_compute_dtype(p)};
  }

 protected:
  void add_flops(const Params&, Work&) const override {}
};

}  // namespace

const OpContract& packed_grouped_gemm_contract() {
  static const PackedGroupedGemm contract;
  return contract;
}

}  // namespace halmark
