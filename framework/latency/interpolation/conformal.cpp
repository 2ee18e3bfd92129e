#include "latency/interpolation/conformal.hpp"

#include "core/numeric/cast.hpp"

namespace halmark {

double conformal_quantile(std::vector<double> values, double share) {
  const auto n = as_double(values.size());
  const auto rank = std::min(values.size() - 1, as_size(std::ceil((n + 1) * share)) - 1);
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(rank));
  return values[rank];
}

std::uint64_t scattered(std::size_t index) {
  std::uint64_t h = index * 0x9e3779b97f4a7c15u;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  return h ^ h >> 32;
}

}  // namespace halmark
