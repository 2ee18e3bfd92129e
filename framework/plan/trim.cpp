#include "plan/trim.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace halmark {
namespace {

// How many kept groups need each kernel.
std::vector<int> users(const std::vector<TrimGroup>& groups, const std::vector<bool>& is_kept,
                       std::size_t kernels) {
  std::vector<int> out(kernels, 0);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!is_kept[g]) continue;
    for (const std::int32_t k : groups[g].kernels) ++out[static_cast<std::size_t>(k)];
  }
  return out;
}

class Trimmer {
 public:
  Trimmer(const std::vector<TrimGroup>& groups, const std::vector<double>& kernel_seconds)
      : groups_(groups), kernel_seconds_(kernel_seconds), is_kept_(groups.size(), true) {}

  double kept_seconds() const {
    const std::vector<int> used = users(groups_, is_kept_, kernel_seconds_.size());
    double out = 0;
    for (std::size_t k = 0; k < used.size(); ++k) out += used[k] > 0 ? kernel_seconds_[k] : 0;
    return out;
  }

  // Leaves out the kept group that costs most by itself; false when none may go.
  bool drop_dearest() {
    std::map<std::string, int> class_size;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      class_size[groups_[g].keep_class] += is_kept_[g];
    std::size_t dearest = groups_.size();
    double most = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!is_kept_[g] || class_size[groups_[g].keep_class] == 1) continue;
      if (const double own = own_seconds(g); own > most) {
        most = own;
        dearest = g;
      }
    }
    if (dearest == groups_.size()) return false;
    is_kept_[dearest] = false;
    dropped_.push_back(dearest);
    return true;
  }

  // Dropping whole groups overshoots: what fits into the room that is left comes back, the last
  // one dropped (the cheapest) first.
  void take_back(double room_seconds) {
    for (auto it = dropped_.rbegin(); it != dropped_.rend(); ++it) {
      const double own = own_seconds(*it);
      if (own > room_seconds) continue;
      is_kept_[*it] = true;
      room_seconds -= own;
    }
    std::erase_if(dropped_, [&](std::size_t g) { return is_kept_[g]; });
  }

  std::vector<std::string> left_out() const {
    std::vector<std::string> out;
    for (const std::size_t g : dropped_) {
      out.push_back(groups_[g].name + ": would take " +
                    std::to_string(static_cast<long>(std::lround(own_seconds(g)))) +
                    " s of measuring");
    }
    return out;
  }

  const std::vector<bool>& is_kept() const { return is_kept_; }

 private:
  // Of the kernels that no other kept group needs.
  double own_seconds(std::size_t group) const {
    std::vector<bool> others = is_kept_;
    others[group] = false;
    const std::vector<int> used = users(groups_, others, kernel_seconds_.size());
    double out = 0;
    for (const std::int32_t k : groups_[group].kernels) {
      const auto index = static_cast<std::size_t>(k);
      out += used[index] == 0 ? kernel_seconds_[index] : 0;
    }
    return out;
  }

  const std::vector<TrimGroup>& groups_;
  const std::vector<double>& kernel_seconds_;
  std::vector<bool> is_kept_;
  std::vector<std::size_t> dropped_;  // in the order of dropping
};

}  // namespace

TrimResult trim_to_budget(const std::vector<TrimGroup>& groups,
                          const std::vector<double>& kernel_seconds, double fixed_seconds,
                          double budget_seconds) {
  Trimmer trimmer(groups, kernel_seconds);
  const double affordable = budget_seconds - fixed_seconds;
  while (trimmer.kept_seconds() > affordable && trimmer.drop_dearest()) {
  }
  trimmer.take_back(affordable - trimmer.kept_seconds());
  return {.is_kept = trimmer.is_kept(),
          .left_out = trimmer.left_out(),
          .seconds = fixed_seconds + trimmer.kept_seconds()};
}

}  // namespace halmark
