// The parts of `halmark study`.
#pragma once

#include <cstdint>
#include <string>

#include "cli/console/command.hpp"

namespace halmark::cli {

struct ServeOptions {
  std::string space;  // the TOML file
  std::string sampler = "auto";
  std::uint64_t seed = 1;
  std::string location, name;
  std::size_t trials = 0;
  double lease_s = 60;
};

// Where studies are unless --study says otherwise: the file beside the database.
std::string study_location(const GlobalOptions& global);

void add_serve_options(OptionSet& app, ServeOptions& options);
CommandResult serve(const GlobalOptions& global, const ServeOptions& options);

}  // namespace halmark::cli
