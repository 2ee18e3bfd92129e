// What a kernel must leave alone: its inputs, its constants, and the memory around every operand.
#pragma once

#include <vector>

#include "host/protocol.hpp"
#include "worker/staging/argument_ring.hpp"

namespace halmark::worker {

class RevealCheck {
 public:
  // Remembers the operands that a kernel may only read, as they are now.
  explicit RevealCheck(ArgumentRing& ring);
  // After the host itself wrote new inputs.
  void renew_inputs();
  // States in the answer which operand was changed or written beyond its end.
  void note_damage(protocol::Revealed& answer);

 private:
  // Copies of a packed set have equal sums, so each buffer is summed once and all are compared.
  // Reading a ring of half a gigabyte takes 50 ms: only the first and last set are read.
  struct Ends {
    std::uint64_t first = 0, last = 0;
    bool operator==(const Ends&) const = default;
  };
  bool is_watched(std::size_t operand) const;
  Ends sums_of(std::size_t operand);
  void note_canaries(protocol::Revealed& answer, std::size_t operand);

  ArgumentRing& ring_;
  std::vector<Ends> sums_;  // per operand
};

}  // namespace halmark::worker
