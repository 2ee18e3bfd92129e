// Who may know whom, and who owns which library: the lists below are the rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "../unit/case_name.hpp"
#include "tree.hpp"

namespace halmark::architecture {
namespace {

using Rooms = std::set<std::string, std::less<>>;

// A folder may include itself and these, each with its subfolders. "cli" wires everything and is
// not listed.
const std::map<std::string, Rooms, std::less<>> arrows = {
    {"abi", {}},
    {"core", {}},
    {"sql", {"core"}},
    {"expression", {"core"}},
    {"kernels", {"core"}},
    {"roofline", {"core"}},
    {"host", {"abi", "core"}},
    {"measure/sampling", {"core", "host"}},
    {"measure/probe", {"core", "host", "measure/sampling"}},
    {"measure/links", {"core"}},
    {"measure/campaign", {"core", "host", "kernels", "roofline", "measure/sampling"}},
    {"worker", {"abi", "core", "host", "kernels", "measure/sampling", "measure/probe"}},
    {"parquet", {"core"}},
    {"model/spec", {"core", "model/families", "model/weights"}},
    {"model/weights", {"core", "model/spec", "model/graph"}},
    {"model/graph", {"core", "kernels", "model/spec", "model/families"}},
    {"model/families", {"core", "kernels", "model/spec", "model/graph"}},
    {"model/pricing", {"core", "kernels", "roofline", "model/spec", "model/graph"}},
    {"model/serving",
     {"core", "kernels", "roofline", "model/spec", "model/graph", "model/pricing"}},
    {"model/sizing",
     {"core", "roofline", "model/spec", "model/graph", "model/pricing", "model/training"}},
    {"model/training",
     {"core", "kernels", "roofline", "model/spec", "model/graph", "model/pricing"}},
    {"model/utilisation",
     {"core", "kernels", "roofline", "model/spec", "model/graph", "model/pricing",
      "model/training"}},
    {"model/step",
     {"core", "roofline", "model/spec", "model/graph", "model/pricing", "model/serving",
      "model/training", "model/utilisation", "model/weights"}},
    {"profile/kernels", {"core", "kernels", "roofline", "model"}},
    {"profile/trace", {"core", "kernels", "model", "parquet"}},
    {"profile/comparison", {"core", "kernels", "model", "profile/trace"}},
    {"profile/capture", {"core"}},
    {"pages", {"core", "kernels", "roofline", "model", "profile", "report", "simulate", "study"}},
    {"options", {"core", "pages", "plan", "tune/plan", "tune/requests"}},
    {"circuit", {"core", "kernels", "plan", "report"}},
    {"latency", {"core", "kernels", "parquet", "plan", "roofline"}},
    {"search/space", {"core", "expression"}},
    {"search", {"core", "search/space"}},
    {"plan", {"core", "expression", "search/space"}},
    {"study", {"core", "search", "sql"}},
    {"journal", {"core", "sql"}},
    {"history", {"core", "journal"}},
    {"history/bisect", {"core"}},
    {"history/record", {"core", "journal", "kernels", "latency", "plan", "roofline", "history"}},
    {"bisect",
     {"core", "host", "history/bisect", "judge", "measure/campaign", "report", "tune/evaluate"}},
    {"history/view", {"core", "report", "history", "serve"}},
    {"report", {"core"}},
    {"report/views", {"core", "report"}},
    {"export", {"core", "report", "parquet"}},
    {"deploy", {"core", "host", "model/spec", "report", "export", "serve"}},
    {"simulate",
     {"core", "kernels", "model", "roofline", "simulate/fabric", "simulate/collectives"}},
    {"simulate/events", {"core"}},
    {"simulate/collectives", {"core", "roofline", "search", "simulate/events"}},
    {"simulate/traffic", {"core", "simulate/events", "simulate/fabric", "simulate/collectives"}},
    {"simulate/fabric", {"core", "plan"}},
    {"simulate/timeline", {"core", "parquet", "simulate/events"}},
    {"simulate/power", {"core", "simulate/events", "simulate/timeline"}},
    {"simulate/schedule",
     {"core", "kernels", "model", "roofline", "simulate", "simulate/events", "simulate/fabric",
      "simulate/collectives", "simulate/traffic", "simulate/timeline", "simulate/power",
      "simulate/sharding"}},
    {"simulate/sharding",
     {"core", "kernels", "model", "roofline", "simulate", "simulate/fabric",
      "simulate/collectives"}},
    {"simulate/serving",
     {"core", "model", "search", "simulate/events", "simulate/timeline", "simulate/power"}},
    {"tune/problem", {"core", "plan", "model", "search/space"}},
    {"tune/plan",
     {"core", "plan", "kernels", "model", "latency", "measure/campaign", "search", "report",
      "simulate", "tune/problem"}},
    {"tune/sources",
     {"core", "plan", "model/graph", "model/serving", "roofline", "latency", "search", "simulate",
      "journal", "history/record"}},
    {"tune/evaluate",
     {"core", "kernels", "plan", "model", "latency", "measure/campaign", "measure/probe", "journal",
      "report", "tune/problem", "tune/plan", "tune/sources"}},
    {"tune/simulate",
     {"core", "model", "report", "serve", "simulate", "tune/plan", "tune/sources",
      "tune/evaluate"}},
    {"tune/sizing",
     {"core", "plan", "model", "roofline", "latency", "search", "report", "simulate/serving",
      "tune/plan", "tune/sources", "tune/evaluate"}},
    {"tune/shards",
     {"core", "model", "roofline", "journal", "simulate", "tune/plan", "tune/sources"}},
    {"tune/requests",
     {"core", "plan", "model", "report", "tune/plan", "tune/sources", "tune/evaluate",
      "tune/shards", "tune/search"}},
    {"tune/certify",
     {"core", "expression", "plan", "model", "roofline", "latency", "measure/campaign", "search",
      "journal", "report", "tune/problem", "tune/plan", "tune/evaluate"}},
    {"tune/search",
     {"core", "plan", "kernels", "model", "measure/campaign", "search", "report",
      "simulate/serving", "tune/problem", "tune/plan", "tune/sources", "tune/evaluate",
      "tune/certify"}},
    {"tune/reference", {"core", "expression", "plan", "measure/campaign", "report", "simulate"}},
    {"tune/links",
     {"core", "measure/campaign", "measure/links", "report", "simulate/fabric",
      "simulate/collectives", "tune/plan", "tune/evaluate"}},
    {"tune/validate",
     {"core", "kernels", "model", "latency", "measure/campaign", "journal", "tune/plan",
      "tune/evaluate", "tune/search"}},
    {"tune/serving",
     {"core", "plan", "model", "latency", "report", "simulate", "tune/plan", "tune/sources"}},
    {"tune/stored",
     {"core", "kernels", "roofline", "plan", "search", "study", "journal", "report", "tune/problem",
      "tune/search"}},
    {"tune/steer",
     {"core", "plan", "search", "study", "tune/problem", "tune/plan", "tune/evaluate",
      "tune/search", "tune/stored", "tune/sources", "tune/certify"}},
    {"fleet",
     {"core", "host", "plan", "measure/campaign", "tune", "sql", "journal", "report", "export"}},
    {"onboard",
     {"core", "host", "kernels", "plan", "model", "latency", "parquet", "measure/campaign",
      "journal", "report", "tune"}},
    {"judge", {"abi", "core", "host", "kernels", "roofline", "report", "tune"}},
    {"tune/devices",
     {"core", "host", "plan", "kernels", "measure/campaign", "search", "journal", "report",
      "model/spec", "tune/plan", "tune/evaluate", "tune/search", "tune/stored", "tune/validate"}},
    {"verify", {"core", "expression", "kernels", "model", "journal"}},
    {"serve", {"core", "report"}},
    {"pages/front", {"core", "plan", "report", "export", "tune"}},
    {"pages/serve",
     {"core", "kernels", "plan", "model", "latency", "simulate", "history", "journal", "report",
      "export", "tune", "serve", "pages"}},
    {"plugins", {"abi"}},
};

struct Owner {
  std::string header;               // prefix of the included name
  std::vector<std::string> places;  // prefixes of the paths that may include it
};

const std::vector<Owner> owners = {
    {"boost/dll", {"framework/host/"}},
    {"boost/beast", {"framework/serve/"}},
    {"boost/asio", {"framework/serve/"}},
    {"boost/math", {"framework/core/numeric/student_t.cpp"}},
    {"boost/random", {"search/samplers/sobol_sequence.cpp"}},
    {"nlopt", {"search/surrogate/minimise.cpp"}},
    {"Cbc_C_Interface.h", {"search/cbc_module.cpp"}},
    {"benchmark/", {"framework/measure/sampling/gbench.cpp"}},
    {"toml++/", {"framework/plan/toml/"}},
    {"SQLiteCpp/", {"framework/journal/", "framework/study/storage/", "framework/sql/"}},
    {"sqlite3.h", {"framework/journal/", "framework/study/storage/"}},
    {"pqxx/", {"framework/sql/postgresql_module.cpp"}},
    {"hwloc", {"framework/host/"}},
    {"dnnl", {"plugins/cpu/"}},
    {"oneapi/dnnl", {"plugins/cpu/"}},
    {"mpi.h", {"plugins/cpu/"}},
    {"CL/", {"plugins/opencl/"}},
    {"cuda", {"plugins/cuda/"}},
    {"cublas", {"plugins/cuda/"}},
    {"CLI/",
     {"framework/cli/main.cpp", "framework/options/option_set.cpp",
      "framework/options/usage_error.cpp", "framework/options/known_synonyms.cpp"}},
    {"simdjson.h", {"framework/profile/"}},
    {"zlib.h",
     {"framework/profile/", "framework/latency/imported/", "framework/parquet/parquet_codec.cpp"}},
    {"snappy.h", {"framework/parquet/parquet_codec.cpp"}},
    {"zstd.h", {"framework/parquet/parquet_codec.cpp"}},
};

// The longest key of `arrows` that is `path` or a folder above it; "cli" too; "" elsewhere.
std::string key_of(std::string_view path) {
  for (;;) {
    if (arrows.contains(path) || path == "cli") return std::string(path);
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return "";
    path = path.substr(0, slash);
  }
}

// Of framework/<room>/..., kernels/..., search/..., plugins/...; "" elsewhere (tests, the root).
std::string room_of(std::string_view path) {
  if (path.starts_with("framework/")) return key_of(path.substr(10));
  for (const char* room : {"kernels/", "search/", "plugins/"}) {
    if (path.starts_with(room)) return key_of(path);
  }
  return "";
}

// The room that an include reaches; "" for a neighbour of the same folder and the outside world.
std::string target_of(const Include& include) {
  if (include.name.starts_with("halmark_plugin")) return "abi";
  return include.is_quoted ? key_of(include.name) : "";
}

bool may_know(const std::string& room, const std::string& target) {
  if (room == "cli" || target.empty() || room == target) return true;
  const auto is_within = [&target](const std::string& folder) {
    return target == folder || target.starts_with(folder + '/');
  };
  const auto allowed = arrows.find(room);
  return allowed != arrows.end() && std::ranges::any_of(allowed->second, is_within);
}

// Plugins are projects of their own: even another backend's folder is out of reach.
bool leaves_its_folder(const Include& include) {
  return include.is_quoted && include.name.find("..") != std::string::npos;
}

std::vector<std::string> faults_of(const SourceFile& file) {
  std::vector<std::string> out;
  const std::string room = room_of(file.path);
  if (room.empty()) return out;
  for (const Include& include : includes_of(file.text)) {
    const std::string at = file.path + ':' + std::to_string(include.line) + ": " + include.name;
    const std::string target = target_of(include);
    if (!may_know(room, target)) {
      out.push_back(at + ": " + room + " must not know " + target);
    }
    if (leaves_its_folder(include)) out.push_back(at + ": written relative to another folder");
    for (const Owner& owner : owners) {
      if (!include.name.starts_with(owner.header)) continue;
      bool is_owned = false;
      for (const std::string& place : owner.places) is_owned |= file.path.starts_with(place);
      if (!is_owned) out.push_back(at + ": only " + owner.places.front() + " may include it");
    }
  }
  return out;
}

TEST(Includes, every_file_keeps_to_the_arrows_of_the_house) {
  std::vector<std::string> faults;
  std::size_t seen = 0;
  for (const SourceFile& file : tracked_files()) {
    if (!is_cpp(file.path)) continue;
    seen += room_of(file.path).empty() ? 0 : 1;
    for (std::string& fault : faults_of(file)) faults.push_back(std::move(fault));
  }
  EXPECT_GT(seen, 200u) << "the tree was not found";
  EXPECT_THAT(faults, testing::IsEmpty());
}

TEST(Includes, every_folder_of_the_framework_is_a_known_room) {
  for (const SourceFile& file : tracked_files()) {
    if (!is_cpp(file.path) || !file.path.starts_with("framework/")) continue;
    if (file.path.starts_with("framework/cmake/") || file.path == "framework/precompiled.hpp")
      continue;
    EXPECT_NE(room_of(file.path), "") << file.path << " is in a room without a rule";
  }
}

// A command parses, wires and prints: what composes, measures or searches is one call into tune.
// doctor names the library that samples.
const std::vector<std::string> not_for_commands = {
    "model/graph",        "model/pricing",    "measure/campaign",
    "measure/sampling",   "measure/probe",    "search/loop.hpp",
    "search/sampler.hpp", "search/samplers/", "search/certify"};

TEST(Includes, commands_know_no_loop_and_no_composing) {
  std::vector<std::string> faults;
  for (const SourceFile& file : tracked_files()) {
    const auto begins = [](const std::string& text) {
      return [&text](const std::string& prefix) { return text.starts_with(prefix); };
    };
    if (!is_cpp(file.path) || !file.path.starts_with("framework/cli/")) continue;
    if (file.path == "framework/cli/doctor.cpp") continue;
    for (const Include& include : includes_of(file.text)) {
      if (std::ranges::any_of(not_for_commands, begins(include.name))) {
        faults.push_back(file.path + ": " + include.name);
      }
    }
  }
  EXPECT_THAT(faults, testing::IsEmpty());
}

struct Case {
  const char* path;
  const char* line;
  const char* expected;  // part of the one fault; "" = none
};

class IncludeRule : public testing::TestWithParam<Case> {};

TEST_P(IncludeRule, finds_what_breaks_it_and_nothing_else) {
  const Case& c = GetParam();
  const std::vector<std::string> faults = faults_of({c.path, c.line});
  if (*c.expected == '\0') {
    EXPECT_THAT(faults, testing::IsEmpty());
  } else {
    EXPECT_THAT(faults, testing::ElementsAre(testing::HasSubstr(c.expected)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Examples, IncludeRule,
    testing::Values(
        Case{"search/loop.cpp", "#include \"model/graph/graph.hpp\"\n",
             "search must not know model"},
        Case{"framework/model/graph/a.cpp", "#include \"host/plugin/plugin.hpp\"\n",
             "must not know host"},
        Case{"framework/report/a.hpp", "  #  include \"journal/store.hpp\"\n", "know journal"},
        Case{"plugins/cpu/a.cpp", "#include \"core/dtype.hpp\"\n", "plugins must not know core"},
        Case{"plugins/cpu/a.cpp", "#include \"../other/b.hpp\"\n", "relative to another folder"},
        Case{"framework/roofline/a.cpp", "#include \"kernels/contract.hpp\"\n",
             "roofline must not know kernels"},
        Case{"framework/latency/a.cpp", "#include \"journal/store.hpp\"\n",
             "latency must not know journal"},
        Case{"framework/core/a.cpp", "#include <halmark_plugin.h>\n", "core must not know abi"},
        Case{"framework/cli/doctor.cpp", "#include <sqlite3.h>\n", "only framework/journal/"},
        Case{"framework/measure/probe/peaks.cpp", "#include <benchmark/benchmark.h>\n",
             "gbench.cpp"},
        Case{"framework/host/a.cpp", "#include <mpi.h>\n", "only plugins/cpu/"},
        Case{"plugins/cpu/a.cpp", "#include <CL/opencl.hpp>\n", "only plugins/opencl/"},
        Case{"framework/host/a.cpp", "#include <cuda_runtime_api.h>\n", "only plugins/cuda/"},
        Case{"framework/measure/sampling/gbench.cpp", "#include <benchmark/benchmark.h>\n", ""},
        Case{"framework/cli/tune.cpp", "#include \"journal/store.hpp\"\n", ""},
        Case{"framework/worker/a.cpp", "#include \"kernels/contract.hpp\"\n", ""},
        Case{"plugins/cpu/a.cpp", "#include \"gemm.hpp\"\n#include <halmark_plugin.hpp>\n", ""},
        Case{"tests/unit/a.cpp", "#include <sqlite3.h>\n", ""}),
    [](const auto& info) {
      return test::case_name({info.param.path, info.param.line});
    });

}  // namespace
}  // namespace halmark::architecture
