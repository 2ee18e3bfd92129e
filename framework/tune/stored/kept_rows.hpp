// Rows of kernels measured outside of sweeps, in the results database as a run of their own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/store.hpp"

namespace halmark::tune {

class KeptRows {
 public:
  struct Place {
    std::string database;
    // The user named the database, or what is kept changes what later commands do: one that cannot
    // be written is an Error, before anything is measured. Else it is a reason.
    bool is_asked = false;
    bool is_off = false;  // keep nothing
  };
  KeptRows(const Place& place, const RunInfo& run, const std::vector<std::string>& machine_lines);

  // Nothing where nothing is kept.
  std::optional<std::int64_t> run() const;
  // Why not, where that was not asked for: "" = kept, or off.
  const std::string& reason() const { return reason_; }

  void append(const Measurement& row);
  void append(const UsedPeaks& peaks);  // that the rows from now on are judged by
  void append(const Evaluation& evaluation);
  void append(const Validation& validation);
  void append(const Winner& winner);

 private:
  void keep(const std::function<void()>& write);

  bool is_asked_;
  std::unique_ptr<Store> store_;
  std::int64_t run_ = 0;
  std::string reason_;
};

}  // namespace halmark::tune
