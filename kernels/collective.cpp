#include "kernels/collective.hpp"
#include "core/lists.hpp"

#include <cmath>

namespace halmark {
namespace {

constexpr std::int64_t dtypes_allowed[] = {dtype_value(Dtype::f32), dtype_value(Dtype::bf16),
                                           dtype_value(Dtype::f16), dtype_value(Dtype::s32)};
constexpr ParamSpec specs[] = {
    {.name = "bytes", .high = std::int64_t{1} << 40, .meaning = "of one rank's src"},
    {.name = "ranks", .high = 65536, .meaning = "participants"},
    {.name = "dtype",
     .kind = ParamKind::dtype,
     .allowed = dtypes_allowed,
     .meaning = "of src and dst"},
};

}  // namespace

CollectiveContract::CollectiveContract(std::string_view name, std::string_view summary)
    : NamedContract(name, summary, specs) {}

std::int64_t CollectiveContract::elements_of(const Params& p) {
  return p.at("bytes") * 8 / dtype_bits(p.dtype("dtype"));
}

std::int64_t CollectiveContract::block_elements_of(const Params& p) {
  return elements_of(p) / p.at("ranks");
}

std::vector<std::int64_t> CollectiveContract::source_dims(const Params& p) const {
  if (!is_source_split()) return {elements_of(p)};
  return {p.at("ranks"), block_elements_of(p)};
}

std::optional<std::string> CollectiveContract::check_relations(const Params& p) const {
  const auto dtype = p.dtype("dtype");
  const std::string given = "bytes=" + std::to_string(p.at("bytes")) + " is not ";
  if (dtype_bytes(dtype, elements_of(p)) != p.at("bytes")) {
    return given + "a whole number of " + std::string(dtype_name(dtype)) + " values";
  }
  if (is_source_split() && elements_of(p) % p.at("ranks") != 0) {
    return given + "one equal block of " + std::string(dtype_name(dtype)) + " values for each of " +
           std::to_string(p.at("ranks")) + " ranks";
  }
  return std::nullopt;
}

std::vector<OperandSpec> CollectiveContract::operands(const Params& p) const {
  const auto dtype = p.dtype("dtype");
  const double scale = is_integer(dtype) ? 1000 : 1;
  OperandSpec src{
      .name = "src", .role = Role::input, .dtype = dtype, .dims = source_dims(p), .scale = scale};
  OperandSpec dst{.name = "dst", .role = Role::output, .dtype = dtype, .dims = destination_dims(p)};
  return {src, dst};
}

Work CollectiveContract::work(const Params& p) const {
  const auto ranks = as_double(p.at("ranks"));
  double written = 1;
  for (const auto dim : destination_dims(p)) written *= as_double(dim);
  return {.vector_flops = additions(p),
          .bytes_read = as_double(p.at("bytes")),
          .bytes_written = written * dtype_bits(p.dtype("dtype")) / 8,
          .message_bytes = message_bytes(p),
          .transfer_bytes = ranks > 1 ? message_bytes(p) * bus_factor(ranks) : 0,
          .compute_dtype = p.dtype("dtype"),
          .exchange = ranks > 1 ? exchange() : Exchange::none};
}

Params CollectiveContract::twin(const Params& p) const {
  const auto blocks = is_source_split() ? p.at("ranks") : 1;
  const auto width = dtype_bits(p.dtype("dtype")) / 8;
  Params reduced = p;
  reduced.set("bytes", std::min<std::int64_t>(p.at("bytes"), blocks * 4099 * width));
  return reduced;
}

std::vector<Params> CollectiveContract::conformance_params(std::span<const Dtype> dtypes) const {
  std::vector<Params> cases;
  for (const auto dtype : common_dtypes(dtypes_allowed, dtypes)) {
    for (const std::int64_t ranks : {1, 2, 3}) {
      const std::int64_t blocks = is_source_split() ? ranks : 1;
      for (const std::int64_t count : {1, 127, 4099, 65536}) {
        cases.push_back({{"bytes", dtype_bytes(dtype, blocks * count)},
                         {"ranks", ranks},
                         {"dtype", dtype_value(dtype)}});
      }
    }
  }
  return cases;
}

void MovingCollective::reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                                 std::span<const std::int64_t> elements,
                                 std::span<Expected> out) const {
  for_each_row(elements, row_elements(p), [&](std::int64_t, std::span<const std::size_t> listed) {
    const auto first = elements[listed.front()], last = elements[listed.back()];
    const Origin from = origin(p, rank, first);
    const auto x = read_row(inputs, from.rank, 0, from.element, last - first + 1);
    for (const auto i : listed) out[i] = {x[as_size(elements[i] - first)], 0};
  });
}

double ReducingCollective::additions(const Params& p) const {
  const auto ranks = as_double(p.at("ranks"));
  return as_double(elements_of(p)) * (ranks - 1) / ranks;
}

void ReducingCollective::reference(const Params& p, const InputReader& inputs, int rank,
                                   std::size_t, std::span<const std::int64_t> elements,
                                   std::span<Expected> out) const {
  const auto ranks = as_int(p.at("ranks"));
  const double roundoff = (ranks - 1) * unit_roundoff(p.dtype("dtype"));
  const auto offset = first_element(p, rank);
  for_each_row(elements, read_block_elements,
               [&](std::int64_t, std::span<const std::size_t> listed) {
                 const auto first = elements[listed.front()], last = elements[listed.back()];
                 const auto count = as_size(last - first + 1);
                 std::vector<double> sum(count), magnitude(count);
                 for (const int r : below(ranks)) {
                   const auto x = read_row(inputs, r, 0, offset + first, last - first + 1);
                   for (const auto i : indices(count)) {
                     sum[i] += x[i];
                     magnitude[i] += std::fabs(x[i]);
                   }
                 }
                 for (const auto i : listed) {
                   const auto at = as_size(elements[i] - first);
                   out[i] = {.value = sum[at], .tolerance = roundoff * magnitude[at]};
                 }
               });
}

std::optional<CollectiveBandwidth> collective_bandwidth(const Work& work, double duration_ns) {
  if (work.message_bytes <= 0 || duration_ns <= 0) return std::nullopt;
  return CollectiveBandwidth{.algorithm = work.message_bytes / duration_ns * 1e9,
                             .bus = work.transfer_bytes / duration_ns * 1e9};
}

}  // namespace halmark
