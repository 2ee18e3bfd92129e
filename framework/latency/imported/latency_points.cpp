#include "latency/imported/latency_points.hpp"

#include <limits>
#include <stdexcept>

#include "core/lists.hpp"

namespace halmark {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of_op(const std::string& op) {
  std::uint64_t out = 0;
  for (const char c : op) out = mixed(out, static_cast<unsigned char>(c));
  return out;
}

bool is_narrow(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

std::uint64_t hash_of(const Problem& problem) {
  std::uint64_t out = hash_of_op(problem.op);
  for (const Param& param : problem.params.items()) {
    out = mixed(out, as_uint64(param.value));
  }
  return out;
}

void LatencyPoints::Column::add(std::int64_t value, std::size_t rows_before) {
  if (rows_before == 0) {
    same_ = value;
    return;
  }
  if (wide_.empty() && narrow_.empty()) {
    if (value == same_) return;
    if (is_narrow(same_)) {
      narrow_.assign(rows_before, as_int(same_));
    } else {
      wide_.assign(rows_before, same_);
    }
  }
  if (wide_.empty() && !is_narrow(value)) {
    wide_.assign(narrow_.begin(), narrow_.end());
    narrow_ = {};
  }
  if (wide_.empty()) {
    narrow_.push_back(as_int(value));
  } else {
    wide_.push_back(value);
  }
}

void LatencyPoints::add(const LatencyPoint& point) {
  const auto& items = point.problem.params.items();
  if (empty()) {
    op_ = point.problem.op;
    for (const Param& item : items) names_.push_back(item.name);
    columns_.resize(items.size());
  }
  if (point.problem.op != op_ || items.size() != columns_.size()) {
    throw std::logic_error("points of two ops in one series");
  }
  for (const auto c : indices(items)) {
    if (items[c].name != names_[c]) throw std::logic_error("points of other parameters");
    columns_[c].add(items[c].value, size());
  }
  ns_.push_back(point.ns);
  lines_.push_back(point.line);
}

bool LatencyPoints::is_of(std::size_t i, const Problem& problem) const {
  const auto& items = problem.params.items();
  if (problem.op != op_ || items.size() != columns_.size()) return false;
  for (const auto c : indices(items)) {
    if (items[c].value != columns_[c].at(i) || items[c].name != names_[c]) return false;
  }
  return true;
}

std::uint64_t LatencyPoints::hash(std::size_t i) const {
  std::uint64_t out = hash_of_op(op_);
  for (const Column& column : columns_) out = mixed(out, as_uint64(column.at(i)));
  return out;
}

LatencyPoint LatencyPoints::at(std::size_t i) const {
  LatencyPoint out{{op_, {}}, ns_.at(i), lines_[i]};
  for (const auto c : indices(columns_)) {
    out.problem.params.set(names_[c], columns_[c].at(i));
  }
  return out;
}

std::vector<LatencyPoint> LatencyPoints::all() const {
  return mapped(indices(size()), [&](const auto i) { return at(i); });
}

std::size_t LatencyPoints::bytes() const {
  std::size_t out = size() * (sizeof(double) + sizeof(std::uint32_t));
  for (const Column& column : columns_) out += column.bytes();
  return out;
}

}  // namespace halmark
