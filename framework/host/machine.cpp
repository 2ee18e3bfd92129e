// Guests share names of processors ("Intel(R) Xeon(R) Processor"), and a hypervisor may hide
// instruction sets: family, model, stepping and the keys that plugins choose by tell them apart.
#include "host/machine.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "core/input/input_file.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "host/process/cgroup_limits.hpp"
#include "host/process/file_descriptor.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace halmark {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  const auto end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// x86-64 has the first three, 64-bit Arm the others.
constexpr std::array generation_keys{"cpu family", "model",       "stepping",
                                     "CPU part",   "CPU variant", "CPU revision"};

void read_cpuinfo(Machine& machine) {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::pair<std::string, std::string>> cores;
  std::set<std::string> sockets;
  std::map<std::string, std::string> generation;
  std::string line, socket = "0";
  int logical = 0;
  while (std::getline(file, line)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = trimmed(line.substr(0, colon));
    const std::string value = trimmed(line.substr(colon + 1));
    if (key == "processor") ++logical;
    if (key == "model name") machine.cpu_model = value;
    if (key == "vendor_id" || key == "CPU implementer") machine.cpu_vendor = value;
    if (contains(generation_keys, key)) generation[key] = value;
    if (key == "microcode") machine.microcode = value;
    if (key == "physical id") sockets.insert(socket = value);
    if (key == "core id") cores.emplace(socket, value);
    if ((key == "flags" || key == "Features") && machine.cpu_flags.empty()) {
      std::istringstream words(value);
      for (std::string word; words >> word;) machine.cpu_flags.push_back(word);
      std::ranges::sort(machine.cpu_flags);
    }
  }
  for (const std::string key : generation_keys) {
    if (generation.contains(key)) {
      append_item(machine.cpu_generation, "-", generation[key]);
    }
  }
  machine.logical_cpus = std::max(1, logical);
  machine.cores = cores.empty() ? machine.logical_cpus : as_int(cores.size());
  machine.sockets = sockets.empty() ? 1 : as_int(sockets.size());
}

std::vector<std::string> read_caches() {
  std::vector<std::string> caches;
  for (const int index : below(8)) {
    const std::string base =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string size = first_line(base + "size");
    if (size.empty()) break;
    const std::string type = lower_case(first_line(base + "type"));
    caches.push_back("L" + first_line(base + "level") + " " + type + " " + size);
  }
  return caches;
}

std::string hex(const unsigned char* bytes, std::size_t count) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const auto i : indices(count)) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) {
      throw unfit("SHA-256 is not available in this OpenSSL");
    }
  }
  void add(const void* bytes, std::size_t count) { EVP_DigestUpdate(context_.get(), bytes, count); }
  std::string finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &length);
    return hex(digest.data(), length);
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

// machine-id(5) is confidential: only a hash that is salted with our name leaves this machine. A
// container without one is known by its name.
std::string host_id(const std::string& node_name) {
  std::string id = trimmed(first_line("/etc/machine-id"));
  if (id.empty() || id == "uninitialized") id = node_name;
  return sha256_hex("halmark host " + id).substr(0, 8);
}

std::string short_hash(const std::string& text) { return sha256_hex(text).substr(0, 16); }

#if defined(__x86_64__)
// Leaf 7 bits of EDX: AMX-BF16 22, AMX-TILE 24, AMX-INT8 25 (Intel SDM volume 2, CPUID).
bool has_amx() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return false;
  constexpr unsigned wanted = (1u << 22) | (1u << 24) | (1u << 25);
  if ((edx & wanted) != wanted) return false;
  // The tile state is off until a process asks for it; a guest kernel may not offer it at all.
  constexpr long get_supported_components = 0x1021;
  std::uint64_t components = 0;
  if (::syscall(SYS_arch_prctl, get_supported_components, &components) != 0) return false;
  return (components >> 18 & 1) != 0;
}

bool has_avx512_fp16() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx >> 23 & 1) != 0;
}
#endif

}  // namespace

std::string Machine::earlier_fingerprint_text() const {
  std::ostringstream text;
  text << "cpu: " << cpu_model << "\nvendor: " << cpu_vendor << "\nmicrocode: " << microcode
       << "\narchitecture: " << architecture << "\nkernel: " << kernel << "\nsockets: " << sockets
       << "\ncores: " << cores << "\nlogical_cpus: " << logical_cpus
       << "\nmemory_gib: " << (memory_bytes + (1LL << 29)) / (1LL << 30)
       << "\ngovernor: " << governor << "\ncaches:";
  for (const auto i : indices(caches)) text << (i ? ", " : " ") << caches[i];
  text << "\nflags:";
  for (const std::string& flag : cpu_flags) text << ' ' << flag;
  text << '\n';
  return text.str();
}

std::string Machine::earlier_fingerprint() const {
  return "cpu-" + short_hash(earlier_fingerprint_text());
}

std::string Machine::class_text() const {
  std::ostringstream text;
  text << "cpu: " << cpu_model << "\nvendor: " << cpu_vendor << "\ngeneration: " << cpu_generation
       << "\narchitecture: " << architecture << "\nisa:";
  for (const std::string& key : isa) text << ' ' << key;
  text << "\ncores: " << shape.cores << "\nthreads: " << shape.cpus.threads() << "\nnuma:";
  for (const int cores_of_node : shape.cores_of_nodes) text << ' ' << cores_of_node;
  text << "\nquota: " << (quota_cpus ? number_text(*quota_cpus) : "none") << '\n';
  for (const std::string& cache : shape.caches) text << "cache: " << cache << '\n';
  return text.str();
}

std::string Machine::hardware_class() const { return "cpu-" + short_hash(class_text()); }

std::string Machine::fingerprint() const { return hardware_class() + '@' + host; }

std::string Machine::fingerprint_on(const protocol::DeviceDescription& device) const {
  if (device.kind == "cpu") return fingerprint();
  const std::string text = class_text() + "device: " + device.name +
                           "\nmemory: " + std::to_string(device.memory_bytes) +
                           "\ndriver: " + device.driver + '\n';
  return "device-" + short_hash(text) + '@' + host;
}

Machine this_machine() {
  Machine machine;
  read_cpuinfo(machine);
  machine.caches = read_caches();
  utsname name{};
  if (::uname(&name) == 0) {
    machine.kernel = name.release;
    machine.architecture = name.machine;
  }
  machine.memory_bytes = as_int64(::sysconf(_SC_PHYS_PAGES)) * as_int64(::sysconf(_SC_PAGESIZE));
  machine.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  machine.isa = isa_keys();
  machine.shape = cpu_shape();
  machine.host = host_id(name.nodename);
  // A quota of all CPUs in use takes nothing away.
  const auto quota = cgroup_limits().cpus;
  if (quota && *quota < machine.shape.cpus.threads()) machine.quota_cpus = quota;
  return machine;
}

std::vector<std::string> isa_keys() {
  std::vector<std::string> keys;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.1")) keys.emplace_back("sse41");
  if (__builtin_cpu_supports("avx")) keys.emplace_back("avx");
  if (__builtin_cpu_supports("avx2")) keys.emplace_back("avx2");
  const bool core = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (!core) return keys;
  keys.emplace_back("avx512_core");
  if (!__builtin_cpu_supports("avx512vnni")) return keys;
  keys.emplace_back("avx512_core_vnni");
  if (!__builtin_cpu_supports("avx512bf16")) return keys;
  keys.emplace_back("avx512_core_bf16");
  if (has_avx512_fp16()) keys.emplace_back("avx512_core_fp16");
  if (has_amx()) keys.emplace_back("avx512_core_amx");
#elif defined(__aarch64__)
  // Bits of Linux's arch/arm64/include/uapi/asm/hwcap.h; ASIMD is part of the base.
  keys.emplace_back("asimd");
  const unsigned long words = ::getauxval(AT_HWCAP), more = ::getauxval(AT_HWCAP2);
  if ((words >> 10 & 1) != 0) keys.emplace_back("asimd_fp16");
  if ((words >> 20 & 1) != 0) keys.emplace_back("asimd_dotprod");
  if ((more >> 14 & 1) != 0) keys.emplace_back("asimd_bf16");
#endif
  return keys;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.finish();
}

std::string sha256_rest(InputFile& file) {
  Sha256 hash;
  std::array<char, 1 << 16> block{};
  for (std::size_t n = block.size(); n == block.size();) {
    n = file.read(block);
    hash.add(block.data(), n);
  }
  return hash.finish();
}

}  // namespace halmark
