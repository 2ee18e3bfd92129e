#include "halmark_fixture.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;

constexpr const char* fake_plugin = HALMARK_BINARY_DIR "/tests/plugins/hm_fake.so";
constexpr const char* program = HALMARK_BINARY_DIR "/bin/halmark";

fs::path fresh_folder() {
  std::string name = (fs::temp_directory_path() / "halmark-cli-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  return name;
}

// Rates no machine reaches, so that nothing here is quarantined as too fast.
std::string device_text(const std::string& fingerprint) {
  return "id = \"test-cpu\"\nname = \"test\"\nkind = \"cpu\"\nfingerprint = \"" + fingerprint +
         "\"\nmemory_bytes = 1073741824\n";
}

}  // namespace

HalmarkTest::HalmarkTest() : folder_(fresh_folder()) {
  base_.folder = folder_.string();
  base_.environment = {{"XDG_STATE_HOME", path("state")},    {"XDG_CACHE_HOME", path("cache")},
                       {"XDG_CONFIG_HOME", path("config")},  {"HOME", folder_.string()},
                       {"HALMARK_PLUGIN_PATH", fake_plugin}, {"TERM", "xterm"}};
}

HalmarkTest::~HalmarkTest() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string HalmarkTest::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
  return path(name);
}

std::string HalmarkTest::read(const std::string& name) const {
  std::ifstream file(folder_ / name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Launch HalmarkTest::launch(Arguments arguments) const {
  Launch out = base_;
  out.arguments = std::move(arguments);
  out.arguments.insert(out.arguments.begin(), program);
  return out;
}

Json HalmarkTest::data_of(Arguments arguments) const {
  arguments.emplace_back("--json");
  const Outcome outcome = halmark(std::move(arguments));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  return envelope_of(outcome.out).value("data", Json::object());
}

bool HalmarkTest::has_two_cores() const {
  const Json found = data_of({"devices"});
  for (const Json& d : found["devices"]) {
    if (d["id"] == "cpu:0") return d["properties"]["compute_units"] >= 2;
  }
  return false;
}

std::string HalmarkTest::tiny_model() const {
  const std::string source = HALMARK_SOURCE_DIR "/tests/integration/data/tiny_model.json";
  fs::copy_file(source, folder_ / "tiny.json", fs::copy_options::overwrite_existing);
  return path("tiny.json");
}

std::string HalmarkTest::tiny_sweep(const std::string& backend, const std::string& more) const {
  return write("tiny.toml", "name = \"tiny\"\nmodel = \"" + tiny_model() + "\"\nbackend = \"" +
                                backend + "\"\ndtypes = [\"f32\"]\n" + more + R"(
budget_s = 60

[[workload]]
phase = "decode"
batch = [1, 2]
context = 32

[validate]
turn_s = 0.02
[measure]
rounds = 2
sample_budget_s = 0.002
samples_min = 3
repeat_budget_s = 0
)");
}

void HalmarkTest::tune_tiny(const std::string& db) const {
  constexpr int tries = 3;
  int code = 0;
  for (int i = 0; i < tries; ++i) {
    code = halmark({"tune", "tiny.toml", "--db", db}).exit_code;
    if (code != 4) break;
    for (const std::string& name : files()) {
      if (name.starts_with(db)) fs::remove(folder_ / name);
    }
  }
  EXPECT_EQ(code, 0);
}

std::string HalmarkTest::know_peaks(const std::string& ceilings) const {
  const Json data = data_of({"doctor"});
  for (const Json& check : data["checks"]) {
    const std::string text = check["text"];
    const std::string label = "fingerprint: ";
    if (!text.starts_with(label)) continue;
    const std::string fingerprint = text.substr(label.size());
    fs::create_directories(folder_ / "state/halmark/devices");
    const std::string file = "state/halmark/devices/" + fingerprint + ".toml";
    write(file, device_text(fingerprint) + ceilings);
    return file;
  }
  throw std::runtime_error("doctor tells no fingerprint");
}

std::vector<std::string> HalmarkTest::files() const {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    const std::string name = fs::relative(entry.path(), folder_).string();
    // The OpenCL runtime keeps a cache of its own as soon as it is asked for devices.
    if (name.starts_with("cache/pocl/")) continue;
    if (entry.is_regular_file()) out.push_back(name);
  }
  std::ranges::sort(out);
  return out;
}

Json envelope_of(const std::string& text) {
  EXPECT_FALSE(text.empty());
  if (text.empty()) return Json::object();
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(text.find("\n\n"), std::string::npos);
  // The strict reader: no NaN, no duplicate key, nothing behind the document.
  return parse_json(text, "stdout");
}

testing::AssertionResult is_one_line(const std::string& text) {
  if (std::ranges::count(text, '\n') == 1 && text.ends_with('\n')) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "not one line: '" << text << "'";
}

std::string sql(const std::string& database, const std::string& query) {
  sqlite3* connection = nullptr;
  if (sqlite3_open(database.c_str(), &connection) != SQLITE_OK) {
    sqlite3_close(connection);
    throw std::runtime_error("cannot open " + database);
  }
  std::string out;
  char* error = nullptr;
  const auto keep_first = [](void* text, int columns, char** values, char**) {
    auto& kept = *static_cast<std::string*>(text);
    if (kept.empty() && columns > 0 && values[0] != nullptr) kept = values[0];
    return 0;
  };
  const int code = sqlite3_exec(connection, query.c_str(), keep_first, &out, &error);
  const std::string message = error != nullptr ? error : "";
  sqlite3_free(error);
  sqlite3_close(connection);
  if (code != SQLITE_OK) throw std::runtime_error(query + ": " + message);
  return out;
}

std::int64_t sql_count(const std::string& database, const std::string& query) {
  const std::string text = sql(database, query);
  return text.empty() ? -1 : std::stoll(text);
}

testing::AssertionResult is_figure_or_has_reason(const Json& object, const std::string& key) {
  const Json& figure = object.at(key);
  if (figure.is_number()) return testing::AssertionSuccess();
  const std::string reason =
      object.value(object.contains(key + "_reason") ? key + "_reason" : "reason", "");
  if (figure.is_null() && !reason.empty()) return testing::AssertionSuccess() << reason;
  return testing::AssertionFailure()
         << key << " is neither a number nor explained: " << object.dump();
}

int told_trials(const std::string& err) {
  int out = 0;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    if (!line.starts_with("tune ") || line.find('/') == std::string::npos) continue;
    out = std::max(out, std::stoi(line.substr(5)));
  }
  return out;
}

}  // namespace halmark::integration
