// Vectors of objectives compared exactly; smaller is better in each.
#pragma once

#include <vector>

namespace halmark::front_proof {

using Vector = std::vector<double>;

bool at_least_as_good(const Vector& a, const Vector& b);
bool dominates(const Vector& a, const Vector& b);
// Vectors that no other one is at least as good as, each once, sorted.
std::vector<Vector> minimal(std::vector<Vector> all);

}  // namespace halmark::front_proof
