// grouped_gemm: each expert's rows times that expert's weights. Of a rank's experts only those with
// a row are read, which is what makes decode cheaper than its parameters suggest.
#include <numeric>

#include "core/lists.hpp"
#include "kernels/matmul_reference.hpp"
#include "kernels/moe.hpp"

namespace halmark {
namespace {

constexpr std::int64_t source_dtypes[] = {dtype_value(Dtype::f32), dtype_value(Dtype::bf16),
                                          dtype_value(Dtype::f16), dtype_value(Dtype::f8_e4m3fn),
                                          dtype_value(Dtype::s8)};

constexpr ParamSpec specs[] = {
    tokens_spec,
    top_k_spec,
    experts_spec,
    skew_spec,
    ep_size_spec,
    ep_rank_spec,
    local_rows_spec,
    {.name = "n", .high = size_max, .meaning = "columns of dst"},
    {.name = "k", .high = size_max, .meaning = "columns of src, reduced"},
    {.name = "src_dtype", .kind = ParamKind::dtype, .allowed = source_dtypes, .meaning = "of src"},
    {.name = "wei_dtype", .kind = ParamKind::dtype, .allowed = source_dtypes, .meaning = "of wei"},
    {.name = "dst_dtype",
     .kind = ParamKind::dtype,
     .allowed = matmul_result_dtypes,
     .meaning = "of dst"},
    {.name = "wei_trans",
     .kind = ParamKind::flag,
     .low = 0,
     .high = 1,
     .fallback = 0,
     .meaning = "each expert's wei is stored [n,k]"},
};

constexpr std::size_t src_index = 0, wei_index = 1, expert_rows_index = 2, dst_index = 3;

class GroupedGemm final : public RoutedContract {
 public:
  GroupedGemm()
      : RoutedContract(
            "grouped_gemm",
            "dst[rows,n] = src[rows,k] times wei[e,k,n] (or wei[e,n,k] with wei_trans) of the "
            "row's expert e; rows are grouped by expert, expert_rows[e] of each",
            specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    if (auto fault = matmul_types_fault(p)) return fault;
    return RoutedContract::check_relations(p);
  }

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto rows = p.at("rows"), n = p.at("n"), k = p.at("k");
    auto counts = Routing(p).local_counts();
    const auto experts = std::ssize(counts);
    const auto src = p.dtype("src_dtype"), wei = p.dtype("wei_dtype");
    return {
        {.name = "src",
         .role = Role::input,
         .dtype = src,
         .dims = {rows, k},
         .scale = matmul_source_scale(src)},
        {.name = "wei",
         .role = Role::constant,
         .dtype = wei,
         .dims = p.at("wei_trans") != 0 ? std::vector{experts, n, k} : std::vector{experts, k, n},
         .scale = matmul_weight_scale(wei)},
        routing_operand("expert_rows", {experts}, [counts = std::move(counts)] { return counts; }),
        {.name = "dst", .role = Role::output, .dtype = p.dtype("dst_dtype"), .dims = {rows, n}},
    };
  }

  Work work(const Params& p) const override {
    const auto rows = as_double(p.at("rows")), n = as_double(p.at("n"));
    const auto k = as_double(p.at("k"));
    const auto tensors = operands(p);
    const auto& counts = tensors[expert_rows_index].given->get();
    const auto active = active_experts(counts, {0, std::ssize(counts)});
    const auto weights = as_double(tensors[wei_index].bytes() / std::ssize(counts) * active);
    return {.matmul_flops = 2 * rows * n * k,
            .bytes_read = as_double(tensors[src_index].bytes()) + weights +
                          as_double(tensors[expert_rows_index].bytes()),
            .bytes_written = as_double(tensors[dst_index].bytes()),
            .constant_bytes = weights,
            .compute_dtype = p.dtype("src_dtype")};
  }

  // Expert by expert the tolerance of gemm, see matmul_reference.hpp.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto n = p.at("n"), k = p.at("k");
    const auto counts = Routing(p).local_counts();
    std::vector<std::int64_t> ends(counts.size());
    std::partial_sum(counts.begin(), counts.end(), ends.begin());
    std::vector<std::vector<std::size_t>> of_expert(counts.size());
    for (const auto i : indices(elements)) {
      const auto expert = std::ranges::upper_bound(ends, elements[i] / n) - ends.begin();
      of_expert[as_size(expert)].push_back(i);
    }
    MatmulBlock block{.src = src_index,
                      .wei = wei_index,
                      .n = n,
                      .k = k,
                      .transposed = p.at("wei_trans") != 0,
                      .src_dtype = p.dtype("src_dtype"),
                      .dst_dtype = p.dtype("dst_dtype")};
    for (const auto expert : indices(counts)) {
      const auto& positions = of_expert[expert];
      if (positions.empty()) continue;
      const auto first = ends[expert] - counts[expert];
      block.src_offset = first * k;
      block.wei_offset = as_int64(expert) * k * n;
      auto inside = mapped(positions, [&](const auto i) { return elements[i] - first * n; });
      std::vector<Expected> expected(inside.size());
      matmul_reference(inputs, rank, block, inside, expected);
      for (const auto j : indices(positions)) out[positions[j]] = expected[j];
    }
  }

  std::optional<double> element_flops(const Params& p) const override {
    return 2 * as_double(p.at("k"));
  }

  // Fewer columns only: tokens decide how the rows fall on the experts. 127 as in gemm, less where
  // so many products would take long.
  Params twin(const Params& p) const override {
    constexpr std::int64_t products_max = 100'000'000;
    const auto fitting = products_max / p.at("rows") / p.at("k");
    const auto columns = std::clamp<std::int64_t>(fitting, 17, 127);
    Params reduced = p;
    reduced.set("n", std::min(p.at("n"), columns));
    return reduced;
  }

  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override {
    struct Shape {
      std::int64_t n, k, trans;
    };
    static constexpr Shape shapes[] = {{1, 1, 0},   {127, 129, 0}, {64, 256, 1}, {17, 5, 1},
                                       {31, 63, 0}, {33, 64, 1},   {11, 13, 0},  {65, 31, 1}};
    const auto routings = routing_shapes();
    std::vector<Params> cases;
    for (const auto source : common_dtypes(source_dtypes, dtypes)) {
      for (const auto result : matmul_results(source, dtypes)) {
        for (const auto i : indices(routings)) {
          const auto& shape = shapes[i % std::size(shapes)];
          Params params = routings[i];
          params.set("n", shape.n);
          params.set("k", shape.k);
          params.set("src_dtype", dtype_value(source));
          params.set("wei_dtype", dtype_value(source));
          params.set("dst_dtype", dtype_value(result));
          params.set("wei_trans", shape.trans);
          cases.push_back(std::move(params));
        }
      }
    }
    return cases;
  }
};

}  // namespace

const OpContract& grouped_gemm_contract() {
  static const GroupedGemm contract;
  return contract;
}

}  // namespace halmark
