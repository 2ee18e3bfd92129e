#include "kernels/collective.hpp"

namespace halmark {
namespace {

constexpr std::array<std::int64_t, 4> dtypes_allowed{
    dtype_value(Dtype::f32), dtype_value(Dtype::bf16), dtype_value(Dtype::f16),
    dtype_value(Dtype::s32)};
constexpr std::array<ParamSpec, 3> specs{{
    {.name = "bytes", .high = std::int64_t{1} << 40, .meaning = "of one rank's src"},
    {.name = "ranks", .high = 65536, .meaning = "participants"},
    {.name = "dtype",
     .kind = ParamKind::dtype,
     .allowed = dtypes_allowed,
     .meaning = "of src and dst"},
}};

}  // namespace

std::span<const ParamSpec> CollectiveContract::params() const { return specs; }

std::int64_t CollectiveContract::elements_of(const Params& p) {
  return p.at("bytes") * 8 / dtype_bits(p.dtype("dtype"));
}

std::optional<std::string> CollectiveContract::check_relations(const Params& p) const {
  const auto dtype = p.dtype("dtype");
  if (dtype_bytes(dtype, elements_of(p)) == p.at("bytes")) return std::nullopt;
  return "bytes=" + std::to_string(p.at("bytes")) + " is not a whole number of " +
         std::string(dtype_name(dtype)) + " values";
}

std::vector<OperandSpec> CollectiveContract::operands(const Params& p) const {
  const auto count = elements_of(p);
  const auto dtype = p.dtype("dtype");
  const double scale = is_integer(dtype) ? 1000 : 1;
  OperandSpec src{
      .name = "src", .role = Role::input, .dtype = dtype, .dims = {count}, .scale = scale};
  OperandSpec dst{.name = "dst", .role = Role::output, .dtype = dtype, .dims = {count}};
  if (const auto copies = gathered(p); copies > 0) dst.dims.insert(dst.dims.begin(), copies);
  return {src, dst};
}

Params CollectiveContract::twin(const Params& p) const {
  const auto width = dtype_bits(p.dtype("dtype")) / 8;
  Params reduced = p;
  reduced.set("bytes", std::min<std::int64_t>(p.at("bytes"), 4099 * width));
  return reduced;
}

std::vector<Params> CollectiveContract::conformance_params(std::span<const Dtype> dtypes) const {
  std::vector<Params> cases;
  for (const auto dtype : common_dtypes(dtypes_allowed, dtypes)) {
    for (const std::int64_t ranks : {1, 2, 3}) {
      for (const std::int64_t count : {1, 127, 4099, 65536}) {
        cases.push_back({{"bytes", dtype_bytes(dtype, count)},
                         {"ranks", ranks},
                         {"dtype", dtype_value(dtype)}});
      }
    }
  }
  return cases;
}

}  // namespace halmark
