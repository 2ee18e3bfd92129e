// What this machine is, for the journal key: figures are compared only on equal fingerprints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halmark {

struct Machine {
  std::string cpu_model, cpu_vendor, microcode, kernel, architecture;
  std::vector<std::string> cpu_flags;  // sorted
  int sockets = 1, cores = 1, logical_cpus = 1;
  std::vector<std::string> caches;  // "L1 data 32 KiB", ... as the kernel lists CPU 0
  std::int64_t memory_bytes = 0;
  std::string governor;  // "" where the kernel shows none (guests)

  // One "key: value" line per property; the hash is SHA-256 of it. The memory figure is rounded to
  // whole GiB: a kernel update moves it by pages.
  std::string fingerprint_text() const;
  std::string fingerprint() const;  // "cpu-" and 16 hexadecimal digits
};

// The machine this process runs on, read from procfs and sysfs.
Machine this_machine();

// ISA keys this CPU and kernel offer, weakest first, in the naming of oneDNN: "sse41", "avx2",
// "avx512_core", "avx512_core_vnni", "avx512_core_bf16", "avx512_core_fp16", "avx512_core_amx". AMX
// counts only where the kernel grants its tile state.
std::vector<std::string> isa_keys();

std::string sha256_hex(std::string_view bytes);
// Of a file's content; throws Error (exit 1).
std::string sha256_descriptor(int fd);

}  // namespace halmark
