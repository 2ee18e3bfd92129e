// Times that others measured, as a latency source: exact problems only.
#pragma once

#include <string>
#include <unordered_map>

#include "core/latency.hpp"
#include "latency/imported/kernel_table.hpp"

namespace halmark {

class ImportedSource : public LatencySource {
 public:
  // Series in order: the first that has a problem gives its time; of several rows of one problem in
  // it, the mean.
  void add(const ImportedTable& table);

  void require(std::span<const KernelCase>) override {}
  // Provenance imported; low and high are the time itself, because a table states no spread, and
  // the reason says so.
  std::optional<Latency> latency(const KernelCase& kernel_case) const override;
  std::size_t size() const { return times_.size(); }

 private:
  struct Time {
    double ns_sum = 0;
    int rows = 0;
    std::string origin;
  };
  struct Hash {
    std::size_t operator()(const Problem& problem) const;
  };
  std::unordered_map<Problem, Time, Hash> times_;
};

}  // namespace halmark
