#include "tune/devices/machine_checks.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include "core/input/places.hpp"
#include "host/group.hpp"
#include "host/process/contained_process.hpp"

namespace halmark::tune {

std::vector<Check> machine_checks(const LocalMachine& machine,
                                  std::optional<std::int64_t> worker_memory) {
  std::vector<Check> out;
  for (const std::string& line : machine_lines(machine)) out.push_back({"machine", "ok", line});
  out.push_back({"governor", machine.machine.governor == "performance" ? "ok" : "note",
                 machine.machine.governor.empty()
                     ? "unreadable: clocks are probed around every trial instead"
                     : machine.machine.governor});
  const std::filesystem::path peaks = measured_device_path(machine.fingerprint);
  out.push_back(
      {"measured peaks", machine.measured ? "ok" : "note",
       machine.measured ? peaks.string() : "none yet: halmark peaks writes " + peaks.string()});
  const ContainmentLevel level = containment_level();
  out.push_back({"containment", level == ContainmentLevel::cgroup_v2 ? "ok" : "note",
                 std::string(containment_text(level))});
  for (Check& check : memory_checks(worker_memory)) out.push_back(std::move(check));
  const std::string mpirun = find_mpirun();
  out.push_back({"mpirun", mpirun.empty() ? "missing" : "ok",
                 mpirun.empty()
                     ? "collectives between shards cannot be measured; apt-get install openmpi-bin"
                     : mpirun});
  return out;
}

}  // namespace halmark::tune
