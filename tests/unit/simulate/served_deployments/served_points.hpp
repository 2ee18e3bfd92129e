// Served rows as points that terms of engines are fitted to, by series.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "priced_rows.hpp"
#include "simulate/serving/terms_fit.hpp"

namespace halmark::test {

class ServedPoints {
 public:
  // `data`: the folder of shared data. Rows whose layout or memory the model refuses are counted
  // among the refused.
  explicit ServedPoints(const std::filesystem::path& data);

  using Series = std::vector<const serving::ServedPoint*>;
  const std::map<std::string, Series>& series() const { return series_; }
  const ServedRows& rows() const { return rows_; }
  const ServedRow& row_of(const serving::ServedPoint& point) const {
    return rows_.rows[rows_of_.at(&point)];
  }

 private:
  ServedRows rows_;
  PricedRows priced_;
  std::map<std::string, std::unique_ptr<serving::LayoutClock>> clocks_;
  std::vector<std::unique_ptr<serving::ServedPoint>> points_;
  std::map<const serving::ServedPoint*, std::size_t> rows_of_;
  std::map<std::string, Series> series_;
};

}  // namespace halmark::test
