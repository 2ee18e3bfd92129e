// The tables that a user names, as one choice of series in one order: which of them count, which
// are passed over, and why.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/chosen/table_use.hpp"
#include "core/device.hpp"
#include "latency/imported/imported_source.hpp"
#include "latency/imported/kernel_table.hpp"
#include "latency/interpolation/interpolated_source.hpp"
#include "latency/interpolation/transferred_source.hpp"
#include "latency/launch_floor.hpp"

namespace halmark::tune {

class TableSources {
 public:
  struct Choice {
    std::string layout;               // file; "" = the built-in ones that fit
    std::vector<std::string> series;  // selectors, see SeriesChoice
    std::string series_where;
  };
  struct Measured {
    Device target;
    std::optional<Device> on = {};  // what a user says that the tables are of; else the target
    std::vector<Device> others =
        {};  // that tables may state to be carried over; none = they may not
  };
  // Throws Error (exit 2) for a table that cannot be read, and a series that none has. A table that
  // states a device that is none of these is passed over.
  TableSources(const std::vector<std::string>& files, const Choice& choice,
               const Measured& measured);

  bool has_points() const { return !order_.empty(); }
  std::string why_none() const;  // of the first table
  // Series of one implementation teach together, whatever their types: those of the target
  // between them, those of other devices beyond theirs.
  void teach(InterpolatedSource& source) const;
  void teach(TransferredSource& source) const;
  void teach(LaunchFloor& floor) const;
  // Those of the target. Nothing of them is left behind for teach().
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
  bool is_of_target(const Place& place) const;
  // Calls take(place of its first series, points, origin).
  template <class Take>
  void each_implementation(const Take& take) const;
  void name_tables(const std::vector<std::string>& files);
  void choose(const SeriesChoice& choice);

  Device target_;
  std::vector<ImportedTable> tables_;
  std::vector<Device> devices_;  // as tables_
  std::vector<TableUse> use_;    // as tables_
  std::vector<Place> order_;     // of series that count
};

}  // namespace halmark::tune
