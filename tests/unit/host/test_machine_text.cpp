// The lines of a machine, each with what it says where a property is absent.
#include "host/machine_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halmark {
namespace {

using testing::Contains;
using testing::Each;
using testing::Not;
using testing::StartsWith;

Machine small_machine() {
  Machine m;
  m.host = "0123abcd";
  m.cpu_model = "Model X";
  m.kernel = "6.1";
  m.memory_bytes = (std::int64_t{3} << 30) + 5;
  m.shape.cores = 4;
  return m;
}

TEST(MachineText, a_property_that_is_absent_is_said_to_be) {
  const Machine m = small_machine();
  const auto lines = property_lines(m, 2, m.fingerprint());
  EXPECT_THAT(lines, Contains("cpu: Model X, 2 cores for one shard"));
  EXPECT_THAT(lines, Contains("isa: unknown"));
  EXPECT_THAT(lines, Contains("memory: 3072 MiB"));
  EXPECT_THAT(lines, Contains("kernel: 6.1"));
  EXPECT_THAT(lines, Contains("cores in use: " + m.shape.cpus.text() + ", 4 cores, no quota"));
  EXPECT_THAT(lines, Each(Not(StartsWith("device: "))));
  EXPECT_THAT(lines, Each(Not(StartsWith("cache: "))));
}

TEST(MachineText, lists_have_a_comma_between_their_items_and_a_cache_a_line) {
  Machine m = small_machine();
  m.isa = {"sse41", "avx2"};
  m.caches = {"L1 data 32 KiB", "L2 1 MiB"};
  m.quota_cpus = 1.5;
  const auto lines = property_lines(m, 1, m.fingerprint());
  EXPECT_THAT(lines, Contains("isa: sse41, avx2"));
  EXPECT_THAT(lines, Contains("cores in use: " + m.shape.cpus.text() +
                              ", 4 cores, 1.5 CPUs of time by quota"));
  EXPECT_THAT(lines, Contains("cache: L1 data 32 KiB"));
  EXPECT_THAT(lines, Contains("cache: L2 1 MiB"));
}

TEST(MachineText, both_fingerprints_stand_and_that_of_a_plugins_device_beside_them) {
  const Machine m = small_machine();
  const auto lines = property_lines(m, 1, "gpu-1@0123abcd");
  EXPECT_THAT(lines, Contains("fingerprint: " + m.fingerprint()));
  EXPECT_THAT(lines, Contains("fingerprint of earlier versions: " + m.earlier_fingerprint()));
  EXPECT_NE(m.fingerprint(), m.earlier_fingerprint());
  EXPECT_THAT(lines, Contains("device: gpu-1@0123abcd"));
}

}  // namespace
}  // namespace halmark
