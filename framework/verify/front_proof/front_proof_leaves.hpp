// The leaves of a front proof: that they hold the space once, and that what each says of its box
// follows from kernels and formulas.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "verify/front_proof/front_proof.hpp"
#include "verify/front_proof/front_proof_dominance.hpp"
#include "verify/front_proof/front_proof_space.hpp"

namespace halmark::front_proof {

// A configuration, or an open box, and between which objectives it is.
struct Evaluated {
  std::size_t line = 0, front = 0;
  Vector low, high = {};  // high: empty for a box
};
std::vector<Range> ranges(const Evaluated& evaluated);

struct ProvedLeaves {
  std::map<std::uint64_t, Evaluated> evaluated;  // by combination
  std::vector<Evaluated> open;                   // boxes
};

// Counts leaves and configurations, and the greatest gap, in `out`. Throws Broken.
ProvedLeaves check_leaves(const Proof& proof, const ProofSpace& space, const KnownSpace& known,
                          FrontProofCheck& out);

}  // namespace halmark::front_proof
