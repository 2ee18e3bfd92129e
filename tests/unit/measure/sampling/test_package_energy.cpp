// The kernel's power zones as files of our own.
#include "measure/sampling/package_energy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/scoped_environment.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

class PackageEnergyTest : public testing::Test {
 protected:
  void write(const std::string& zone, const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(root() / zone);
    std::ofstream(root() / zone / file) << text << '\n';
  }
  void zone(const std::string& name, double energy_uj) const {
    write(name, "energy_uj", std::to_string(static_cast<long long>(energy_uj)));
    write(name, "max_energy_range_uj", "262143328850");
  }
  std::filesystem::path root() const { return folder_.path() / "powercap"; }

  test::ScratchFolder folder_;
};

TEST_F(PackageEnergyTest, is_the_sum_of_all_packages_and_of_no_part_of_one) {
  zone("intel-rapl:0", 1000);
  zone("intel-rapl:1", 5000);
  zone("intel-rapl:0:0", 10);       // the cores of package 0
  zone("intel-rapl-mmio:0", 1000);  // package 0 once more
  PackageEnergy energy(root());
  zone("intel-rapl:0", 1500);
  zone("intel-rapl:1", 5700);
  zone("intel-rapl:0:0", 999);
  zone("intel-rapl-mmio:0", 1500);
  EXPECT_EQ(energy.microjoules_since(), 500 + 700);
  EXPECT_EQ(energy.microjoules_since(), 0) << "since the last call";
}

TEST_F(PackageEnergyTest, goes_on_where_a_counter_wraps_around) {
  zone("intel-rapl:0", 262143328850 - 100);
  PackageEnergy energy(root());
  zone("intel-rapl:0", 40);
  EXPECT_EQ(energy.microjoules_since(), 140);
}

TEST_F(PackageEnergyTest, is_absent_with_its_reason) {
  PackageEnergy none(root());
  EXPECT_FALSE(none.microjoules_since());
  EXPECT_THAT(none.reason(), HasSubstr("has no package"));
  write("intel-rapl:0", "max_energy_range_uj", "1000");
  PackageEnergy unreadable(root());
  EXPECT_FALSE(unreadable.microjoules_since());
  EXPECT_THAT(unreadable.reason(), HasSubstr("energy_uj cannot be read"));
  write("intel-rapl:0", "energy_uj", "nonsense");
  EXPECT_FALSE(PackageEnergy(root()).microjoules_since());
}

TEST_F(PackageEnergyTest, a_counter_starts_at_zero_and_never_below) {
  zone("intel-rapl:0", 0);
  PackageEnergy energy(root());
  EXPECT_EQ(energy.microjoules_since(), 0);
  zone("intel-rapl:0", 7);
  EXPECT_EQ(energy.microjoules_since(), 7);
  write("intel-rapl:0", "energy_uj", "-5");
  EXPECT_FALSE(energy.microjoules_since());
  write("intel-rapl:0", "energy_uj", "5");
  write("intel-rapl:0", "max_energy_range_uj", "none");
  PackageEnergy unbounded(root());
  EXPECT_FALSE(unbounded.microjoules_since());
  EXPECT_THAT(unbounded.reason(), HasSubstr("max_energy_range_uj cannot be read"));
}

TEST_F(PackageEnergyTest, is_read_where_the_environment_says_else_where_the_kernel_has_it) {
  const test::ScopedVariable said("HALMARK_POWERCAP", "/some/where");
  EXPECT_EQ(PackageEnergy::root_of_machine(), "/some/where");
  const test::ScopedVariable empty("HALMARK_POWERCAP", "");
  EXPECT_EQ(PackageEnergy::root_of_machine(), "/sys/class/powercap");
  const test::ScopedVariable absent("HALMARK_POWERCAP");
  EXPECT_EQ(PackageEnergy::root_of_machine(), "/sys/class/powercap");
}

TEST_F(PackageEnergyTest, says_when_a_counter_is_gone) {
  zone("intel-rapl:0", 1000);
  PackageEnergy energy(root());
  EXPECT_EQ(energy.reason(), "");
  std::filesystem::remove(root() / "intel-rapl:0" / "energy_uj");
  EXPECT_FALSE(energy.microjoules_since());
  EXPECT_THAT(energy.reason(), HasSubstr("any more"));
}

}  // namespace
}  // namespace halmark
