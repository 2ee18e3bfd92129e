// gemm: dst[m,n] = src[m,k] wei[k,n]. The op that MFU counts.
#include "core/numeric/cast.hpp"
#include "kernels/matmul_reference.hpp"
#include "kernels/rows.hpp"

namespace halmark {
namespace {

constexpr std::int64_t source_dtypes[] = {
    dtype_value(Dtype::f32),       dtype_value(Dtype::bf16),    dtype_value(Dtype::f16),
    dtype_value(Dtype::f8_e4m3fn), dtype_value(Dtype::f8_e5m2), dtype_value(Dtype::s8)};

constexpr ParamSpec specs[] = {
    {.name = "m", .high = size_max, .meaning = "rows of src and dst"},
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
     .meaning = "wei is stored [n,k]"},
};

constexpr std::size_t src_index = 0, wei_index = 1, dst_index = 2;

class Gemm final : public NamedContract {
 public:
  Gemm()
      : NamedContract("gemm", "dst[m,n] = src[m,k] wei[k,n], or wei[n,k] with wei_trans", specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    return matmul_types_fault(p);
  }

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto m = p.at("m"), n = p.at("n"), k = p.at("k");
    const bool transposed = p.at("wei_trans") != 0;
    const auto src = p.dtype("src_dtype"), wei = p.dtype("wei_dtype");
    return {
        {.name = "src",
         .role = Role::input,
         .dtype = src,
         .dims = {m, k},
         .scale = matmul_source_scale(src)},
        {.name = "wei",
         .role = Role::constant,
         .dtype = wei,
         .dims = transposed ? std::vector{n, k} : std::vector{k, n},
         .scale = matmul_weight_scale(wei)},
        {.name = "dst", .role = Role::output, .dtype = p.dtype("dst_dtype"), .dims = {m, n}},
    };
  }

  Work work(const Params& p) const override {
    const auto m = as_double(p.at("m")), n = as_double(p.at("n"));
    const auto k = as_double(p.at("k"));
    const auto tensors = operands(p);
    const auto weights = as_double(tensors[wei_index].bytes());
    return {.matmul_flops = 2 * m * n * k,
            .bytes_read = as_double(tensors[src_index].bytes()) + weights,
            .bytes_written = as_double(tensors[dst_index].bytes()),
            .constant_bytes = weights,
            .compute_dtype = p.dtype("src_dtype")};
  }

  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const MatmulBlock block{.src = src_index,
                            .wei = wei_index,
                            .n = p.at("n"),
                            .k = p.at("k"),
                            .transposed = p.at("wei_trans") != 0,
                            .src_dtype = p.dtype("src_dtype"),
                            .dst_dtype = p.dtype("dst_dtype")};
    matmul_reference(inputs, rank, block, elements, out);
  }

  std::optional<Matmul> as_matmul(const Params& p) const override {
    return Matmul{.m = p.at("m"),
                  .n = p.at("n"),
                  .k = p.at("k"),
                  .a = src_index,
                  .b = wei_index,
                  .c = dst_index,
                  .b_transposed = p.at("wei_trans") != 0};
  }

  // 129 = a tile of 128 and one more, 127 = a prime and one less than a tile.
  Params twin(const Params& p) const override {
    Params reduced = p;
    reduced.set("m", std::min<std::int64_t>(p.at("m"), 129));
    reduced.set("n", p.at("n") > 130 ? 127 : p.at("n"));
    return reduced;
  }

  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override {
    struct Shape {
      std::int64_t m, n, k, trans;
    };
    static constexpr Shape shapes[] = {
        {1, 1, 1, 0},    {1, 127, 129, 0}, {1, 256, 1024, 1}, {2, 17, 5, 1},     {7, 11, 13, 0},
        {31, 33, 63, 0}, {32, 64, 64, 1},  {65, 47, 31, 1},   {97, 101, 255, 0}, {19, 512, 523, 1}};
    std::vector<Params> cases;
    for (const auto source : common_dtypes(source_dtypes, dtypes)) {
      for (const auto result : matmul_results(source, dtypes)) {
        for (const auto& shape : shapes) {
          cases.push_back({{"m", shape.m},
                           {"n", shape.n},
                           {"k", shape.k},
                           {"src_dtype", dtype_value(source)},
                           {"wei_dtype", dtype_value(source)},
                           {"dst_dtype", dtype_value(result)},
                           {"wei_trans", shape.trans}});
        }
      }
    }
    return cases;
  }
};

}  // namespace

const OpContract& gemm_contract() {
  static const Gemm contract;
  return contract;
}

}  // namespace halmark
