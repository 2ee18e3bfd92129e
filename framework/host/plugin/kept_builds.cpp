#include "host/plugin/kept_builds.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/fields/json_visitor.hpp"
#include "core/input/input_file.hpp"
#include "core/input/places.hpp"
#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "host/process/program.hpp"
#include "host/worker_client.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;

constexpr const char* description_file = "build.json";
constexpr const char* worker_file = "halmark-worker";
constexpr std::size_t prefix_min = 6;

// What every program on this machine shares: an old build runs with the new one as well.
bool is_runtime(const std::string& name) {
  static constexpr std::array prefixes = {"ld-linux", "libc.so",    "libm.so",      "libpthread.so",
                                          "libdl.so", "librt.so",   "libstdc++.so", "libgcc_s.so",
                                          "libnss_",  "libresolv.", "libutil.so"};
  return std::ranges::any_of(prefixes, [&](const char* p) { return name.starts_with(p); });
}

std::vector<std::string> mapped_libraries(std::int64_t pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  std::set<std::string> out;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    const std::string path = line.substr(slash), name = fs::path(path).filename().string();
    if (name.find(".so") == std::string::npos || is_runtime(name)) continue;
    if (!path.ends_with(" (deleted)")) out.insert(path);
  }
  return {out.begin(), out.end()};
}

// What describes a build beside its files; paths are names inside its folder.
template <class V, Of<KeptBuild> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("plugin", m.plugin_name);
  v("file", m.plugin_path);
  v("last_ran_utc", m.last_ran_utc);
  v("bytes", m.bytes);
}

struct HashedFile {
  std::string from, to, hash;  // to: inside the folder of the build
  std::int64_t bytes = 0;
};

HashedFile hashed(const std::string& from, const std::string& to) {
  const std::string content = read_input(from, plugin_input);
  return {from, to, sha256_of(content), std::ssize(content)};
}

std::vector<HashedFile> hashed(const BuildFiles& files) {
  std::vector<HashedFile> out = {
      hashed(files.plugin_path, fs::path(files.plugin_path).filename().string()),
      hashed(files.worker_program, worker_file)};
  for (const std::string& library : files.libraries) {
    out.push_back(hashed(library, "lib/" + fs::path(library).filename().string()));
  }
  return out;
}

std::int64_t bytes_of(const std::vector<HashedFile>& files) {
  std::int64_t bytes = 0;
  for (const HashedFile& f : files) bytes += f.bytes;
  return bytes;
}

std::string id_of(const std::vector<HashedFile>& files) {
  auto lines = mapped(files, [&](const HashedFile& f) { return f.to + ' ' + f.hash + '\n'; });
  std::ranges::sort(lines);
  std::string all;
  for (const std::string& line : lines) all += line;
  return sha256_of(all);
}

fs::path place_of(const std::string& folder, const std::string& plugin, const std::string& id) {
  constexpr std::size_t digits = 16;
  return fs::path(folder) / (plugin + '-' + id.substr(0, digits));
}

void describe(const fs::path& place, const BuildFiles& files, const std::vector<HashedFile>& hashed,
              const std::string& now_utc) {
  const KeptBuild build{.id = id_of(hashed),
                        .plugin_name = files.plugin_name,
                        .plugin_path = hashed.front().to,
                        .last_ran_utc = now_utc,
                        .bytes = bytes_of(hashed)};
  Json body;
  json_fields::Writer writer(body);
  fields(writer, build);
  const fs::path next = place / (std::string(description_file) + ".new");
  std::ofstream(next) << dump_json(body) << '\n';
  fs::rename(next, place / description_file);
}

// A file of an earlier build that is the same takes no further room.
void put_file(const HashedFile& file, const fs::path& place,
              const std::vector<KeptBuild>& earlier) {
  const fs::path to = place / file.to;
  fs::create_directories(to.parent_path());
  for (const KeptBuild& build : earlier) {
    const fs::path same = fs::path(build.plugin_path).parent_path() / file.to;
    std::error_code failure;
    if (fs::file_size(same, failure) != static_cast<std::uintmax_t>(file.bytes) || failure)
      continue;
    if (hashed(same.string(), file.to).hash != file.hash) continue;
    fs::create_hard_link(same, to, failure);
    if (!failure) return;
  }
  fs::copy_file(file.from, to);
  fs::permissions(to, fs::perms::owner_all);
}

// Written under another name and renamed: what is there is whole.
void put_build(const BuildFiles& files, const std::vector<HashedFile>& hashed,
               const fs::path& place, const std::string& now_utc,
               const std::vector<KeptBuild>& earlier) {
  const fs::path next = place.string() + ".new";
  fs::remove_all(next);
  fs::create_directories(next);
  fs::permissions(next, fs::perms::owner_all);
  for (const HashedFile& f : hashed) put_file(f, next, earlier);
  describe(next, files, hashed, now_utc);
  fs::rename(next, place);
}

// What a killed process left half written. One that is being written now is younger.
void drop_unfinished(const std::string& folder) {
  constexpr auto old = std::chrono::hours(1);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".new") continue;
    const auto written = fs::last_write_time(entry.path(), ignored);
    if (!ignored && fs::file_time_type::clock::now() - written > old) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

void drop_old(const std::string& folder, const std::string& newest, const KeepLimits& limits) {
  std::size_t of_plugin = 0;
  std::int64_t bytes = 0;
  std::string plugin;
  const std::vector<KeptBuild> all = kept_builds(folder);
  for (const KeptBuild& build : all) {
    if (build.id == newest) plugin = build.plugin_name;
  }
  for (const KeptBuild& build : all) {
    bytes += build.bytes;
    const bool is_of_plugin = build.plugin_name == plugin;
    if (is_of_plugin) ++of_plugin;
    const bool is_one_too_many = is_of_plugin && of_plugin > limits.builds;
    if (build.id == newest || (!is_one_too_many && bytes <= limits.bytes)) continue;
    std::error_code left_for_the_next_time;
    fs::remove_all(fs::path(build.plugin_path).parent_path(), left_for_the_next_time);
  }
}

std::optional<KeptBuild> read_build(const fs::path& place) {
  try {
    const Json body = read_json_file((place / description_file).string());
    KeptBuild out{.worker_program = (place / worker_file).string(),
                  .library_folder = (place / "lib").string()};
    json_fields::Reader reader(body);
    fields(reader, out);
    out.plugin_path = (place / out.plugin_path).string();
    return out;
  } catch (const std::exception&) {
    return std::nullopt;  // half of one, or of another tool
  }
}

}  // namespace

Result<BuildFiles, std::string> build_files(const std::string& plugin_path,
                                            const WorkerLimits& limits) {
  WorkerOptions options;
  options.cpus = CpuSet{};  // it measures nothing
  options.limits = limits;
  auto worker = Worker::start(options);
  if (!worker) return worker.failure.reason;
  const auto description = (*worker)->load(plugin_path);
  if (!description) return description.failure.reason;
  BuildFiles out{.plugin_name = description->name,
                 .plugin_path = plugin_path,
                 .worker_program = program_beside(worker_file),
                 .libraries = mapped_libraries((*worker)->pid())};
  (*worker)->quit();
  std::erase(out.libraries, plugin_path);
  return out;
}

Result<KeptBuild, std::string> keep_build(const BuildFiles& files, const std::string& folder,
                                          const std::string& now_utc, const KeepLimits& limits) {
  try {
    const std::vector<HashedFile> content = hashed(files);
    const std::string id = id_of(content);
    const std::int64_t bytes = bytes_of(content);
    if (bytes > limits.bytes) {
      return std::string("its files have ") + std::to_string(bytes >> 20) + " MiB, and " +
             std::to_string(limits.bytes >> 20) + " MiB are kept at most";
    }
    const fs::path place = place_of(folder, files.plugin_name, id);
    if (read_build(place)) {
      describe(place, files, content, now_utc);
    } else {
      require_writable(place, "");
      put_build(files, content, place, now_utc, kept_builds(folder));
    }
    drop_old(folder, id, limits);
    drop_unfinished(folder);
    if (auto build = read_build(place)) return std::move(*build);
    return std::string("it cannot be read back from ") + place.string();
  } catch (const Error& e) {
    return e.line();
  } catch (const fs::filesystem_error& e) {
    return std::string(e.what());
  }
}

std::vector<KeptBuild> kept_builds(const std::string& folder) {
  std::vector<KeptBuild> out;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder, absent)) {
    if (entry.path().extension() == ".new") continue;
    if (auto build = read_build(entry.path())) out.push_back(std::move(*build));
  }
  std::ranges::sort(out, [](const KeptBuild& a, const KeptBuild& b) {
    return a.last_ran_utc != b.last_ran_utc ? a.last_ran_utc > b.last_ran_utc : a.id < b.id;
  });
  return out;
}

std::optional<KeptBuild> find_kept_build(const std::string& folder, const std::string& prefix) {
  if (prefix.size() < prefix_min) return std::nullopt;
  for (KeptBuild& build : kept_builds(folder)) {
    if (build.id.starts_with(prefix)) return std::move(build);
  }
  return std::nullopt;
}

}  // namespace halmark
