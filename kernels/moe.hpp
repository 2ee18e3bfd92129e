// Parameters and operands that the mixture-of-experts ops share.
#pragma once

#include "kernels/routing.hpp"
#include "kernels/rows.hpp"

namespace halmark {

inline constexpr std::int64_t tokens_max = std::int64_t{1} << 26;
inline constexpr std::int64_t experts_max = 65536;

inline constexpr ParamSpec tokens_spec{
    .name = "tokens", .high = tokens_max, .meaning = "tokens that are routed"};
inline constexpr ParamSpec top_k_spec{
    .name = "top_k", .high = experts_max, .meaning = "experts that a token picks"};
inline constexpr ParamSpec experts_spec{
    .name = "experts", .high = experts_max, .meaning = "experts on all ranks"};
inline constexpr ParamSpec skew_spec{.name = "skew",
                                     .low = 0,
                                     .high = 1000,
                                     .fallback = 0,
                                     .meaning = "percent; exponent of the experts' power law"};
inline constexpr ParamSpec ep_size_spec{
    .name = "ep_size", .high = experts_max, .fallback = 1, .meaning = "expert-parallel ranks"};
inline constexpr ParamSpec ep_rank_spec{.name = "ep_rank",
                                        .low = 0,
                                        .high = experts_max - 1,
                                        .fallback = 0,
                                        .meaning = "whose experts are computed"};
inline constexpr ParamSpec local_rows_spec{
    .name = "rows", .meaning = "rows of the rank's experts", .derived = true};

// Of what moves rows between tokens and a rank's experts.
inline constexpr std::array<ParamSpec, 9> routed_row_specs{{
    tokens_spec,
    top_k_spec,
    experts_spec,
    {.name = "hidden", .high = size_max, .meaning = "values per row"},
    {.name = "dtype",
     .kind = ParamKind::dtype,
     .allowed = float_dtypes,
     .meaning = "of src and dst"},
    skew_spec,
    ep_size_spec,
    ep_rank_spec,
    local_rows_spec,
}};

// An operand whose values are the routing's: s32, the same in every argument set.
inline OperandSpec routing_operand(std::string name, std::vector<std::int64_t> dims,
                                   GivenValues::Make values) {
  return {.name = std::move(name),
          .role = Role::input,
          .dtype = Dtype::s32,
          .dims = std::move(dims),
          .distribution = Distribution::given,
          .given = std::make_shared<const GivenValues>(std::move(values))};
}

// Ops on the rows of a rank: the routing's parameters, and `rows` that follow from them.
class RoutedContract : public NamedContract {
 public:
  using NamedContract::NamedContract;
  std::optional<std::string> check_relations(const Params& p) const override {
    return Routing(p).fault();
  }
  std::int64_t derived(std::string_view, const Params& p) const override {
    return Routing(p).rows();
  }
};

// One token, every expert picked, one expert more than fits, even and steep routing, both ranks of
// two, more experts than rows, primes.
inline std::vector<Params> routing_shapes() {
  struct Shape {
    std::int64_t tokens, top_k, experts, skew, ep_size, ep_rank;
  };
  static constexpr Shape shapes[] = {
      {1, 1, 1, 0, 1, 0},    {1, 8, 32, 0, 1, 0},  {1, 4, 4, 150, 1, 0},   {2, 2, 31, 150, 1, 0},
      {7, 3, 8, 0, 2, 0},    {7, 3, 8, 0, 2, 1},   {33, 4, 16, 150, 2, 0}, {33, 4, 16, 150, 2, 1},
      {65, 2, 5, 100, 1, 0}, {129, 2, 3, 60, 1, 0}};
  std::vector<Params> out;
  for (const auto& s : shapes) {
    out.push_back({{"tokens", s.tokens},
                   {"top_k", s.top_k},
                   {"experts", s.experts},
                   {"skew", s.skew},
                   {"ep_size", s.ep_size},
                   {"ep_rank", s.ep_rank}});
    out.back().set("rows", Routing(out.back()).rows());
  }
  return out;
}

// Routings x dtypes for ops of `hidden` and `dtype`, the widths in turn.
inline std::vector<Params> routed_rows_cases(std::span<const Dtype> dtypes,
                                             std::span<const std::int64_t> widths) {
  const auto routings = routing_shapes();
  std::vector<Params> cases;
  for (const auto dtype : dtypes) {
    for (std::size_t i = 0; i < routings.size(); ++i) {
      Params params = routings[i];
      params.set("hidden", widths[i % widths.size()]);
      params.set("dtype", dtype_value(dtype));
      cases.push_back(std::move(params));
    }
  }
  return cases;
}

// Columns of a twin of so many rows: every element stays checkable in milliseconds.
inline std::int64_t twin_columns(std::int64_t rows) {
  constexpr std::int64_t elements_max = 400'000;
  return std::max<std::int64_t>(elements_max / rows, 1);
}

}  // namespace halmark
