// The parts of `halmark study`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/console/command.hpp"
#include "study/values.hpp"

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

// Lets `keep` write into the studies' storage. One that cannot be written costs nothing but itself:
// a warning says so, and `otherwise` what is not lost.
void keep_in_studies(const GlobalOptions& global, const std::string& otherwise,
                     CommandResult& result, const std::function<void(StudyStore&)>& keep);

void add_serve_options(OptionSet& app, ServeOptions& options);
CommandResult serve(const GlobalOptions& global, const ServeOptions& options);

}  // namespace halmark::cli
