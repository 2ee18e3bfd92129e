#include "export/engine/engine_table.hpp"

#include <algorithm>
#include <set>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::exports {
namespace {

namespace fs = std::filesystem;

EngineFlag flag_of(const Json& row) {
  using Type = EngineFlag::Type;
  const std::string type = row.at("type").get<std::string>();
  EngineFlag out;
  if (type == "bool") out.type = Type::boolean;
  if (type == "int") out.type = Type::integer;
  if (type == "float") out.type = Type::number;
  if (row.contains("choices")) out.choices = row.at("choices").get<std::vector<std::string>>();
  out.has_no = row.value("has_no", false);
  return out;
}

EngineTable table_of(const Json& in) {
  EngineTable out{.engine = in.at("engine").get<std::string>(),
                  .version = in.at("version").get<std::string>(),
                  .command = in.at("command").get<std::vector<std::string>>(),
                  .source = in.at("source").at("package").get<std::string>(),
                  .is_verified = !in.value("is_unverified", false)};
  if (in.contains("options_file")) {
    out.options_file = in.at("options_file").get<std::vector<std::string>>();
  }
  for (const auto& [flag, row] : in.at("flags").items()) out.flags[flag] = flag_of(row);
  return out;
}

// Digits count as numbers: 0.9.0 comes before 0.10.2, 1.0.0rc3 before 1.0.0.
std::vector<std::int64_t> order_of(const std::string& version) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < version.size();) {
    if (version[i] >= '0' && version[i] <= '9') {
      std::int64_t value = 0;
      for (; i < version.size() && version[i] >= '0' && version[i] <= '9'; ++i) {
        value = std::min<std::int64_t>(value * 10 + (version[i] - '0'), 1'000'000'000);
      }
      out.push_back(value);
    } else {
      if (version[i] == 'r') out.push_back(-1);
      ++i;
    }
  }
  out.push_back(0);
  return out;
}

}  // namespace

bool EngineTable::has_option(const std::string& key) const { return contains(options_file, key); }

bool EngineTable::allows(const std::string& flag, const std::string& value) const {
  const auto* it = find_value(flags, flag);
  if (!it) return false;
  const std::vector<std::string>& choices = it->choices;
  return choices.empty() || contains(choices, value);
}

std::vector<std::string> engine_versions(const std::string& engine,
                                         const std::vector<fs::path>& folders) {
  std::set<std::string> found;
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder / engine, ignored)) {
      const bool is_release = entry.path().stem() != "serving_terms";
      if (entry.path().extension() == ".json" && is_release) found.insert(entry.path().stem());
    }
  }
  std::vector<std::string> out(found.begin(), found.end());
  std::ranges::sort(out, {}, order_of);
  return out;
}

EngineTable read_engine_table(const std::string& engine, const std::string& asked,
                              const std::vector<fs::path>& folders) {
  const std::vector<std::string> known = engine_versions(engine, folders);
  const bool is_latest = asked.empty() || asked == "latest";
  const std::string version = is_latest && !known.empty() ? known.back() : asked;
  if (!contains(known, version)) {
    std::string list = join(known, ", ");
    throw refused("the flags of " + engine + " " + version + " are not known", "--server-version",
                  "known: " + list);
  }
  for (const fs::path& folder : folders) {
    const fs::path path = folder / engine / (version + ".json");
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    try {
      return table_of(read_json_file(path.string()));
    } catch (const Json::exception& e) {
      throw refused("not a table of an engine's flags: " + std::string(e.what()), path.string());
    }
  }
  throw refused("the table vanished", engine + " " + version);
}

}  // namespace halmark::exports
