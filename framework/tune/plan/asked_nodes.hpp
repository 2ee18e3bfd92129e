// The nodes of an MPI job as a command names them.
#pragma once

#include <string>

namespace halmark::tune {

// --mpi-hosts and --mpi-listen.
struct AskedNodes {
  std::string hosts;  // as parse_mpi_hosts reads it; "" = this machine alone
  std::string listen = "127.0.0.1";
  // Throws Error (exit 2) for an address without hosts.
  bool are_named() const;
};

}  // namespace halmark::tune
