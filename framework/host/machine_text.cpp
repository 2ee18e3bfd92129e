#include "host/machine_text.hpp"

#include "core/text/text.hpp"

namespace halmark {

std::vector<std::string> property_lines(const Machine& m, int cores,
                                        const std::string& rows_fingerprint) {
  std::string keys = join(m.isa, ", ");
  const std::string fingerprint = m.fingerprint();
  std::vector<std::string> out = {
      "cpu: " + m.cpu_model + ", " + std::to_string(cores) + " cores for one shard",
      "isa: " + (keys.empty() ? std::string("unknown") : keys),
      "memory: " + std::to_string(m.memory_bytes >> 20) + " MiB",
      "kernel: " + m.kernel,
      "fingerprint: " + fingerprint,
      "fingerprint of earlier versions: " + m.earlier_fingerprint(),
      "cores in use: " + m.shape.cpus.text() + ", " + std::to_string(m.shape.cores) + " cores, " +
          (m.quota_cpus ? number_text(*m.quota_cpus) + " CPUs of time by quota"
                        : std::string("no quota"))};
  if (rows_fingerprint != fingerprint) out.push_back("device: " + rows_fingerprint);
  for (const std::string& cache : m.caches) out.push_back("cache: " + cache);
  return out;
}

}  // namespace halmark
