#include "tune/plan/asked_nodes.hpp"

#include "core/text/error.hpp"

namespace halmark::tune {

bool AskedNodes::are_named() const {
  if (hosts.empty() && listen != AskedNodes{}.listen) {
    throw refused("--mpi-listen is for --mpi-hosts");
  }
  return !hosts.empty();
}

std::string words_of(const AskedNodes& asked) {
  return asked.hosts.empty() ? "" : " --mpi-hosts " + asked.hosts + " --mpi-listen " + asked.listen;
}

}  // namespace halmark::tune
