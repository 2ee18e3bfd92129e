#include "tune/plan/asked_nodes.hpp"

#include "core/text/error.hpp"

namespace halmark::tune {

bool AskedNodes::are_named() const {
  if (hosts.empty() && listen != AskedNodes{}.listen) {
    throw refused("--mpi-listen is for --mpi-hosts");
  }
  return !hosts.empty();
}

}  // namespace halmark::tune
