// The rows of an attribution while they grow: equal executions share one.
#pragma once

#include <unordered_map>

#include "profile/trace/attribution.hpp"

namespace halmark::trace {

class RowTable {
 public:
  std::uint32_t row(std::uint32_t pass, std::uint32_t scope, std::uint32_t name,
                    std::uint32_t arguments, OperatorClass of);
  OperatorRow& operator[](std::uint32_t index) { return rows_[index]; }
  std::vector<OperatorRow> take() { return std::move(rows_); }

 private:
  struct Key {
    std::uint32_t pass, scope, name, arguments;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  std::vector<OperatorRow> rows_;
  std::unordered_map<Key, std::uint32_t, Hash> index_;
};

// One launch on a host thread, in the order of the calls.
struct Launch {
  std::uint32_t correlation = absent;
  std::uint32_t row = absent;        // absent: launched outside of every operator
  std::uint32_t execution = absent;  // which execution of that row's operator
  std::uint32_t scope = 0;
  std::uint32_t pass = 0;
  enum class Kind : std::uint8_t { plain, graph, capture_begin, capture_end } kind = Kind::plain;
};

// Gives the device's time to the rows of its launches; rows of replayed graphs are added. Empties
// the recording's device events.
DeviceTime link_device_events(Recording& recording, const std::vector<Launch>& launches,
                              const std::unordered_map<std::uint32_t, std::uint32_t>& external_rows,
                              RowTable& rows);

}  // namespace halmark::trace
