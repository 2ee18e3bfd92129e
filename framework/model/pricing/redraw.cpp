#include "model/pricing/redraw.hpp"

#include "core/numeric/random.hpp"
#include "core/numeric/statistics.hpp"

namespace halmark {

std::vector<KernelTime> redraw(std::span<const std::vector<double>> process_medians_ns,
                               std::uint64_t seed, std::uint64_t draw) {
  std::vector<KernelTime> out(process_medians_ns.size());
  std::vector<double> drawn;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::vector<double>& known = process_medians_ns[k];
    if (known.empty()) continue;
    const std::uint64_t key = hash_combine(hash_combine(seed, draw), k);
    drawn.clear();
    for (std::size_t i = 0; i < known.size(); ++i) {
      drawn.push_back(known[uniform_below(hash_u64(key, i), known.size())]);
    }
    const double ns = median(drawn);
    out[k] = {.ns = ns, .low_ns = ns, .high_ns = ns, .lower_bound_ns = 0, .is_known = true};
  }
  return out;
}

}  // namespace halmark
