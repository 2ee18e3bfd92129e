// What a source becomes: a copy of the device's plugin, with the kernel behind its end.
#include "judge/build.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../scratch_folder.hpp"
#include "kernels/contract.hpp"

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

  Built of_opencl(const std::string& name) const {
    const Source source{folder_ / name, name, "__kernel void run() {}\n", Language::opencl};
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
  EXPECT_GE(built.seconds, 0);
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

}  // namespace
}  // namespace halmark::judge
