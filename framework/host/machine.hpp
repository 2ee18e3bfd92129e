// What this machine is, and which figures compare with its own: those of its host on the same class
// of hardware. The class is what this process may use, whichever of the machine's cores that is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields/fields.hpp"
#include "host/partition.hpp"
#include "host/protocol.hpp"

namespace halmark {

class InputFile;

struct Machine {
  std::string host;  // 8 hexadecimal digits: SHA-256 of the machine's id, which is not published
  std::string cpu_model, cpu_vendor, cpu_generation, microcode, kernel, architecture;
  std::vector<std::string> cpu_flags;  // sorted
  int sockets = 1, cores = 1, logical_cpus = 1;
  std::vector<std::string> caches;  // "L1 data 32 KiB", ... as the kernel lists CPU 0
  std::int64_t memory_bytes = 0;
  std::string governor;          // "" where the kernel shows none (guests)
  std::vector<std::string> isa;  // as isa_keys
  CpuShape shape;                // of what this process may use
  std::optional<double>
      quota_cpus;  // CPU time that its control groups leave it, where that is less

  // One "key: value" line per property that two machines of one class share: processor, cores in
  // use, threads per core, caches and NUMA nodes of the set, quota of CPU time.
  std::string class_text() const;
  std::string hardware_class() const;  // "cpu-" and 16 hexadecimal digits of its SHA-256
  std::string fingerprint() const;     // hardware_class()@host
  // Of rows of a plugin's device: another model, memory or driver is another class. A CPU's is
  // fingerprint().
  std::string fingerprint_on(const protocol::DeviceDescription& device) const;

  // As versions up to 0.1 had it: the whole machine, kernel and microcode, but not the set in use.
  std::string earlier_fingerprint_text() const;
  std::string earlier_fingerprint() const;  // "cpu-" and 16 hexadecimal digits
};
// As one tells another of itself: which host it is stays out.
template <class V, Of<Machine> M>
void fields(V& v, M& m) {
  v("cpu_model", m.cpu_model);
  v("cpu_vendor", m.cpu_vendor);
  v("cpu_generation", m.cpu_generation);
  v("microcode", m.microcode);
  v("kernel", m.kernel);
  v("architecture", m.architecture);
  v("cpu_flags", m.cpu_flags);
  v("sockets", m.sockets);
  v("cores", m.cores);
  v("logical_cpus", m.logical_cpus);
  v("caches", m.caches);
  v("memory_bytes", m.memory_bytes);
  v("governor", m.governor);
  v("isa", m.isa);
  v.group("shape", [&m](auto& shape) {
    shape("cpus", m.shape.cpus.cpus);
    shape("cores", m.shape.cores);
    shape("cores_of_nodes", m.shape.cores_of_nodes);
    shape("caches", m.shape.caches);
  });
  v("quota_cpus", m.quota_cpus);
}

// The machine this process runs on, read from procfs and sysfs.
Machine this_machine();

// ISA keys this CPU and kernel offer, weakest first, in the naming of oneDNN: "sse41", "avx2",
// "avx512_core", "avx512_core_vnni", "avx512_core_bf16", "avx512_core_fp16", "avx512_core_amx". AMX
// counts only where the kernel grants its tile state.
std::vector<std::string> isa_keys();

std::string sha256_hex(std::string_view bytes);
// Of what is left to read of it; throws as InputFile does.
std::string sha256_rest(InputFile& file);

}  // namespace halmark
