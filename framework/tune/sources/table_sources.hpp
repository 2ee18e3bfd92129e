// The tables that a user names, as one choice of series in one order: which of them count, which
// are passed over, and why.
#pragma once

#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/table_use.hpp"
#include "latency/imported/imported_source.hpp"
#include "latency/imported/kernel_table.hpp"
#include "latency/interpolated_source.hpp"
#include "latency/launch_floor.hpp"

namespace halmark::tune {

class TableSources {
 public:
  struct Choice {
    std::string layout;               // file; "" = the built-in ones that fit
    std::vector<std::string> series;  // selectors, see SeriesChoice
    std::string series_where;
  };
  // Throws Error (exit 2) for a table that cannot be read, and a series that none has. A table that
  // states another device than `measured_on` is passed over.
  TableSources(const std::vector<std::string>& files, const Choice& choice,
               const Device& measured_on);

  bool has_points() const { return !order_.empty(); }
  std::string why_none() const;  // of the first table
  // Series of one implementation teach together, whatever their types.
  void teach(InterpolatedSource& source) const;
  void teach(LaunchFloor& floor) const;
  // Nothing is left behind for teach().
  void hand_over(ImportedSource& source);
  const std::vector<TableUse>& use() const { return use_; }

 private:
  struct Place {
    std::size_t table = 0, series = 0;
  };
  KernelSeries& at(const Place& place) { return tables_[place.table].series[place.series]; }
  const KernelSeries& at(const Place& place) const {
    return tables_[place.table].series[place.series];
  }
  SeriesUse& use_of(const Place& place);
  void name_tables(const std::vector<std::string>& files);
  void choose(const SeriesChoice& choice);

  Device measured_on_;
  std::vector<ImportedTable> tables_;
  std::vector<TableUse> use_;  // as tables_
  std::vector<Place> order_;   // of series that count
};

}  // namespace halmark::tune
