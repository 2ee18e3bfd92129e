// What a source becomes: a copy of the device's plugin, with the kernel behind its end.
#include "judge/build.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "../error_of.hpp"
#include "../scratch_folder.hpp"
#include "kernels/contract.hpp"
#include "tests/scoped_environment.hpp"

namespace halmark::judge {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

const Problem copied = complete_problem({"copy", {{"bytes", 64}}});

class Building : public testing::Test {
 protected:
  Building() {
    test::write_file(folder_ / "machinery.so", "the device's plugin\n");
    fs::permissions(folder_ / "machinery.so", fs::perms::owner_read);
  }

  Built of_opencl(const std::string& name,
                  const std::string& text = "__kernel void run() {}\n") const {
    const Source source{folder_ / name, name, text, Language::opencl};
    const auto built = build_plugin(source, std::span(&copied, 1),
                                    {.folder = folder_.path().string(),
                                     .machinery_path = folder_ / "machinery.so",
                                     .architecture = "",
                                     .options = {},
                                     .limits = {}});
    EXPECT_TRUE(built);
    return built ? *built : Built{};
  }
  std::string kernel_of(const std::string& name) const {
    const std::string bytes = test::file_bytes(of_opencl(name).plugin_path);
    const std::size_t at = bytes.find("kernel ") + 7;
    return bytes.substr(at, bytes.find('\n', at) - at);
  }

  const test::ScratchFolder folder_;
};

TEST_F(Building, of_opencl_is_the_plugin_of_the_device_with_the_source_behind_its_end) {
  const Built built = of_opencl("mine.cl");
  EXPECT_EQ(built.plugin_path, folder_ / "hm_judged.so");
  EXPECT_EQ(built.compiler, "") << "the driver compiles";
  const std::string bytes = test::file_bytes(built.plugin_path);
  EXPECT_THAT(bytes, StartsWith("the device's plugin\nkernel mine\nop copy\nsource mine.cl\n"));
  EXPECT_THAT(bytes, HasSubstr("#line 1 \"mine.cl\"\n__kernel void run() {}\n"));
}

// Installed plugins may be read-only.
TEST_F(Building, makes_a_file_that_its_owner_may_load_and_write) {
  const fs::perms perms = fs::status(of_opencl("mine.cl").plugin_path).permissions();
  EXPECT_EQ(perms & fs::perms::all, fs::perms::owner_all);
}

TEST_F(Building, again_replaces_what_was_built) {
  of_opencl("first.cl");
  const std::string once = test::file_bytes(of_opencl("mine.cl").plugin_path);
  EXPECT_EQ(test::file_bytes(of_opencl("mine.cl").plugin_path), once);
}

TEST_F(Building, names_the_kernel_after_the_file_in_small_letters_and_digits) {
  EXPECT_EQ(kernel_of("az09.cl"), "az09");
  EXPECT_EQ(kernel_of("Az-9.x.cl"), "_z_9_x");
  EXPECT_EQ(kernel_of("`{:.cl"), "___");
  EXPECT_EQ(kernel_of(std::string(60, 'n') + ".cl"), std::string(48, 'n'));
}

TEST_F(Building, puts_what_the_source_says_of_its_launch_in_front_of_it) {
  const Built built = of_opencl("a.cl", "// halmark: global = 8; local = 4\n");
  EXPECT_THAT(test::file_bytes(built.plugin_path), HasSubstr("\nglobal 8\nlocal 4\n"));
}

// A compiler that is a script: it writes down what it was given and does as it is told.
class BuildingWith : public Building {
 protected:
  BuildingWith() { compiler_does("exit 0"); }
  void compiler_does(const std::string& script) const {
    test::write_file(folder_ / "compiler",
                     "#!/bin/sh\necho \"$@\" >> " + (folder_ / "given") + "\n" + script + "\n");
    fs::permissions(folder_ / "compiler", fs::perms::owner_all);
  }
  Result<Built, BuildFailure> built(const std::string& path, Language language,
                                    const std::string& architecture = "") const {
    const Source source{path, fs::path(path).filename().string(), "text", language};
    return build_plugin(source, std::span(&copied, 1),
                        {.folder = folder_.path().string(),
                         .machinery_path = folder_ / "machinery.so",
                         .architecture = architecture,
                         .options = {"-DMORE"},
                         .limits = {}});
  }
  std::string given() const { return test::file_bytes(folder_ / "given"); }

 private:
  const test::ScopedVariable nvcc_{"NVCC", folder_ / "compiler"}, cxx_{"CXX", folder_ / "compiler"},
      cc_{"CC", folder_ / "compiler"};
};

// Matrix units of compute capability 9.0 and later need the "a" of their architecture.
TEST_F(BuildingWith, nvcc_is_told_the_exact_architecture_from_9_0_on) {
  compiler_does("for last; do case $last in */kernel.so) echo the code > $last;; esac; done");
  for (const auto& [architecture, exact] :
       {std::pair("sm_75", "75"), {"sm_89", "89"}, {"sm_90", "90a"}, {"sm_100", "100a"}}) {
    const auto made = built(folder_ / "a.cu", Language::cuda, architecture);
    ASSERT_TRUE(made) << made.failure.reason;
    const std::string option = std::string("-gencode=arch=compute_") + exact + ",code=sm_" + exact;
    EXPECT_THAT(given(), HasSubstr("-shared -O3 -std=c++17 " + option + " -Xcompiler "));
    EXPECT_EQ(made->compiler, (folder_ / "compiler") + " -O3 " + option);
  }
  EXPECT_THAT(given(),
              HasSubstr((folder_ / "a.cu") + " " + (folder_ / "judged_entry.cu") + " -DMORE\n"));
  EXPECT_THAT(test::file_bytes(folder_ / "hm_judged.so"),
              testing::AllOf(StartsWith("the device's plugin\nkernel a\nop copy\nsource a.cu\n"),
                             HasSubstr("the code\n")));
  EXPECT_THAT(test::file_bytes(folder_ / "judged_kernel.h"), HasSubstr("cudaStream_t stream);"));
  EXPECT_THAT(
      test::file_bytes(folder_ / "judged_entry.cu"),
      testing::AllOf(StartsWith("#include \"judged_kernel.h\"\n"), HasSubstr("cudaGetLastError")));
}

TEST_F(BuildingWith, what_nvcc_does_not_compile_has_its_words) {
  compiler_does("echo 'a.cu(1): error: no'; exit 1");
  const auto failed = built(folder_ / "a.cu", Language::cuda, "sm_90");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.failure.status, Status::compile_failed);
  EXPECT_EQ(failed.failure.reason, "a.cu(1): error: no");
  const test::ScopedVariable absent("NVCC", "hm-absent");
  const Error error =
      test::error_of([&] { (void)built(folder_ / "a.cu", Language::cuda, "sm_90"); });
  EXPECT_EQ(error.exit_code(), ExitCode::unfit);
  EXPECT_THAT(error.line(), HasSubstr("nvcc was not found"));
}

TEST_F(BuildingWith, a_host_compiler_has_the_source_with_its_header_and_then_the_plugin) {
  compiler_does("for last; do case $last in */hm_judged.so) echo linked > $last;; esac; done");
  for (const auto& [name, language, standard] :
       {std::tuple("a.c", Language::c, "-std=gnu17"), {"b.cpp", Language::cpp, "-std=c++20"}}) {
    ASSERT_TRUE(built(folder_ / name, language));
    EXPECT_THAT(given(), HasSubstr("-c " + std::string(standard) + " -include " +
                                   (folder_ / "judged_kernel.h") + " -o " + (folder_ / "source.o") +
                                   " -O3 -march=native -fopenmp -fPIC -fvisibility=hidden "
                                   "-Wfatal-errors -w " +
                                   (folder_ / name) + " -DMORE\n-shared "));
  }
  EXPECT_THAT(test::file_bytes(folder_ / "hm_judged.so"),
              StartsWith("linked\nkernel b\nop copy\nsource b.cpp\n"));
  EXPECT_THAT(test::file_bytes(folder_ / "judged_entry.cpp"),
              testing::AllOf(StartsWith("#include \"judged_kernel.h\"\n"),
                             HasSubstr("extern \"C\" void hm_judged_run(")));
  EXPECT_THAT(test::file_bytes(folder_ / "judged_kernel.h"), HasSubstr("void run("));
}

TEST_F(BuildingWith, a_message_names_the_file_as_the_user_did) {
  const std::string path = fs::relative(folder_ / "a.c").string();
  const std::string whole = fs::absolute(path).string();
  compiler_does("echo '" + whole + ":1: error: see " + whole + "'; exit 1");
  const auto failed = built(path, Language::c);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.failure.reason, path + ":1: error: see " + path);
}

// In the words of the linkers: GNU ld and gold, and lld.
TEST_F(BuildingWith, a_source_without_the_entry_is_told_what_to_define) {
  for (const char* words :
       {"ld: undefined reference to \\`run'", "ld.lld: error: undefined symbol: run"}) {
    compiler_does("echo \"" + std::string(words) + "\"; exit 1");
    const auto failed = built(folder_ / "a.c", Language::c);
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.failure.reason, HasSubstr("a.c: it has no entry; it must define void run("))
        << words;
  }
  compiler_does("echo 'ld.lld: error: undefined symbol: other'; exit 1");
  EXPECT_EQ(built(folder_ / "a.c", Language::c).failure.reason,
            "ld.lld: error: undefined symbol: other");
}

TEST_F(BuildingWith, a_step_of_the_linker_that_fails_is_the_failure) {
  compiler_does("case $1 in -shared) echo 'ld: error: no'; exit 1;; esac");
  const auto failed = built(folder_ / "a.c", Language::c);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.failure.reason, "ld: error: no");
  EXPECT_EQ(failed.failure.status, Status::compile_failed);
}

TEST_F(BuildingWith, a_folder_that_takes_no_file_is_an_error_of_ours) {
  fs::create_directory(folder_ / "judged_kernel.h");
  const Error error = test::error_of([&] { (void)built(folder_ / "a.c", Language::c); });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_EQ(error.where(), folder_ / "judged_kernel.h");
}

}  // namespace
}  // namespace halmark::judge
