// Times that others measured, as a latency source: exact problems only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "latency/imported/kernel_table.hpp"
#include "latency/problem_source.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {

class ImportedSource final : public ProblemSource {
 public:
  // `ceilings` of the device that the tables were measured on.
  explicit ImportedSource(roofline::Ceilings ceilings) : ceilings_(std::move(ceilings)) {}

  // Series in order: the first that has a problem gives its time; of several rows of one problem in
  // it, the mean. `table` as reports name it. How many of its points an earlier series gives, and
  // which one gives the first of them.
  struct PassedOver {
    std::size_t points = 0;
    std::string origin;
  };
  PassedOver add(const std::string& table, KernelSeries series);
  void add(ImportedTable table);

  using ProblemSource::latency;
  // Provenance imported; low and high are the time itself, because a table states no spread, and
  // the reason says so. Quarantined below the bound.
  std::optional<Latency> latency(const Problem& problem, const Work& work) const override;
  std::size_t size() const { return points_; }  // without those that were passed over
  std::size_t bytes() const;                    // of memory

 private:
  struct Series {
    std::string table, origin;
    LatencyPoints points;
  };
  // Where a point is; ordered by hash, then by series and row.
  struct Place {
    std::uint32_t hash = 0, series = 0, row = 0;
    auto operator<=>(const Place&) const = default;
  };
  // The first of a problem, or places_.end().
  std::vector<Place>::const_iterator find(const Problem& problem) const;

  roofline::Ceilings ceilings_;
  std::vector<Series> series_;
  std::vector<Place> places_;
  std::size_t points_ = 0;
};

}  // namespace halmark
