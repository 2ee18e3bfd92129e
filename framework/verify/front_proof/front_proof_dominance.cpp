#include "verify/front_proof/front_proof_dominance.hpp"

#include <algorithm>

namespace halmark::front_proof {

bool at_least_as_good(const Vector& a, const Vector& b) {
  for (std::size_t j = 0; j < a.size(); ++j) {
    if (!(a[j] <= b[j])) return false;
  }
  return true;
}

bool dominates(const Vector& a, const Vector& b) { return at_least_as_good(a, b) && a != b; }

std::vector<Vector> minimal(std::vector<Vector> all) {
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<Vector> out;
  for (const Vector& v : all) {
    const auto beats = [&v](const Vector& other) { return dominates(other, v); };
    if (std::ranges::none_of(all, beats)) out.push_back(v);
  }
  return out;
}

}  // namespace halmark::front_proof
