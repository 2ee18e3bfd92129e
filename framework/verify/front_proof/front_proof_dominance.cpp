#include "verify/front_proof/front_proof_dominance.hpp"

#include <algorithm>

#include "core/lists.hpp"

namespace halmark::front_proof {

bool at_least_as_good(const Vector& a, const Vector& b) {
  for (const auto j : indices(a)) {
    if (!(a[j] <= b[j])) return false;
  }
  return true;
}

bool dominates(const Vector& a, const Vector& b) { return at_least_as_good(a, b) && a != b; }

std::vector<Vector> minimal(std::vector<Vector> all) {
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  std::vector<Vector> out;
  for (const Vector& v : all) {
    const auto beats = [&v](const Vector& other) { return dominates(other, v); };
    if (std::ranges::none_of(all, beats)) out.push_back(v);
  }
  return out;
}

}  // namespace halmark::front_proof
