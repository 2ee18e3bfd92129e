#include "pages/serve/sweep/sweeps.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "journal/place.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "journal/store.hpp"

namespace halmark::pages {
namespace {

std::vector<std::filesystem::path> sweep_files(const SweepPlace& place) {
  std::vector<std::filesystem::path> out;
  std::error_code ignored;
  for (const auto& folder : place.folders) {
    for (const auto& file : std::filesystem::directory_iterator(folder, ignored)) {
      if (file.path().extension() == ".toml") out.push_back(file.path());
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> Sweeps::names() const {
  auto out = mapped(sweep_files(place_), [&](const auto& file) { return file.stem().string(); });
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

void Sweeps::start(const std::string& name) {
  // A name is compared with those of the folders: no path is made of it.
  const std::vector<std::filesystem::path> files = sweep_files(place_);
  auto* file = find_or_null(files, name, [](const auto& path) { return path.stem().string(); });
  if (!file) throw refused("there is no sweep '" + printable(name) + "'");
  if (process_ && process_->is_running())
    throw refused("a sweep runs already", {}, "stop it first");
  if (const std::string holder = journal::writer_of(place_.database); !holder.empty()) {
    throw refused("another process writes the database: " + holder, {}, "wait for it");
  }
  process_ = std::make_unique<SweepProcess>(
      name, std::vector<std::string>{place_.program, "tune", file->string(), "--db",
                                     place_.database, "--progress", "json"});
}

void Sweeps::stop() {
  if (!process_ || !process_->is_running()) throw refused("nothing runs that was started here");
  process_->stop();
}

Json Sweeps::rows_of_writer(const std::string& holder) const {
  Json out = {{"name", "halmark, " + holder},
              {"is_running", true},
              {"is_ours", false},
              {"done", 0},
              {"total", 0},
              {"left_s", -1}};
  if (!is_database_there(place_.database)) return out;
  const auto store = open_store_read_only(place_.database);
  const auto run = store->latest_run();
  if (!run) return out;
  const std::vector<RowFigures> rows = store->run_figures(*run);
  out["name"] = store->run_info(*run).command;
  out["done"] = rows.size();
  if (!rows.empty()) out["subject"] = rows.back().key;
  return out;
}

// Of a shell's: what its rows say. Looking takes at most a twentieth of the time, because what is
// looked at is being measured here.
Json Sweeps::watched() {
  const std::string holder = journal::writer_of(place_.database);
  if (holder.empty()) {
    seen_ = Json();
    next_look_ = {};
    return seen_;
  }
  const auto began = std::chrono::steady_clock::now();
  if (began < next_look_) return seen_;
  seen_ = rows_of_writer(holder);
  next_look_ = began + 20 * (std::chrono::steady_clock::now() - began);
  return seen_;
}

Json Sweeps::progress() {
  Json sweep;
  if (process_ && process_->is_running()) {
    sweep = process_->progress();
  } else {
    sweep = watched();
    if (sweep.is_null() && process_) sweep = process_->progress();
  }
  return {{"sweep", std::move(sweep)},
          {"sweeps", place_.is_writable ? names() : std::vector<std::string>{}}};
}

}  // namespace halmark::pages
