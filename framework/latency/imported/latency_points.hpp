// Points of problems of one op in few bytes each: a published table has a hundred thousand, and a
// problem by itself takes hundreds of bytes for the names of its parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "latency/latency_point.hpp"

namespace halmark {

class LatencyPoints {
 public:
  // Throws std::logic_error for another op or other parameters than those of the first point.
  void add(const LatencyPoint& point);

  std::size_t size() const { return ns_.size(); }
  bool empty() const { return ns_.empty(); }
  const std::string& op() const { return op_; }
  double ns(std::size_t i) const { return ns_[i]; }
  std::uint32_t line(std::size_t i) const { return lines_[i]; }
  bool is_of(std::size_t i, const Problem& problem) const;
  std::uint64_t hash(std::size_t i) const;  // hash_of its problem
  // Makes the point anew. Throws std::out_of_range.
  LatencyPoint at(std::size_t i) const;
  std::vector<LatencyPoint> all() const;
  std::size_t bytes() const;  // of memory, without what vectors hold in reserve

 private:
  // A number that is mostly the same or small, per row.
  class Column {
   public:
    void add(std::int64_t value, std::size_t rows_before);
    std::int64_t at(std::size_t i) const {
      if (!wide_.empty()) return wide_[i];
      return narrow_.empty() ? same_ : narrow_[i];
    }
    std::size_t bytes() const { return 4 * narrow_.size() + 8 * wide_.size(); }

   private:
    std::int64_t same_ = 0;  // in all rows, as long as there is no list
    std::vector<std::int32_t> narrow_;
    std::vector<std::int64_t> wide_;
  };

  std::string op_;
  std::vector<std::string> names_;
  std::vector<Column> columns_;
  std::vector<double> ns_;
  std::vector<std::uint32_t> lines_;
};

// Of an op and its values; equal problems have equal hashes.
std::uint64_t hash_of(const Problem& problem);

}  // namespace halmark
