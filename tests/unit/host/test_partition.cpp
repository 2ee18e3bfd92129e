#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "core/input/input_file.hpp"
#include "core/text/error.hpp"
#include "host/machine.hpp"
#include "host/partition.hpp"
#include "tests/scoped_environment.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;

std::vector<std::vector<int>> numbers(const std::vector<CpuSet>& sets) {
  std::vector<std::vector<int>> result;
  for (const CpuSet& set : sets) result.push_back(set.cpus);
  return result;
}

TEST(Partition, the_whole_cpu_is_one_thread_per_physical_core) {
  // hwloc numbers synthetic processing units depth first: cores {0,1} {2,3} {4,5} {6,7}.
  const auto topology = Topology::synthetic("numa:1 core:4 pu:2");
  EXPECT_EQ(topology.cores(), 4);
  EXPECT_EQ(topology.processing_units(), 8);
  EXPECT_THAT(numbers(topology.cut(1)), ElementsAre(ElementsAre(0, 2, 4, 6)));
}

TEST(Partition, siblings_are_used_only_when_parts_outnumber_the_cores) {
  const auto topology = Topology::synthetic("numa:1 core:2 pu:2");
  EXPECT_THAT(numbers(topology.cut(2)), ElementsAre(ElementsAre(0), ElementsAre(2)));
  EXPECT_THAT(numbers(topology.cut(4)),
              ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(1), ElementsAre(3)));
}

TEST(Partition, no_part_crosses_a_numa_node_when_that_can_be_avoided) {
  const auto topology = Topology::synthetic("numa:2 core:4 pu:1");
  EXPECT_THAT(numbers(topology.cut(2)),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7)));
  EXPECT_THAT(numbers(topology.cut(4)), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3),
                                                    ElementsAre(4, 5), ElementsAre(6, 7)));
  // Three parts of two: two nodes share the load as evenly as whole parts allow.
  EXPECT_THAT(numbers(topology.cut(3)),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5)));
}

TEST(Partition, a_part_larger_than_a_node_takes_whole_nodes_in_order) {
  const auto topology = Topology::synthetic("numa:4 core:2 pu:1");
  EXPECT_THAT(numbers(topology.cut(2)),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7)));
}

TEST(Partition, every_cut_is_equal_and_disjoint_and_inside_the_machine) {
  const auto topology = Topology::synthetic("numa:2 core:6 pu:2");
  for (int parts = 1; parts <= topology.processing_units(); ++parts) {
    const auto sets = topology.cut(parts);
    ASSERT_EQ(sets.size(), static_cast<std::size_t>(parts));
    std::set<int> seen;
    for (const CpuSet& set : sets) {
      EXPECT_EQ(set.threads(), sets.front().threads());
      EXPECT_GE(set.threads(), 1);
      for (int cpu : set.cpus) {
        EXPECT_TRUE(seen.insert(cpu).second) << "cpu " << cpu << " twice in " << parts << " parts";
        EXPECT_LT(cpu, topology.processing_units());
      }
    }
  }
}

TEST(Partition, cores_that_do_not_divide_stay_idle_at_the_end) {
  const auto topology = Topology::synthetic("numa:1 core:5 pu:1");
  EXPECT_THAT(numbers(topology.cut(2)), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(numbers(Topology::synthetic("numa:2 core:3 pu:1").cut(4)),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(3), ElementsAre(4)));
}

TEST(Partition, processing_units_without_cores_count_as_cores) {
  const auto topology = Topology::synthetic("numa:1 pu:4");
  EXPECT_EQ(topology.cores(), 4);
  EXPECT_THAT(numbers(topology.cut(2)), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(Partition, a_topology_that_cannot_be_read_is_refused) {
  EXPECT_THROW(Topology::synthetic("no topology"), Error);
}

TEST(Partition, the_machine_is_what_this_process_is_bound_to) {
  const int last = cut(1).front().cpus.back();
  const test::ScopedAffinity alone(last);
  const auto bound = Topology::of_machine();
  EXPECT_EQ(bound.processing_units(), 1);
  EXPECT_THAT(numbers(bound.cut(1)), ElementsAre(ElementsAre(last)));
}

TEST(Partition, an_impossible_cut_is_refused) {
  const auto topology = Topology::synthetic("numa:1 core:2 pu:1");
  EXPECT_THROW(topology.cut(3), Error);
  EXPECT_THROW(topology.cut(0), Error);
}

TEST(Partition, this_machine_yields_only_cpus_that_this_process_may_use) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  for (int cpu : cpus_of({"cpu", "0", 1, 0}).cpus) EXPECT_TRUE(CPU_ISSET(cpu, &allowed));
  EXPECT_THROW(cpus_of({"cpu", "0", 1, 1}), Error);
  EXPECT_THROW(cpus_of({"cpu", "0", 1, -1}), Error);
}

TEST(CpuSetText, runs_are_shown_as_ranges) {
  EXPECT_EQ((CpuSet{{0, 1, 2, 3, 8}}).text(), "0-3,8");
  EXPECT_EQ((CpuSet{{5}}).text(), "5");
  EXPECT_EQ(CpuSet{}.text(), "");
}

TEST(MachineTest, sha256_agrees_with_the_published_vectors) {
  // FIPS 180-2, appendix B.1, and the empty message.
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(MachineTest, the_fingerprint_moves_with_what_matters_and_with_nothing_else) {
  Machine machine = this_machine();
  EXPECT_GE(machine.logical_cpus, 1);
  EXPECT_GT(machine.memory_bytes, 0);
  const std::string first = machine.fingerprint();
  const std::string first_class = machine.hardware_class();
  machine.memory_bytes += std::int64_t{1} << 32;
  machine.microcode += "1";
  machine.kernel += "1";
  machine.governor += "1";
  EXPECT_EQ(machine.fingerprint(), first) << "an update is no other hardware";
  machine.shape.cpus.cpus.front() += 1;
  EXPECT_EQ(machine.fingerprint(), first) << "which cores is not part of it";
  const auto expect_other = [&](const std::function<void(Machine&)>& change) {
    Machine other = machine;
    change(other);
    EXPECT_NE(other.hardware_class(), first_class) << other.class_text();
  };
  expect_other([](Machine& m) { m.cpu_model += "1"; });
  expect_other([](Machine& m) { m.cpu_generation += "1"; });
  expect_other([](Machine& m) { m.isa.emplace_back("other"); });
  expect_other([](Machine& m) { m.shape.cores += 1; });
  expect_other([](Machine& m) { m.shape.cpus.cpus.push_back(9999); });
  expect_other([](Machine& m) { m.shape.cores_of_nodes.push_back(1); });
  expect_other([](Machine& m) { m.shape.caches.emplace_back("L4 1 KiB of 1 CPU x1"); });
  expect_other([](Machine& m) { m.quota_cpus = 0.5; });
  machine.host = "other";
  EXPECT_EQ(machine.hardware_class(), first_class) << "two hosts of one class";
  EXPECT_NE(machine.fingerprint(), first);
}

TEST(MachineTest, another_model_memory_or_driver_of_a_device_is_another_class) {
  const Machine machine = this_machine();
  protocol::DeviceDescription device;
  device.kind = "cpu";
  EXPECT_EQ(machine.fingerprint_on(device), machine.fingerprint());
  device.kind = "gpu";
  device.name = "H100";
  device.driver = "570";
  device.memory_bytes = 80;
  std::set<std::string> seen = {machine.fingerprint(), machine.fingerprint_on(device)};
  device.driver = "571";
  seen.insert(machine.fingerprint_on(device));
  device.memory_bytes = 94;
  seen.insert(machine.fingerprint_on(device));
  device.name = "H200";
  seen.insert(machine.fingerprint_on(device));
  EXPECT_EQ(seen.size(), 5u);
}

TEST(CpuShapeTest, says_what_of_the_machine_serves_the_set) {
  const auto two = Topology::synthetic("numa:2 l3:1(size=8388608) l2:2 l1:1 core:1 pu:2");
  EXPECT_EQ(two.shape().cores, 4);
  EXPECT_EQ(two.shape().cpus.threads(), 8);
  EXPECT_TRUE(two.shape().has_siblings());
  EXPECT_EQ(two.shape().cores_of_nodes, (std::vector<int>{2, 2}));
  EXPECT_THAT(two.shape().caches, testing::Contains("L3 8192 KiB of 4 CPUs x2"));
  const auto one = Topology::synthetic("core:4 pu:1");
  EXPECT_FALSE(one.shape().has_siblings());
  EXPECT_EQ(one.shape().cores_of_nodes, std::vector<int>{4});
}

// proc(5) and sysfs once more, without the code under test.
TEST(MachineTest, is_what_the_kernel_lists) {
  const Machine machine = this_machine();
  EXPECT_TRUE(std::ranges::is_sorted(machine.cpu_flags)) << "a fingerprint has one order";
  std::ifstream file("/proc/cpuinfo");
  int processors = 0;
  std::set<std::string> sockets, flags;
  std::set<std::pair<std::string, std::string>> cores;
  std::string socket = "0";
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::string value = colon + 2 < line.size() ? line.substr(colon + 2) : "";
    processors += key == "processor" ? 1 : 0;
    if (key == "physical id") sockets.insert(socket = value);
    if (key == "core id") cores.emplace(socket, value);
    if (key == "model name") {
      EXPECT_EQ(machine.cpu_model, value.substr(0, value.find_last_not_of(' ') + 1));
    }
    if (key == "flags" || key == "Features") {
      std::istringstream words(value);
      for (std::string word; words >> word;) flags.insert(word);
    }
  }
  EXPECT_EQ(machine.logical_cpus, std::max(1, processors));
  EXPECT_EQ(static_cast<std::size_t>(machine.sockets), std::max<std::size_t>(1, sockets.size()));
  if (!cores.empty()) {
    EXPECT_EQ(static_cast<std::size_t>(machine.cores), cores.size());
  }
  EXPECT_EQ(std::set<std::string>(machine.cpu_flags.begin(), machine.cpu_flags.end()), flags);
  for (std::size_t i = 0; i < machine.caches.size(); ++i) {
    const std::string base = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + '/';
    std::string level, size;
    std::ifstream(base + "level") >> level;
    std::ifstream(base + "size") >> size;
    EXPECT_TRUE(machine.caches[i].starts_with('L' + level + ' ')) << machine.caches[i];
    EXPECT_TRUE(machine.caches[i].ends_with(' ' + size)) << machine.caches[i];
  }
}

// Each line of what a fingerprint is made of; memory is rounded to whole GiB.
TEST(MachineTest, the_text_of_a_fingerprint_names_everything_once) {
  Machine m;
  m.cpu_model = "model";
  m.cpu_vendor = "vendor";
  m.microcode = "0x1";
  m.architecture = "x86_64";
  m.kernel = "6.1";
  m.governor = "performance";
  m.sockets = 2;
  m.cores = 8;
  m.logical_cpus = 16;
  m.caches = {"L1 data 32K", "L2 unified 1M"};
  m.cpu_flags = {"a", "b"};
  const auto text_of = [&](double gib) {
    m.memory_bytes = static_cast<std::int64_t>(gib * (1LL << 30));
    return m.earlier_fingerprint_text();
  };
  EXPECT_TRUE(text_of(3.4).starts_with(
      "cpu: model\nvendor: vendor\nmicrocode: 0x1\narchitecture: x86_64\nkernel: 6.1\n"
      "sockets: 2\ncores: 8\nlogical_cpus: 16\nmemory_gib: 3\ngovernor: performance\n"
      "caches: L1 data 32K, L2 unified 1M\nflags: a b"))
      << text_of(3.4);
  EXPECT_NE(text_of(3.6).find("memory_gib: 4\n"), std::string::npos);
  EXPECT_NE(text_of(3.5).find("memory_gib: 4\n"), std::string::npos);
}

// The flags of proc(5) under the kernel's names, cumulative as the keys are.
TEST(MachineTest, isa_keys_are_those_of_the_flags_of_the_kernel) {
  const auto flags = this_machine().cpu_flags;
  const auto has = [&](std::initializer_list<const char*> wanted) {
    return std::ranges::all_of(
        wanted, [&](const char* flag) { return std::ranges::count(flags, flag) > 0; });
  };
  std::vector<std::string> expected;
#if defined(__x86_64__)
  if (has({"sse4_1"})) expected.emplace_back("sse41");
  if (has({"avx"})) expected.emplace_back("avx");
  if (has({"avx2"})) expected.emplace_back("avx2");
  if (has({"avx512f", "avx512bw", "avx512vl", "avx512dq"})) {
    expected.emplace_back("avx512_core");
    if (has({"avx512_vnni"})) {
      expected.emplace_back("avx512_core_vnni");
      if (has({"avx512_bf16"})) {
        expected.emplace_back("avx512_core_bf16");
        if (has({"avx512_fp16"})) expected.emplace_back("avx512_core_fp16");
        if (has({"amx_tile", "amx_int8", "amx_bf16"})) expected.emplace_back("avx512_core_amx");
      }
    }
  }
#endif
  EXPECT_EQ(isa_keys(), expected);
}

TEST(MachineTest, has_the_memory_the_kernel_and_the_governor_that_it_says) {
  const Machine machine = this_machine();
  utsname name{};
  ASSERT_EQ(::uname(&name), 0);
  EXPECT_EQ(machine.kernel, name.release);
  EXPECT_EQ(machine.architecture, name.machine);
  std::string governor, key;
  std::getline(std::ifstream("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), governor);
  EXPECT_EQ(machine.governor, governor);
  std::ifstream file("/proc/meminfo");
  std::int64_t kib = 0;
  ASSERT_TRUE(file >> key >> kib);
  EXPECT_NEAR(static_cast<double>(machine.memory_bytes), static_cast<double>(kib << 10),
              0.02 * static_cast<double>(kib << 10));
  EXPECT_EQ(machine.fingerprint().size(), 4u + 16u + 1u + 8u);
  EXPECT_EQ(machine.fingerprint(),
            "cpu-" + sha256_hex(machine.class_text()).substr(0, 16) + "@" + machine.host);
  EXPECT_EQ(machine.earlier_fingerprint(),
            "cpu-" + sha256_hex(machine.earlier_fingerprint_text()).substr(0, 16));
  std::size_t caches = 0;
  const std::string base = "/sys/devices/system/cpu/cpu0/cache/index";
  while (std::ifstream(base + std::to_string(caches) + "/size")) ++caches;
  EXPECT_EQ(machine.caches.size(), caches);
}

TEST(MachineTest, a_file_is_hashed_to_its_end) {
  const test::ScratchFolder folder;
  for (const std::size_t bytes : {0u, 65'536u, 200'001u}) {
    std::string text(bytes, 'a');
    for (std::size_t i = 0; i < bytes; i += 977) text[i] = static_cast<char>(i);
    test::write_file(folder / "f", text);
    InputFile file(folder / "f", plugin_input);
    EXPECT_EQ(sha256_rest(file), sha256_hex(text)) << bytes;
  }
}

}  // namespace
}  // namespace halmark
