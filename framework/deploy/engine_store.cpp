#include "deploy/engine_store.hpp"

#include <algorithm>
#include <filesystem>

#include "core/input/places.hpp"
#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/measured/engine_step.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "report/report.hpp"

namespace halmark::deploy {
namespace {

namespace fs = std::filesystem;

constexpr const char* schema = "halmark.engine_steps";
constexpr int schema_version = 1;
constexpr std::size_t digits_of_name = 12;

// When it was imported is no part of what it is.
std::string digest_of(EngineImport imported) {
  imported.imported_utc.clear();
  return sha256_of(dump_json(Json(imported)));
}

EngineImport read_import(const std::string& path) {
  const Json document = read_json_file(path);
  EngineImport out;
  std::string digest;
  try {
    if (document.at("schema") != schema || document.at("version") != schema_version) {
      throw refused("no steps of an engine as this halmark stores them", path,
                    "move it out of the folder");
    }
    digest = document.at("sha256").get<std::string>();
    out = document.at("import").get<EngineImport>();
  } catch (const Json::exception& e) {
    throw refused("cannot be read: " + std::string(e.what()), path, "import the original again");
  }
  if (digest_of(out) != digest) {
    throw refused("its steps are not those that were stored", path, "import the original again");
  }
  return out;
}

}  // namespace

std::string engine_folder(const std::string& database) { return database + ".engines"; }

std::string keep_import(const std::string& database, const EngineImport& imported) {
  const fs::path folder = engine_folder(database);
  const std::string digest = digest_of(imported);
  const fs::path path = folder / (imported.tool + '-' + digest.substr(0, digits_of_name) + ".json");
  std::error_code error;
  if (fs::exists(path, error)) return path.string();
  require_writable(path, "--db");
  write_whole_file(dump_json({{"schema", schema},
                              {"version", schema_version},
                              {"sha256", digest},
                              {"import", imported}},
                             1) +
                       '\n',
                   path.string());
  return path.string();
}

std::vector<EngineImport> stored_imports(const std::string& database) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(engine_folder(database), error)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  std::vector<EngineImport> out =
      mapped(paths, [&](const std::string& path) { return read_import(path); });
  std::ranges::stable_sort(out, {}, &EngineImport::imported_utc);
  return out;
}

}  // namespace halmark::deploy
