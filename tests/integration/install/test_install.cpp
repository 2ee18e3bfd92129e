// What `cmake --install` of this build puts where, used from there alone; under the label nightly
// the Debian package.
#include <filesystem>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Install : public HalmarkTest {
 protected:
  Outcome shell(const std::string& command) const {
    Launch launch = base_;
    launch.environment.erase("HALMARK_PLUGIN_PATH");
    launch.arguments = {"/bin/sh", "-c", command};
    return run(launch);
  }
  void install() const {
    // A relative prefix is one below the folder of the command.
    const Outcome out = shell("cmake --install " + test::in_build() + " --prefix there");
    ASSERT_EQ(out.exit_code, 0) << out.err;
  }
};

TEST_F(Install, has_programs_headers_library_pages_manuals_completions_and_the_licence) {
  install();
  for (const char* file : {"bin/halmark",
                           "bin/halmark-worker",
                           "bin/halmark-guard",
                           "include/halmark/halmark_plugin.h",
                           "include/halmark/halmark_plugin.hpp",
                           "include/halmark/search/loop.hpp",
                           "include/halmark/search/certify/certify.hpp",
                           "include/halmark/core/version.hpp",
                           "share/halmark/plugin_template/plugin.cpp",
                           "share/halmark/configs/sweeps/quickstart.toml",
                           "share/halmark/configs/grafana/halmark.json",
                           "share/halmark/python/halmark_study.py",
                           "share/halmark/python/halmark/__init__.py",
                           "share/halmark/python/version",
                           "share/doc/halmark/README.md",
                           "share/doc/halmark/LICENSE",
                           "share/doc/halmark/copyright",
                           "share/doc/halmark/results/schema/README.md",
                           "share/doc/halmark/results/schema/reference/sweep.md",
                           "share/doc/halmark/search/README.md",
                           "share/man/man1/halmark.1",
                           "share/man/man1/halmark-tune.1",
                           "share/bash-completion/completions/halmark",
                           "share/zsh/site-functions/_halmark",
                           "share/fish/vendor_completions.d/halmark.fish"}) {
    EXPECT_TRUE(fs::is_regular_file(fs::path(path("there")) / file)) << file;
  }
  EXPECT_FALSE(fs::exists(path("there/share/doc/halmark/tests")));
}

TEST_F(Install, runs_a_shipped_sweep_by_its_name) {
  install();
  // Away from the source tree and the place of the installation.
  fs::rename(path("there"), path("moved"));
  const Outcome plan = shell("moved/bin/halmark tune quickstart --plan");
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("qwen3-0.6b"));
  const Outcome settings = shell("moved/bin/halmark config show --effective");
  EXPECT_THAT(settings.out, HasSubstr("default (installation)"));
  EXPECT_THAT(shell("moved/bin/halmark tune quickstrat --plan").err, HasSubstr("no sweep file"));
}

// On every machine something else is absent.
TEST_F(Install, what_doctor_misses_it_names_a_command_for) {
  install();
  const Outcome out = shell("PATH=/nowhere there/bin/halmark doctor --json");
  std::size_t missing = 0;
  const Json envelope = envelope_of(out.out);
  for (const Json& check : envelope["data"]["checks"]) {
    const std::string name = check["name"], text = check["text"];
    const bool is_backend = name.starts_with("plugin ") && check["verdict"] == "note";
    if (!is_backend && check["verdict"] != "missing") continue;
    if (text.find("switched off") != std::string::npos) continue;
    ++missing;
    EXPECT_THAT(text, HasSubstr("install")) << name;
  }
  EXPECT_GE(missing, 1u) << "no mpirun is in that PATH";
}

TEST_F(Install, gives_the_search_library_to_a_project_of_its_own) {
  install();
  fs::create_directory(path("own"));
  write("own/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.25)\nproject(own LANGUAGES CXX)\n"
        "find_package(halmark REQUIRED COMPONENTS search)\nadd_executable(own own.cpp)\n"
        "target_compile_features(own PRIVATE cxx_std_20)\n"
        "target_link_libraries(own PRIVATE Halmark::search)\n");
  write("own/own.cpp",
        "#include <iostream>\n#include \"search/sampler.hpp\"\n"
        "int main() {\n  for (const auto& name : halmark::sampler_names()) std::cout << name "
        "<< '\\n';\n}\n");
  const Outcome out = shell(
      "cmake -S own -B own/build -DCMAKE_PREFIX_PATH=$PWD/there && cmake "
      "--build own/build && own/build/own");
  ASSERT_EQ(out.exit_code, 0) << out.out << out.err;
  EXPECT_THAT(out.out, HasSubstr("nsga2\n"));
}

}  // namespace
}  // namespace halmark::integration
