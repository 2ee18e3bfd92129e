// Weights of one staged kernel: packed by the plugin for set 0, copied or packed again for the
// rest.
#pragma once

#include <optional>

#include "worker/staging/argument_ring.hpp"

namespace halmark::worker {

struct StagedConstants {
  bool shared = false;         // every set carries the constants of set 0 ...
  std::optional<int> witness;  // ... but this one
  double pack_ns = 0;          // of set 0
};

// Throws RequestFailed (phase "pack") with the plugin's error, when it has no load_constants, and
// when that call changed the values it was given.
StagedConstants load_constants(DeviceContext& context, PreparedKernels& prepared,
                               ArgumentRing& ring, const protocol::Stage& request,
                               const ReportPhase& report);

// The packed constants of one set hold other values, in place, until they are put back: a kernel
// that packed what it found at an address, once, does not see them.
class ReplacedConstants {
 public:
  // The values of set `from_set`. Only where packed bytes may be copied. Throws RequestFailed, like
  // restore().
  ReplacedConstants(DeviceContext& context, PreparedKernels& prepared, ArgumentRing& ring, int set,
                    int from_set);
  void restore();

 private:
  ArgumentRing& ring_;
  int set_;
  std::vector<std::vector<std::byte>> before_;  // by operand
};

}  // namespace halmark::worker
