#include "measure/campaign/case_group.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/numeric/random.hpp"

namespace halmark {
namespace {

template <class T>
void shuffle(std::vector<T>& items, std::uint64_t seed) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[uniform_below(hash_u64(seed, i), i)]);
  }
}

}  // namespace

ShardPlace CaseGroup::place(int index) const {
  return {.backend = backend, .device = device, .parts = parts, .part = index % std::max(1, parts)};
}

CaseGroup case_group(const KernelCase& kernel_case) {
  const auto ranks = kernel_case.problem.params.find("ranks");
  return {
      .backend = kernel_case.backend,
      .device = kernel_case.device,
      .parts = std::max(1, kernel_case.parts),
      .shards_at_once = std::max(1, ranks ? static_cast<int>(*ranks) : kernel_case.shards_at_once),
      .is_collective = ranks.has_value()};
}

std::vector<GroupedCases> round_order(std::span<const KernelCase> cases, std::uint64_t seed) {
  std::map<CaseGroup, std::vector<std::size_t>> by_group;
  for (std::size_t i = 0; i < cases.size(); ++i) by_group[case_group(cases[i])].push_back(i);
  std::vector<GroupedCases> order;
  for (auto& [group, members] : by_group) order.push_back({group, std::move(members)});
  shuffle(order, hash_combine(seed, 0));
  for (std::size_t i = 0; i < order.size(); ++i) shuffle(order[i].cases, hash_combine(seed, i + 1));
  return order;
}

}  // namespace halmark
