#include "measure/campaign/case_group.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/lists.hpp"
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

namespace {

std::vector<std::string> devices_of(const std::string& text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == '+') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

}  // namespace

ShardPlace CaseGroup::place(int index) const {
  const auto at = as_size(index);
  if (!places.empty()) return places[at];
  if (const auto each = devices_of(device); each.size() > 1) {
    const auto own = each.begin() + as_int64(at % each.size());
    const auto before = std::count(each.begin(), own, *own);
    return {.backend = backend,
            .device = *own,
            .parts = parts,
            .part = as_int(before) % std::max(1, parts)};
  }
  return {.backend = backend,
          .device = device.substr(0, device.find('@')),
          .parts = parts,
          .part = index % std::max(1, parts)};
}

CaseGroup case_group(const KernelCase& kernel_case) {
  const auto ranks = kernel_case.problem.params.find("ranks");
  return {.backend = kernel_case.backend,
          .device = kernel_case.device,
          .parts = std::max(1, kernel_case.parts),
          .shards_at_once = std::max(1, ranks ? as_int(*ranks) : kernel_case.shards_at_once),
          .is_collective = ranks.has_value()};
}

std::vector<GroupedCases> round_order(std::span<const KernelCase> cases, std::uint64_t seed,
                                      const StacksOf& stacks_of) {
  // Stacks in the order in which the cases name them: addresses are no order.
  std::map<CaseGroup, std::vector<std::size_t>> by_group;
  std::vector<GroupedCases> order;
  std::map<const Stack*, std::size_t> by_stack;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const bool is_in_stack = cases[i].mode == CacheMode::in_stack && stacks_of;
    const std::span<const Stack> stacks =
        is_in_stack ? stacks_of(cases[i]) : std::span<const Stack>();
    if (stacks.empty()) {
      by_group[case_group(cases[i])].push_back(i);
      continue;
    }
    const auto [it, is_new] = by_stack.try_emplace(stacks.data(), order.size());
    if (is_new) order.push_back({.group = case_group(cases[i]), .cases = {}, .stacks = stacks});
    order[it->second].cases.push_back(i);
  }
  for (auto& [group, members] : by_group) {
    order.push_back({.group = group, .cases = std::move(members), .stacks = {}});
  }
  shuffle(order, hash_combine(seed, 0));
  for (const auto i : indices(order)) shuffle(order[i].cases, hash_combine(seed, i + 1));
  return order;
}

}  // namespace halmark
