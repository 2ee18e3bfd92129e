#include "isa.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>

#include <fstream>
#endif

namespace hm_cpu {
namespace {

// 64-bit Arm always has vectors of 128 bits, and the compiler uses them.
#if defined(__aarch64__)
constexpr std::string_view baseline = "asimd";
#else
constexpr std::string_view baseline;
#endif

}  // namespace

std::string_view isa_key(Isa isa) {
  if (isa >= Isa::avx512) return "avx512_core";
  return isa == Isa::avx2 ? "avx2" : baseline;
}

std::string_view isa_label(Isa isa) {
  switch (isa) {
    case Isa::generic:
      return baseline;
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512_core";
    case Isa::avx512_vnni:
      return "avx512_core_vnni";
    case Isa::avx512_bf16:
      return "avx512_core_bf16";
    case Isa::amx:
      return "avx512_core_amx";
  }
  return baseline;
}

#if defined(__x86_64__)
namespace {

struct Leaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Leaf cpuid(unsigned leaf, unsigned subleaf) {
  Leaf out;
  if (__get_cpuid_count(leaf, subleaf, &out.eax, &out.ebx, &out.ecx, &out.edx) == 0) return {};
  return out;
}

// The operating system must save the tiles and permit them to this process, else the first tile
// instruction faults. The numbers are ARCH_REQ_XCOMP_PERM and XFEATURE_XTILEDATA of Linux.
bool tiles_permitted() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr long request = 0x1023, tile_data = 18;
  return (low & (3u << 17)) == (3u << 17) && syscall(SYS_arch_prctl, request, tile_data) == 0;
}

bool has_tiles() {
  const unsigned amx = (1u << 22) | (1u << 24) | (1u << 25);  // bf16, tile, int8
  return (cpuid(7, 0).edx & amx) == amx;
}

}  // namespace

std::string refused_units() {
  return has_tiles() && !tiles_permitted() ? "AMX not permitted by the kernel" : "";
}

Isa detect_isa() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::generic;
  // The compiler's check includes the operating system's part (saved register state).
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) {
    return Isa::avx2;
  }
  if ((cpuid(7, 0).ecx & (1u << 11)) == 0) return Isa::avx512;
  if ((cpuid(7, 1).eax & (1u << 5)) == 0) return Isa::avx512_vnni;
  return has_tiles() && tiles_permitted() ? Isa::amx : Isa::avx512_bf16;
}

std::string processor_name() {
  char text[49] = {};
  for (unsigned i = 0; i < 3; ++i) {
    const Leaf part = cpuid(0x80000002u + i, 0);
    std::memcpy(text + 16 * i, &part, sizeof part);
  }
  std::string name(text);
  name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
  return name.empty() ? "unknown processor" : name;
}
#elif defined(__aarch64__)
Isa detect_isa() { return Isa::generic; }

// /proc/cpuinfo has numbers only: "CPU implementer : 0x41", "CPU part : 0xd0c".
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string implementer, part;
  for (std::string line; std::getline(file, line);) {
    const std::string value = line.substr(std::min(line.rfind(' ') + 1, line.size()));
    if (line.rfind("CPU implementer", 0) == 0) implementer = value;
    if (line.rfind("CPU part", 0) == 0) part = value;
  }
  if (implementer.empty() || part.empty()) return "unknown processor";
  return "64-bit Arm processor, implementer " + implementer + ", part " + part;
}
#else
Isa detect_isa() { return Isa::generic; }
std::string processor_name() { return "unknown processor"; }
#endif

#if !defined(__x86_64__)
std::string refused_units() { return {}; }
#endif

#if defined(__aarch64__)
// HWCAP_ASIMDDP of Linux's hwcap.h.
bool has_asimd_dotprod() { return (getauxval(AT_HWCAP) >> 20 & 1) != 0; }
#else
bool has_asimd_dotprod() { return false; }
#endif

}  // namespace hm_cpu
