// Which cases share workers: equal shards of one device, measured at once or alone.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/kernel_case.hpp"

namespace halmark {

struct CaseGroup {
  std::string backend;
  std::string device;
  int parts = 1;
  int shards_at_once = 1;
  bool is_collective = false;
  std::vector<ShardPlace> places = {};  // by worker, where they are named; else parts of the device
  auto operator<=>(const CaseGroup&) const = default;
  int workers() const { return shards_at_once; }
  // Place of worker `index`: its own, or of the parts 0 .. shards_at_once - 1. A device "0+1" is
  // device 0 for the first worker and 1 for the second; "0@2" is device 0 on each of two nodes.
  ShardPlace place(int index) const;
};

// A collective runs on `ranks` workers at once, whatever its case says.
CaseGroup case_group(const KernelCase& kernel_case);

// The stacks of all ranks in which a case in the mode in_stack stands; empty = not known.
using StacksOf = std::function<std::span<const Stack>(const KernelCase&)>;

struct GroupedCases {
  CaseGroup group;
  std::vector<std::size_t> cases;  // indices, in the order to visit
  std::span<const Stack> stacks;   // of cases in the mode in_stack: they are measured together
};

// One interleaved pass: groups and the cases inside each in an order that depends on the seed
// alone. Which group goes first is shuffled too, so that no group always meets a cold machine.
std::vector<GroupedCases> round_order(std::span<const KernelCase> cases, std::uint64_t seed,
                                      const StacksOf& stacks_of = {});

}  // namespace halmark
