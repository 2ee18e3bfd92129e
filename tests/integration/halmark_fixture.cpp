#include "halmark_fixture.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "core/text/digest.hpp"
#include "tests/checkout.hpp"

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;

const std::string fake_plugin = test::in_build("/tests/plugins/hm_fake.so");
const std::string program = test::in_build("/bin/halmark");

fs::path fresh_folder() {
  std::string name = (fs::temp_directory_path() / "halmark-cli-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  return name;
}

// Above what beside neighbours happens to any row: a test that does not look at the gate shall not
// wait for a quiet moment, nor fail without one.
constexpr const char* wide_limits = R"([measure]
disturbed_samples = 1
run_delay_fraction = 1
involuntary_switches_per_s = 1e6
steal_fraction = 1
clock_moved = 1
peak_moved = 1
bandwidth_moved = 1
)";
constexpr const char* devices_folder = "state/halmark/devices/";

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
  fs::create_directories(path(devices_folder));
  write(limits_file(), wide_limits);
}

std::string HalmarkTest::limits_file() const {
  return devices_folder + fingerprint() + "-limits.toml";
}

void HalmarkTest::gate_as_users_do() const { fs::remove(path(limits_file())); }

std::string HalmarkTest::fingerprint() const {
  static const std::string known = [this] {
    const Json data = data_of({"doctor"});
    for (const Json& check : data["checks"]) {
      const std::string text = check["text"];
      const std::string label = "fingerprint: ";
      if (text.starts_with(label)) return text.substr(label.size());
    }
    throw std::runtime_error("doctor tells no fingerprint");
  }();
  return known;
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
  const std::string source = test::in_source("/tests/integration/data/tiny_model.json");
  fs::copy_file(source, folder_ / "tiny.json", fs::copy_options::overwrite_existing);
  return path("tiny.json");
}

std::string HalmarkTest::tiny_sweep(const std::string& backend, const std::string& more) const {
  tiny_model();
  return write("tiny.toml", "name = \"tiny\"\nmodel = \"tiny.json\"\nbackend = \"" + backend +
                                "\"\ndtypes = [\"f32\"]\n" + more + R"(
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

std::vector<std::string> HalmarkTest::written() const {
  std::vector<std::string> out = files();
  std::erase_if(out, [](const std::string& name) {
    return name.starts_with("cache/") || name.starts_with("state/halmark/devices/");
  });
  return out;
}

std::map<std::string, std::string> HalmarkTest::contents() const {
  std::map<std::string, std::string> out;
  for (const std::string& name : written()) out[name] = read(name);
  return out;
}

void HalmarkTest::restore(const std::map<std::string, std::string>& before) const {
  for (const std::string& name : written()) {
    const auto kept = before.find(name);
    if (kept == before.end()) {
      fs::remove(folder_ / name);
    } else if (read(name) != kept->second) {
      write(name, kept->second);
    }
  }
}

Outcome HalmarkTest::undisturbed(const std::function<Outcome()>& run_it) const {
  constexpr int further_tries = 2;
  const auto before = contents();
  Outcome out = run_it();
  for (int i = 0; i < further_tries && out.exit_code == 4; ++i) {
    restore(before);
    out = run_it();
  }
  return out;
}

Outcome HalmarkTest::undisturbed(const Arguments& arguments) const {
  return undisturbed([&] { return halmark(arguments); });
}

Json HalmarkTest::undisturbed_data_of(Arguments arguments) const {
  arguments.emplace_back("--json");
  const Outcome outcome = undisturbed(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  return envelope_of(outcome.out).value("data", Json::object());
}

// What the measurement follows from: the files that are there, the environment and the build.
std::string HalmarkTest::measured_key(const std::string& db) const {
  std::string text = db;
  for (const auto& [name, value] : base_.environment) {
    if (name.starts_with("HALMARK_")) text += '\n' + name + '=' + value;
  }
  if (!fs::exists(path(limits_file()))) text += "\ndefault limits";
  for (const std::string& name : files()) text += '\n' + name + '\n' + read(name);
  for (const std::string& file : {program, test::in_build("/bin/halmark-worker"), fake_plugin}) {
    text += '\n' + std::to_string(fs::last_write_time(file).time_since_epoch().count());
  }
  return sha256_of(text).substr(0, 16);
}

void HalmarkTest::tune_tiny(const std::string& db) const {
  const fs::path kept = test::in_build("/tests/measured/" + measured_key(db));
  constexpr auto over = fs::copy_options::recursive | fs::copy_options::overwrite_existing;
  if (fs::exists(kept)) return fs::copy(kept, folder_, over);
  const auto before = contents();
  const Outcome outcome = undisturbed({"tune", "tiny.toml", "--db", db});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  if (outcome.exit_code != 0) return;
  // Another program may measure it meanwhile: who is first stays.
  const fs::path made = kept.string() + '.' + std::to_string(getpid());
  for (const std::string& name : files()) {
    const auto known = before.find(name);
    if (known != before.end() && known->second == read(name)) continue;
    fs::create_directories((made / name).parent_path());
    fs::copy_file(folder_ / name, made / name);
  }
  std::error_code is_there;
  fs::rename(made, kept, is_there);
  if (is_there) fs::remove_all(made);
}

std::string HalmarkTest::know_peaks(const std::string& ceilings) const {
  const std::string file = devices_folder + fingerprint() + ".toml";
  write(file, device_text(fingerprint()) + ceilings);
  return file;
}

std::vector<std::string> HalmarkTest::files() const {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    const std::string name = fs::relative(entry.path(), folder_).string();
    // The OpenCL runtime keeps a cache of its own as soon as it is asked for devices.
    if (name.starts_with("cache/pocl/") || name == limits_file()) continue;
    if (entry.is_regular_file()) out.push_back(name);
  }
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) out.push_back(key);
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
