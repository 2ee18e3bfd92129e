// Exported commands of three points of a front, read by the argument parser of each engine itself.
// HALMARK_ENGINE_PACKAGES names a folder with the unpacked Python packages (vllm-0.24.0,
// sglang-0.5.16), HALMARK_LLAMA_CPP one with llama-server.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/python_with.hpp"

namespace halmark::integration {
namespace {

constexpr int points_read = 3;

struct Engine {
  const char *name, *version;
  std::size_t command_words;  // before the first flag
};

class EngineCommands : public HalmarkTest {
 protected:
  // `shards`: devices of each point.
  void search(const char* shards) const {
    write("s.toml", std::string(R"(name = "served"
model = "qwen3-30b-a3b"
device_file = "h200"
latency = ["roofline"]
dtypes = ["bf16"]
objectives = ["ttft", "tpot", "tokens_per_s_per_device"]
shards = )") + shards +
                        R"(
[request]
input_tokens = 2000
output_tokens = 100
concurrency = [1, 4, 16, 64]
token_budget = [2048]
)");
    ASSERT_EQ(halmark({"tune", "s.toml", "--db", "x.db"}).exit_code, 0);
  }

  Json point(int number, const char* engine, const char* version) const {
    return data_of({"export", "--db", "x.db", "--as", engine, "--server-version", version,
                    "--point", std::to_string(number)});
  }

  Launch parser(const std::string& python, const Engine& engine, const Arguments& flags) const {
    Launch out = base_;
    out.arguments = {python, "-B", test::in_source("/tests/integration/exchange/engine_parser.py"),
                     engine.name, folder_of(engine)};
    out.arguments.insert(out.arguments.end(), flags.begin(), flags.end());
    return out;
  }

  static std::string folder_of(const Engine& engine) {
    const char* const packages = std::getenv("HALMARK_ENGINE_PACKAGES");
    const std::string root = packages != nullptr ? packages : "";
    return root + '/' + engine.name + '-' + engine.version;
  }
};

class EngineParsers : public EngineCommands, public testing::WithParamInterface<Engine> {};

Arguments flags_of(const Json& exported, std::size_t command_words) {
  const Arguments all = exported["servers"][0];
  return {all.begin() + static_cast<std::ptrdiff_t>(command_words), all.end()};
}

// The last line: engines write what they found of the machine above it.
Json read_values(const std::string& out) {
  const std::string text = out.substr(0, out.find_last_not_of('\n') + 1);
  return Json::parse(text.substr(text.rfind('\n') + 1));
}

// What the parser made of a flag, under the name of the field that it fills.
void expect_read(const Json& read, std::string flag, const std::string& value) {
  flag.erase(0, 2);
  const bool is_off = flag.starts_with("no-");
  if (is_off) flag.erase(0, 3);
  std::ranges::replace(flag, '-', '_');
  ASSERT_TRUE(read.contains(flag)) << flag;
  const Json& found = read[flag];
  if (value.empty()) {
    EXPECT_EQ(found, Json(!is_off)) << flag;
  } else if (found.is_number()) {
    EXPECT_EQ(found.get<double>(), std::stod(value)) << flag;
  } else {
    EXPECT_EQ(found, Json(value)) << flag;
  }
}

TEST_P(EngineParsers, read_the_values_that_three_points_say) {
  const Engine engine = GetParam();
  if (!std::filesystem::exists(folder_of(engine))) {
    GTEST_SKIP() << "HALMARK_ENGINE_PACKAGES names no folder with " << engine.name << '-'
                 << engine.version;
  }
  const auto python = test::python_with("pydantic, regex, msgspec, dill, cachetools, cloudpickle");
  if (!python) GTEST_SKIP() << "no Python with pydantic, regex, msgspec, dill, cachetools";
  search("[4]");
  for (int i = 1; i <= points_read; ++i) {
    const Json exported = point(i, engine.name, engine.version);
    const Arguments flags = flags_of(exported, engine.command_words);
    const Outcome o = run(parser(*python, engine, flags));
    ASSERT_EQ(o.exit_code, 0) << o.err;
    const Json read = read_values(o.out);
    for (const Json& f : exported["flags"]) expect_read(read, f["flag"], f["value"]);
  }
  // The parser would say no.
  EXPECT_EQ(run(parser(*python, engine, {"--tensor-parallel-sizes", "4"})).exit_code, 2);
}

INSTANTIATE_TEST_SUITE_P(Packages, EngineParsers,
                         testing::Values(Engine{"vllm", "0.24.0", 2},
                                         Engine{"sglang", "0.5.16", 3}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(EngineCommands, of_three_points_are_taken_by_llama_server) {
  const char* const folder = std::getenv("HALMARK_LLAMA_CPP");
  if (folder == nullptr) GTEST_SKIP() << "HALMARK_LLAMA_CPP names no folder with llama-server";
  search("[1]");
  Launch launch = base_;
  const std::string program = std::string(folder) + "/llama-server";
  for (int i = 1; i <= points_read; ++i) {
    launch.arguments = flags_of(point(i, "llamacpp", "b11434"), 1);
    launch.arguments.insert(launch.arguments.begin(), program);
    // Arguments are read from left to right: with this one last, all others were taken.
    launch.arguments.emplace_back("--version");
    const Outcome o = run(launch);
    EXPECT_EQ(o.exit_code, 0) << o.err;
    EXPECT_THAT(o.out + o.err, testing::HasSubstr("version: "));
  }
  launch.arguments = {program, "--parallels", "4", "--version"};
  EXPECT_NE(run(launch).exit_code, 0);
}

}  // namespace
}  // namespace halmark::integration
