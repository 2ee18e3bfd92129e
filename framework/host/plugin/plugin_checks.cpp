#include "host/plugin/plugin_checks.hpp"

#include "core/lists.hpp"
#include "host/plugin/plugin_choice.hpp"
#include "host/process/contained_process.hpp"
#include "host/process/run_memory.hpp"

namespace halmark {
namespace {

// What a backend that loads but finds no device needs here.
std::string remedy_of(const std::string& backend) {
  if (backend == "cuda") return "; apt-get install nvidia-driver (Debian: component non-free)";
  if (backend == "opencl")
    return "; apt-get install pocl-opencl-icd, or the ICD of the device's maker";
  return {};  // the others say it themselves
}

Check check_of(const FoundPlugin& p) {
  if (!p.is_loaded()) return {"plugin " + p.path, "refused", p.refusal};
  const std::string name = "plugin " + p.description->name;
  if (p.description->devices.empty())
    return {name, "note", absence_of(*p.description) + remedy_of(p.description->name)};
  return {name, "ok",
          p.path + ", version " + p.description->plugin_version + ", " +
              std::to_string(p.description->kernels.size()) + " kernels, " +
              std::to_string(p.description->devices.size()) + " devices"};
}

}  // namespace

std::vector<Check> plugin_checks(std::span<const FoundPlugin> found) {
  std::vector<Check> out = mapped(found, [&](const FoundPlugin& p) { return check_of(p); });
  if (found.empty()) {
    out.push_back({"plugins", "missing",
                   "no hm_*.so in --plugin, HALMARK_PLUGIN_PATH or beside the program"});
  }
  return out;
}

std::vector<Check> memory_checks(std::optional<std::int64_t> stated_of_worker) {
  const RunMemory memory = run_memory();
  const std::string kills_all =
      "; when it ends, the kernel kills every process of the control group, this one too "
      "(memory.oom.group)";
  return {{"memory", memory.kills_whole_group ? "note" : "ok",
           "this run may use " + memory.text() + (memory.kills_whole_group ? kills_all : "")},
          {"worker memory", "ok", worker_memory_text(stated_of_worker)}};
}

std::string worker_memory_text(std::optional<std::int64_t> stated) {
  if (stated && *stated == 0) return "no limit: --worker-memory none";
  const std::int64_t bytes = stated ? *stated : run_memory().worker_bytes(1);
  return std::to_string(bytes >> 20) + " MiB for one worker (" +
         (stated ? "--worker-memory" : "what this run may use, shared by workers at once") +
         "), by " + std::string(memory_limit_means());
}

}  // namespace halmark
