// gemm: dst[m,n] = src[m,k] wei[k,n]. The op that MFU counts.
#include <cmath>

#include "kernels/rows.hpp"
#include "kernels/tolerance.hpp"

namespace halmark {
namespace {

constexpr std::array<std::int64_t, 6> source_dtypes{
    dtype_value(Dtype::f32),       dtype_value(Dtype::bf16),    dtype_value(Dtype::f16),
    dtype_value(Dtype::f8_e4m3fn), dtype_value(Dtype::f8_e5m2), dtype_value(Dtype::s8)};
constexpr std::array<std::int64_t, 4> result_dtypes{
    dtype_value(Dtype::f32), dtype_value(Dtype::bf16), dtype_value(Dtype::f16),
    dtype_value(Dtype::s32)};

constexpr std::array<ParamSpec, 7> specs{{
    {.name = "m", .high = size_max, .meaning = "rows of src and dst"},
    {.name = "n", .high = size_max, .meaning = "columns of dst"},
    {.name = "k", .high = size_max, .meaning = "columns of src, reduced"},
    {.name = "src_dtype", .kind = ParamKind::dtype, .allowed = source_dtypes, .meaning = "of src"},
    {.name = "wei_dtype", .kind = ParamKind::dtype, .allowed = source_dtypes, .meaning = "of wei"},
    {.name = "dst_dtype", .kind = ParamKind::dtype, .allowed = result_dtypes, .meaning = "of dst"},
    {.name = "wei_trans",
     .kind = ParamKind::flag,
     .low = 0,
     .high = 1,
     .fallback = 0,
     .meaning = "wei is stored [n,k]"},
}};

constexpr std::size_t src_index = 0, wei_index = 1, dst_index = 2;
constexpr std::size_t column_block = 64;

// Columns of wei, each as k contiguous values. A plain [k,n] wei is read by rows where the columns
// lie close together, and value by value where they are scattered.
std::vector<double> read_columns(const InputReader& inputs, int rank, std::int64_t n,
                                 std::int64_t k, bool transposed,
                                 std::span<const std::int64_t> columns) {
  const auto depth = static_cast<std::size_t>(k);
  std::vector<double> values(columns.size() * depth);
  if (transposed) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      inputs.read(rank, wei_index, columns[c] * k, std::span(values).subspan(c * depth, depth));
    }
    return values;
  }
  const auto width = columns.back() - columns.front() + 1;
  const bool dense = width <= 8 * static_cast<std::int64_t>(columns.size());
  std::vector<double> row(dense ? static_cast<std::size_t>(width) : 1);
  for (std::size_t i = 0; i < depth; ++i) {
    const auto row_begin = static_cast<std::int64_t>(i) * n;
    if (dense) inputs.read(rank, wei_index, row_begin + columns.front(), row);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!dense) inputs.read(rank, wei_index, row_begin + columns[c], row);
      values[c * depth + i] =
          row[dense ? static_cast<std::size_t>(columns[c] - columns.front()) : 0];
    }
  }
  return values;
}

class Gemm final : public OpContract {
 public:
  std::string_view name() const override { return "gemm"; }
  std::string_view summary() const override {
    return "dst[m,n] = src[m,k] wei[k,n], or wei[n,k] with wei_trans";
  }
  std::span<const ParamSpec> params() const override { return specs; }

  std::optional<std::string> check_relations(const Params& p) const override {
    const bool integer = p.dtype("src_dtype") == Dtype::s8;
    if ((p.dtype("wei_dtype") == Dtype::s8) != integer ||
        (p.dtype("dst_dtype") == Dtype::s32) != integer) {
      return "integer matmul is s8 x s8 -> s32; got " + p.text();
    }
    return std::nullopt;
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
         .scale = source_scale(src)},
        {.name = "wei",
         .role = Role::constant,
         .dtype = wei,
         .dims = transposed ? std::vector{n, k} : std::vector{k, n},
         .scale = weight_scale(wei)},
        {.name = "dst", .role = Role::output, .dtype = p.dtype("dst_dtype"), .dims = {m, n}},
    };
  }

  Work work(const Params& p) const override {
    const auto m = static_cast<double>(p.at("m")), n = static_cast<double>(p.at("n"));
    const auto k = static_cast<double>(p.at("k"));
    const auto tensors = operands(p);
    const auto weights = static_cast<double>(tensors[wei_index].bytes());
    return {.matmul_flops = 2 * m * n * k,
            .bytes_read = static_cast<double>(tensors[src_index].bytes()) + weights,
            .bytes_written = static_cast<double>(tensors[dst_index].bytes()),
            .constant_bytes = weights,
            .compute_dtype = p.dtype("src_dtype")};
  }

  // |out - ref| <= u_dst |ref| + 4 sqrt(k) u_f32 (|src||wei|)_ij: products are exact in f32 for 8
  // and 16 bit sources, sums round like a random walk. Integer results are exact.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto n = p.at("n"), k = p.at("k");
    const auto depth = static_cast<std::size_t>(k);
    const bool transposed = p.at("wei_trans") != 0;
    const auto dst = p.dtype("dst_dtype");

    std::vector<std::int64_t> columns(elements.size());
    std::ranges::transform(elements, columns.begin(), [n](std::int64_t e) { return e % n; });
    std::ranges::sort(columns);
    columns.erase(std::ranges::unique(columns).begin(), columns.end());

    // Ordered by (block of columns, row): each column is read once, a row once per block.
    std::vector<std::size_t> order(elements.size()), column_rank(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      order[i] = i;
      column_rank[i] = static_cast<std::size_t>(std::ranges::lower_bound(columns, elements[i] % n) -
                                                columns.begin());
    }
    std::ranges::sort(order, {}, [&](std::size_t i) {
      return std::pair(column_rank[i] / column_block, elements[i]);
    });

    std::vector<double> block, row(depth);
    std::size_t block_index = static_cast<std::size_t>(-1);
    std::int64_t row_index = -1;
    for (const auto i : order) {
      const auto wanted = column_rank[i] / column_block;
      if (wanted != block_index) {
        block_index = wanted;
        const auto first = wanted * column_block;
        const auto count = std::min(column_block, columns.size() - first);
        block = read_columns(inputs, rank, n, k, transposed,
                             std::span<const std::int64_t>(columns).subspan(first, count));
      }
      if (elements[i] / n != row_index) {
        row_index = elements[i] / n;
        inputs.read(rank, src_index, row_index * k, row);
      }
      const auto product =
          dot(row.data(), block.data() + (column_rank[i] % column_block) * depth, depth);
      const double error = accumulation_error(static_cast<double>(k), product.magnitude);
      out[i] = {.value = product.value,
                .tolerance = is_integer(dst) ? 0.0 : rounded_tolerance(dst, product.value, error)};
    }
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
    static constexpr Shape shapes[] = {{1, 1, 1, 0},    {1, 127, 129, 0}, {1, 256, 1024, 1},
                                       {2, 17, 5, 1},   {7, 11, 13, 0},   {31, 33, 63, 0},
                                       {32, 64, 64, 1}, {65, 47, 31, 1},  {97, 101, 255, 0}};
    std::vector<Params> cases;
    for (const auto source : common_dtypes(source_dtypes, dtypes)) {
      for (const auto result : results_of(source, dtypes)) {
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

 private:
  // Activations fill their 8 bits (3.5 sigma = 112). Weights keep to 7 bits (4.2 sigma = 64), the
  // range libraries document for CPUs without VNNI: there two full-range products saturate the
  // 16-bit sum of a pair, so 8-bit weights are wrong on such machines with every library.
  static constexpr double s8_source_scale = 32, s8_weight_scale = 15;
  static double source_scale(Dtype dtype) { return dtype == Dtype::s8 ? s8_source_scale : 1; }
  static double weight_scale(Dtype dtype) { return dtype == Dtype::s8 ? s8_weight_scale : 1; }

  static std::vector<Dtype> results_of(Dtype source, std::span<const Dtype> dtypes) {
    if (source == Dtype::s8) return {Dtype::s32};
    std::vector<Dtype> results{Dtype::f32};
    if (source == Dtype::bf16 || source == Dtype::f16) results.push_back(source);
    std::erase_if(results, [&](Dtype d) { return std::ranges::find(dtypes, d) == dtypes.end(); });
    return results;
  }
};

}  // namespace

const OpContract& gemm_contract() {
  static const Gemm contract;
  return contract;
}

}  // namespace halmark
