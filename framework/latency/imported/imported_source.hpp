// Times that others measured, as a latency source: exact problems only.
#pragma once

#include <string>
#include <unordered_map>

#include "latency/imported/kernel_table.hpp"
#include "latency/problem_source.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {

class ImportedSource final : public ProblemSource {
 public:
  // `ceilings` of the device that the tables were measured on.
  explicit ImportedSource(roofline::Ceilings ceilings) : ceilings_(std::move(ceilings)) {}

  // Series in order: the first that has a problem gives its time; of several rows of one problem in
  // it, the mean.
  void add(const ImportedTable& table);

  using ProblemSource::latency;
  // Provenance imported; low and high are the time itself, because a table states no spread, and
  // the reason says so. Quarantined below the bound.
  std::optional<Latency> latency(const Problem& problem, const Work& work) const override;
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
  roofline::Ceilings ceilings_;
  std::unordered_map<Problem, Time, Hash> times_;
};

}  // namespace halmark
