// Sweeps that the page may start, and the one that goes on, whoever started it.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "pages/serve/sweep/sweep_process.hpp"

namespace halmark::pages {

struct SweepPlace {
  std::vector<std::filesystem::path> folders;  // of sweeps (*.toml)
  std::string program, database;
  bool is_writable = false;
};

class Sweeps {
 public:
  explicit Sweeps(SweepPlace place) : place_(std::move(place)) {}

  // By the name of its file, without suffix. Throws Error (exit 2) for one that is none of the
  // folders', and while a process writes the database.
  void start(const std::string& name);
  void stop();
  // {"sweep": null or as of SweepProcess, "sweeps": [names]}
  Json progress();

 private:
  Json watched();
  Json rows_of_writer(const std::string& holder) const;
  std::vector<std::string> names() const;

  SweepPlace place_;
  std::unique_ptr<SweepProcess> process_;
  // What was last seen of another's rows, and when to look again: a large database takes long.
  Json seen_ = Json();
  std::chrono::steady_clock::time_point next_look_{};
};

}  // namespace halmark::pages
