// What halmark rank-qpu asks and shows.
#pragma once

#include <cstdint>
#include <string>

#include "report/views/view.hpp"

namespace halmark::circuit {

struct RankRequest {
  std::string path;
  std::int64_t shots = 1000;
  std::int64_t samples = 0;  // 0 = rank, no simulation
  std::uint64_t seed = 1;
  std::string noise;  // id of a QPU
  int version = 0;    // 2 or 3: the circuit as text
};

// Throws Error (exit 2) for an unreadable circuit, an unknown QPU, too many qubits to simulate.
report::View answer(const RankRequest& request);

}  // namespace halmark::circuit
