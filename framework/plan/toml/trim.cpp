// Of the kernels of a group only those count that no other kept group needs. These sums are kept up
// to date group by group: summing all groups anew for each drop took minutes for 1,600 of them.
#include "plan/toml/trim.hpp"

#include <cmath>
#include <map>

#include "core/lists.hpp"

namespace halmark {
namespace {

class Trimmer {
 public:
  Trimmer(const std::vector<TrimGroup>& groups, const std::vector<double>& kernel_seconds)
      : groups_(groups),
        kernel_seconds_(kernel_seconds),
        is_kept_(groups.size(), true),
        used_(kernel_seconds.size(), 0),
        users_(kernel_seconds.size()) {
    for (const auto g : indices(groups)) {
      class_size_of_.push_back(&class_size_[groups[g].keep_class]);
      ++*class_size_of_.back();
      for (const std::int32_t k : groups[g].kernels) {
        ++used_[as_size(k)];
        users_[as_size(k)].push_back(g);
      }
    }
    for (const auto g : indices(groups)) own_.push_back(own_seconds(g));
    kept_seconds_ = summed_seconds();
  }

  // Whether the kept groups take longer. The running sum decides only where rounding cannot.
  bool exceeds(double seconds) {
    if (std::abs(kept_seconds_ - seconds) > 1e-6 * std::abs(kept_seconds_)) {
      return kept_seconds_ > seconds;
    }
    kept_seconds_ = summed_seconds();
    return kept_seconds_ > seconds;
  }

  double summed_seconds() const {
    double out = 0;
    for (const auto k : indices(used_)) out += used_[k] > 0 ? kernel_seconds_[k] : 0;
    return out;
  }

  // Leaves out the kept group that costs most by itself; false when none may go.
  bool drop_most_expensive() {
    std::size_t most_expensive = groups_.size();
    double most = 0;
    for (const auto g : indices(groups_)) {
      if (!is_kept_[g] || *class_size_of_[g] == 1) continue;
      if (own_[g] > most) {
        most = own_[g];
        most_expensive = g;
      }
    }
    if (most_expensive == groups_.size()) return false;
    drop(most_expensive);
    return true;
  }

  // Dropping whole groups overshoots: what fits into the room that is left comes back, the last
  // one dropped (the cheapest) first.
  void take_back(double room_seconds) {
    for (auto it = dropped_.rbegin(); it != dropped_.rend(); ++it) {
      const double own = own_seconds(*it);
      if (own > room_seconds) continue;
      is_kept_[*it] = true;
      for (const std::int32_t k : groups_[*it].kernels) ++used_[as_size(k)];
      room_seconds -= own;
    }
    std::erase_if(dropped_, [&](std::size_t g) { return is_kept_[g]; });
  }

  std::vector<std::string> left_out() const {
    return mapped(dropped_, [&](const std::size_t g) {
      return groups_[g].name + ": would take " +
             std::to_string(static_cast<long>(std::lround(own_seconds(g)))) + " s of measuring";
    });
  }

  const std::vector<bool>& is_kept() const { return is_kept_; }

 private:
  void drop(std::size_t group) {
    kept_seconds_ -= own_[group];
    is_kept_[group] = false;
    --*class_size_of_[group];
    dropped_.push_back(group);
    for (const std::int32_t kernel : groups_[group].kernels) {
      const auto k = as_size(kernel);
      // From now on it is one group's own; each kernel gets there once.
      if (--used_[k] != 1) continue;
      for (const std::size_t user : users_[k]) {
        if (is_kept_[user]) own_[user] = own_seconds(user);
      }
    }
  }

  // Of the kernels that no other kept group needs.
  double own_seconds(std::size_t group) const {
    const int by_itself = is_kept_[group] ? 1 : 0;
    double out = 0;
    for (const std::int32_t k : groups_[group].kernels) {
      const auto index = as_size(k);
      out += used_[index] == by_itself ? kernel_seconds_[index] : 0;
    }
    return out;
  }

  const std::vector<TrimGroup>& groups_;
  const std::vector<double>& kernel_seconds_;
  std::vector<bool> is_kept_;
  std::vector<int> used_;                        // how many kept groups need each kernel
  std::vector<std::vector<std::size_t>> users_;  // groups with each kernel, kept or not
  std::map<std::string, int> class_size_;        // of the kept ones
  std::vector<int*> class_size_of_;              // of each group's class
  std::vector<double> own_;                      // of the kept groups
  std::vector<std::size_t> dropped_;             // in the order of dropping
  double kept_seconds_ = 0;
};

}  // namespace

TrimResult trim_to_budget(const std::vector<TrimGroup>& groups,
                          const std::vector<double>& kernel_seconds, double fixed_seconds,
                          double budget_seconds) {
  Trimmer trimmer(groups, kernel_seconds);
  const double affordable = budget_seconds - fixed_seconds;
  while (trimmer.exceeds(affordable) && trimmer.drop_most_expensive()) {
  }
  trimmer.take_back(affordable - trimmer.summed_seconds());
  return {.is_kept = trimmer.is_kept(),
          .left_out = trimmer.left_out(),
          .seconds = fixed_seconds + trimmer.summed_seconds()};
}

}  // namespace halmark
