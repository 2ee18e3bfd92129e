// What makes two machines one class, and what is read of this one.
// The lines of a machine, each with what it says where a property is absent.
#include <gmock/gmock.h>

#include <sys/utsname.h>
#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/input/input_file.hpp"
#include "host/machine.hpp"
#include "host/machine_text.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::Contains;
using testing::Each;
using testing::Not;
using testing::StartsWith;

Machine described_machine() {
  Machine m;
  m.host = "0123abcd";
  m.cpu_model = "Model X";
  m.cpu_vendor = "Maker";
  m.cpu_generation = "6-143-8";
  m.microcode = "0x2b";
  m.kernel = "6.1.0";
  m.architecture = "x86_64";
  m.cpu_flags = {"avx", "sse"};
  m.sockets = 2;
  m.cores = 8;
  m.logical_cpus = 16;
  m.caches = {"L1 data 32K", "L2 unified 1024K"};
  m.memory_bytes = (std::int64_t{63} << 30) + (std::int64_t{1} << 29);
  m.governor = "performance";
  m.isa = {"sse41", "avx2"};
  m.shape = {.cpus = {.cpus = {0, 1, 4}},
             .cores = 2,
             .cores_of_nodes = {2, 1},
             .caches = {"L2 1024 KiB of 1 CPU x3"}};
  m.quota_cpus = 1.5;
  return m;
}

TEST(Machine, its_class_is_what_this_process_may_use) {
  Machine m = described_machine();
  EXPECT_EQ(m.class_text(),
            "cpu: Model X\nvendor: Maker\ngeneration: 6-143-8\narchitecture: x86_64\n"
            "isa: sse41 avx2\ncores: 2\nthreads: 3\nnuma: 2 1\nquota: 1.5\n"
            "cache: L2 1024 KiB of 1 CPU x3\n");
  m.quota_cpus.reset();
  EXPECT_THAT(m.class_text(), testing::HasSubstr("\nquota: none\n"));
  const std::string hash = sha256_hex(m.class_text()).substr(0, 16);
  EXPECT_EQ(m.hardware_class(), "cpu-" + hash);
  EXPECT_EQ(m.fingerprint(), "cpu-" + hash + "@0123abcd");
}

TEST(Machine, as_earlier_versions_had_it_is_the_whole_of_it) {
  Machine m = described_machine();
  EXPECT_EQ(m.earlier_fingerprint_text(),
            "cpu: Model X\nvendor: Maker\nmicrocode: 0x2b\narchitecture: x86_64\nkernel: 6.1.0\n"
            "sockets: 2\ncores: 8\nlogical_cpus: 16\nmemory_gib: 64\ngovernor: performance\n"
            "caches: L1 data 32K, L2 unified 1024K\nflags: avx sse\n")
      << "63.5 GiB are 64 to the nearest";
  m.memory_bytes -= 1;
  EXPECT_THAT(m.earlier_fingerprint_text(), testing::HasSubstr("memory_gib: 63\n"));
  EXPECT_EQ(m.earlier_fingerprint(),
            "cpu-" + sha256_hex(m.earlier_fingerprint_text()).substr(0, 16));
}

TEST(Machine, another_device_memory_or_driver_is_another_class) {
  const Machine m = described_machine();
  protocol::DeviceDescription d;
  d.kind = "cpu";
  EXPECT_EQ(m.fingerprint_on(d), m.fingerprint());
  d.kind = "gpu";
  d.name = "Card";
  d.memory_bytes = 80;
  d.driver = "535";
  EXPECT_EQ(
      m.fingerprint_on(d),
      "device-" +
          sha256_hex(m.class_text() + "device: Card\nmemory: 80\ndriver: 535\n").substr(0, 16) +
          "@0123abcd");
}

// The digests of the standard's examples (FIPS 180-2, appendix B.1 and B.3).
TEST(Sha256, is_that_of_the_standard) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, of_a_file_is_of_what_is_left_of_it) {
  const test::ScratchFolder folder;
  for (const std::size_t bytes : {0u, 1u, 65'535u, 65'536u, 65'537u, 200'000u}) {
    const std::string text(bytes, 'b');
    test::write_file(folder / "file", text);
    InputFile file(folder / "file", plugin_input);
    EXPECT_EQ(sha256_rest(file), sha256_hex(text)) << bytes;
  }
  test::write_file(folder / "file", "headabc");
  InputFile file(folder / "file", plugin_input);
  std::array<char, 4> head{};
  file.read(head);
  EXPECT_EQ(sha256_rest(file), sha256_hex("abc"));
}

// Values of a key of /proc/cpuinfo, one a processor.
std::vector<std::string> cpuinfo(const std::string& wanted) {
  std::vector<std::string> out;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(wanted + "\t")) continue;
    const std::size_t colon = line.find(": ");
    out.push_back(colon == line.npos ? "" : line.substr(colon + 2));
  }
  return out;
}

TEST(ThisMachine, is_what_the_kernel_says) {
  const Machine m = this_machine();
  utsname name{};
  ASSERT_EQ(::uname(&name), 0);
  EXPECT_EQ(m.kernel, name.release);
  EXPECT_EQ(m.architecture, name.machine);
  EXPECT_EQ(m.memory_bytes, ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(m.logical_cpus, std::ssize(cpuinfo("processor")));
  EXPECT_EQ(m.host.size(), 8u);
  std::string governor;
  std::getline(std::ifstream("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), governor);
  EXPECT_EQ(m.governor, governor);
  EXPECT_TRUE(std::ranges::is_sorted(m.cpu_flags)) << "a fingerprint has one order";
  EXPECT_EQ(this_machine().fingerprint(), m.fingerprint());
  EXPECT_TRUE(!m.quota_cpus || *m.quota_cpus < m.shape.cpus.threads());
  if (m.architecture != "x86_64") return;
  EXPECT_EQ(m.cpu_model, cpuinfo("model name").at(0));
  EXPECT_EQ(m.cpu_vendor, cpuinfo("vendor_id").at(0));
  EXPECT_EQ(m.cpu_generation, cpuinfo("cpu family").at(0) + '-' + cpuinfo("model").at(0) + '-' +
                                  cpuinfo("stepping").at(0));
  std::istringstream words(cpuinfo("flags").at(0));
  EXPECT_THAT(m.cpu_flags,
              testing::UnorderedElementsAreArray(std::istream_iterator<std::string>(words),
                                                 std::istream_iterator<std::string>()));
  const std::vector<std::string> socket = cpuinfo("physical id"), core = cpuinfo("core id");
  const std::set<std::string> sockets(socket.begin(), socket.end());
  std::set<std::string> cores;
  for (std::size_t i = 0; i < core.size(); ++i) {
    cores.insert((sockets.empty() ? "" : socket.at(i)) + '/' + core[i]);
  }
  EXPECT_EQ(m.sockets, std::max<std::ptrdiff_t>(1, std::ssize(sockets)));
  EXPECT_TRUE(cores.empty() || m.cores == std::ssize(cores)) << m.cores;
}

// machine-id(5), salted: eight digits of the hash, of the node's name where there is no id.
TEST(ThisMachine, is_known_by_a_hash_of_its_id) {
  std::string id;
  std::ifstream("/etc/machine-id") >> id;
  utsname name{};
  ASSERT_EQ(::uname(&name), 0);
  if (id.empty() || id == "uninitialized") id = name.nodename;
  EXPECT_EQ(this_machine().host, sha256_hex("halmark host " + id).substr(0, 8));
}

TEST(ThisMachine, lists_the_caches_of_its_first_processor) {
  const std::string base = "/sys/devices/system/cpu/cpu0/cache/index";
  std::vector<std::string> known;
  for (int i = 0; std::ifstream(base + std::to_string(i) + "/size").good(); ++i) {
    const auto word = [&](const char* file) {
      std::string out;
      std::ifstream(base + std::to_string(i) + '/' + file) >> out;
      return out;
    };
    std::string type = word("type");
    std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
    known.push_back("L" + word("level") + " " + type + " " + word("size"));
  }
  EXPECT_EQ(this_machine().caches, known);
}

// Flags of the kernel that stand for what oneDNN names; its keys build upon each other.
TEST(ThisMachine, offers_the_instruction_sets_of_its_flags) {
  const Machine m = this_machine();
  if (m.architecture != "x86_64") GTEST_SKIP() << "flags of x86-64";
  const auto has = [&](const char* flag) {
    return std::ranges::binary_search(m.cpu_flags, std::string(flag));
  };
  std::vector<std::string> expected;
  if (has("sse4_1")) expected.emplace_back("sse41");
  if (has("avx")) expected.emplace_back("avx");
  if (has("avx2")) expected.emplace_back("avx2");
  const bool core = has("avx512f") && has("avx512bw") && has("avx512vl") && has("avx512dq");
  if (core) expected.emplace_back("avx512_core");
  const bool vnni = core && has("avx512_vnni");
  if (vnni) expected.emplace_back("avx512_core_vnni");
  const bool bf16 = vnni && has("avx512_bf16");
  if (bf16) expected.emplace_back("avx512_core_bf16");
  if (bf16 && has("avx512_fp16")) expected.emplace_back("avx512_core_fp16");
  if (bf16 && has("amx_tile") && has("amx_int8") && has("amx_bf16")) {
    expected.emplace_back("avx512_core_amx");
  }
  EXPECT_EQ(isa_keys(), expected);
  EXPECT_EQ(m.isa, expected);
}

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
