// embedding: dst[i] = table[ids[i]].
#include "core/lists.hpp"
#include "kernels/rowwise.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    rows_spec,
    {.name = "vocab", .high = size_max - 1, .meaning = "rows of the table"},
    {.name = "hidden", .high = size_max, .meaning = "values per row"},
    src_dtype_spec,
    dst_dtype_spec,
};

constexpr std::size_t ids_index = 0, table_index = 1, dst_index = 2;

class Embedding final : public NamedContract {
 public:
  Embedding()
      : NamedContract("embedding", "dst[rows,hidden] = table[vocab,hidden] at ids[rows]", specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto rows = p.at("rows"), vocab = p.at("vocab"), hidden = p.at("hidden");
    return {{.name = "ids",
             .role = Role::input,
             .dtype = Dtype::s32,
             .dims = {rows},
             .distribution = Distribution::indices,
             .index_bound = vocab},
            rows_operand("table", Role::constant, p.dtype("src_dtype"), vocab, hidden),
            rows_operand("dst", Role::output, p.dtype("dst_dtype"), rows, hidden)};
  }

  // Only the rows that are looked up are read.
  Work work(const Params& p) const override {
    const auto tensors = operands(p);
    const auto values = p.at("rows") * p.at("hidden");
    const auto gathered = as_double(dtype_bytes(p.dtype("src_dtype"), values));
    return {.bytes_read = as_double(tensors[ids_index].bytes()) + gathered,
            .bytes_written = as_double(tensors[dst_index].bytes()),
            .constant_bytes = gathered};
  }

  // A copy is exact; a conversion rounds once.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto hidden = p.at("hidden");
    const auto dst = p.dtype("dst_dtype");
    const bool is_copy = dst == p.dtype("src_dtype");
    for_each_row(elements, hidden, [&](std::int64_t row, std::span<const std::size_t> positions) {
      const auto id = as_int64(read_row(inputs, rank, ids_index, row, 1)[0]);
      const auto x = read_row(inputs, rank, table_index, id * hidden, hidden);
      for (const auto i : positions) {
        const double value = x[as_size(elements[i] - row * hidden)];
        out[i] = {.value = value, .tolerance = is_copy ? 0 : rounded_tolerance(dst, value, 0)};
      }
    });
  }

  Params twin(const Params& p) const override {
    Params reduced = p;
    reduced.set("rows", twin_rows(p.at("rows"), p.at("hidden")));
    reduced.set("vocab", std::min<std::int64_t>(p.at("vocab"), 1009));
    return reduced;
  }

  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override {
    struct Shape {
      std::int64_t rows, vocab, hidden;
    };
    static constexpr Shape shapes[] = {
        {1, 1, 1}, {1, 1009, 1024}, {7, 13, 127}, {129, 31, 65}, {16, 1009, 64}};
    std::vector<Params> cases;
    for (const auto dtype : common_dtypes(float_dtypes, dtypes)) {
      for (const auto& shape : shapes) {
        cases.push_back({{"rows", shape.rows},
                         {"vocab", shape.vocab},
                         {"hidden", shape.hidden},
                         {"src_dtype", dtype_value(dtype)},
                         {"dst_dtype", dtype_value(dtype)}});
      }
    }
    return cases;
  }
};

}  // namespace

const OpContract& embedding_contract() {
  static const Embedding contract;
  return contract;
}

}  // namespace halmark
