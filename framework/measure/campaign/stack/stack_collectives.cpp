#include "measure/campaign/stack/stack_collectives.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/lists.hpp"

namespace halmark {
namespace {

// A rank's collective step: the problem, and who meets in it.
struct Meeting {
  const Problem* problem;
  std::vector<int> members;
  bool operator==(const Meeting& other) const {
    return *problem == *other.problem && members == other.members;
  }
};

// In the order of execution.
std::vector<Meeting> meetings(const Stack& stack, std::size_t ranks) {
  std::vector<int> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  std::vector<Meeting> found;
  for (const StackStep& step : stack.steps) {
    const KernelCase& kernel = stack.kernels[as_size(step.kernel)];
    if (!kernel.is_collective()) continue;
    const auto* members = find_value(stack.members, step.kernel);
    found.push_back({&kernel.problem, !members ? all : *members});
  }
  return found;
}

std::string next_text(const std::vector<Meeting>& of_rank, std::size_t at) {
  return at == of_rank.size() ? "no more" : of_rank[at].problem->text();
}

// Executes the meetings of all ranks as they would: one takes place when it is the next of all its
// members. Nothing is left, or some ranks wait for ever.
class Rendezvous {
 public:
  explicit Rendezvous(std::span<const Stack> per_rank) : next_(per_rank.size(), 0) {
    for (const Stack& stack : per_rank) all_.push_back(meetings(stack, per_rank.size()));
  }

  std::optional<std::string> ends() {
    while (meet()) {
    }
    for (const auto rank : indices(all_)) {
      if (next_[rank] == all_[rank].size()) continue;
      return stuck(rank);
    }
    return std::nullopt;
  }

 private:
  bool meet() {
    for (const auto rank : indices(all_)) {
      if (next_[rank] == all_[rank].size()) continue;
      const Meeting& meeting = all_[rank][next_[rank]];
      if (std::ranges::any_of(meeting.members, [&](int m) { return !is_next(m, meeting); })) {
        continue;
      }
      for (const int m : meeting.members) ++next_[as_size(m)];
      return true;
    }
    return false;
  }

  bool is_next(int rank, const Meeting& meeting) const {
    const auto r = as_size(rank);
    return r < all_.size() && next_[r] < all_[r].size() && all_[r][next_[r]] == meeting;
  }

  std::string stuck(std::size_t rank) const {
    const Meeting& meeting = all_[rank][next_[rank]];
    const auto other =
        std::ranges::find_if(meeting.members, [&](int m) { return !is_next(m, meeting); });
    const auto there = as_size(*other);
    const std::size_t low = std::min(rank, there), high = std::max(rank, there);
    return "collective " + std::to_string(next_[low] + 1) + " is " +
           next_text(all_[low], next_[low]) + " on rank " + std::to_string(low) + " and " +
           next_text(all_[high], next_[high]) + " on rank " + std::to_string(high);
  }

  std::vector<std::vector<Meeting>> all_;
  std::vector<std::size_t> next_;  // by rank
};

}  // namespace

std::optional<std::string> collective_mismatch(std::span<const Stack> per_rank) {
  for (const Stack& stack : per_rank) {
    for (const Meeting& meeting : meetings(stack, per_rank.size())) {
      const auto ranks = as_size(meeting.problem->params.at("ranks"));
      if (ranks == meeting.members.size()) continue;
      return meeting.problem->text() + ": " + std::to_string(meeting.members.size()) + " of the " +
             std::to_string(per_rank.size()) + " ranks would meet in it";
    }
  }
  for (const auto& cut : rank_cuts(per_rank)) {
    std::size_t ranks = 0;
    for (const std::vector<int>& group : cut) ranks += group.size();
    if (ranks == per_rank.size()) continue;
    return "only " + std::to_string(ranks) + " of the " + std::to_string(per_rank.size()) +
           " ranks are in a group of " + std::to_string(cut.front().size());
  }
  return Rendezvous(per_rank).ends();
}

std::vector<std::vector<std::vector<int>>> rank_cuts(std::span<const Stack> per_rank) {
  std::set<std::vector<int>> groups;
  for (const Stack& stack : per_rank) {
    for (const auto& [kernel, members] : stack.members) groups.insert(members);
  }
  std::vector<std::vector<std::vector<int>>> cuts;
  for (const std::vector<int>& group : groups) {
    auto* cut = find_or_null(cuts, true, [&](const auto& known) {
      return std::ranges::none_of(known, [&](const std::vector<int>& other) {
        return other.size() != group.size() ||
               std::ranges::find_first_of(other, group) != other.end();
      });
    });
    if (!cut) {
      cuts.push_back({group});
    } else {
      cut->push_back(group);
    }
  }
  return cuts;
}

}  // namespace halmark
