// Rows are never changed: what was learnt of one later is a row of its own in the chain of its run,
// and readers put both together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "core/measured/measurement.hpp"
#include "journal/rows/stored_row.hpp"

namespace halmark::journal {

class Doubts {
 public:
  // A row of the kind `doubt`. Throws std::exception where its body is none.
  void add(const StoredRow& row);
  // An ok row of which there is a doubt is suspect, for its reason; a status that says worse stays.
  void apply(std::int64_t run, const std::string& case_key, Measurement& row) const;
  bool empty() const { return reasons_.empty(); }

 private:
  std::map<std::tuple<std::int64_t, std::string, int>, std::string> reasons_;
};

}  // namespace halmark::journal
