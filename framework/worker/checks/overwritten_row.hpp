// One row of an input, or all, that hold the values of another one, until they are put back: an
// answer that a kernel keeps by a part of its inputs is then a wrong one, and one that it keeps by
// all of them is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/protocol.hpp"
#include "measure/sampling/clock_source.hpp"
#include "worker/staging/argument_ring.hpp"

namespace halmark::worker {

// A row that may be overwritten, drawn from the inputs of a kernel; nothing where there is none:
// indices and given values stay, and a lone element has nothing to become.
std::optional<protocol::OverwrittenRow> draw_row(const ArgumentRing& ring, std::uint64_t random);

// A whole operand, turned by another amount than those of `drawn` where it has that many.
std::optional<protocol::OverwrittenRow> draw_whole(const ArgumentRing& ring, std::uint64_t random,
                                                   std::span<const protocol::OverwrittenRow> drawn);

class OverwriteRow {
 public:
  // Throws RequestFailed, like restore().
  OverwriteRow(ArgumentRing& ring, int set, const protocol::OverwrittenRow& row,
               ClockSource& clock);
  void restore();
  std::uint64_t bytes() const { return before_.size(); }
  double write_ns() const { return write_ns_; }

  // The bytes of output `operand` that belong to the row, as both are cut along their rows; at most
  // KeptOutput::kept_bytes_max.
  struct Stretch {
    std::uint64_t begin = 0, bytes = 0;
  };
  Stretch of_output(std::size_t operand) const;

 private:
  std::uint64_t begin_ = 0;  // of what is overwritten
  double write_ns_ = 0;
  ArgumentRing& ring_;
  int set_;
  protocol::OverwrittenRow row_;
  std::vector<std::byte> before_;
};

}  // namespace halmark::worker
