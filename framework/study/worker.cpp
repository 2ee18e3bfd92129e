#include "framework/study/worker.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <iterator>

#include "core/json/json.hpp"

namespace halmark {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string out;
  std::getline(file, out);
  return out;
}

std::string process_namespace() {
  std::array<char, 64> text{};
  const ssize_t n = readlink("/proc/self/ns/pid", text.data(), text.size());
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
}

// Field 22 of /proc/<pid>/stat, in clock ticks since boot; "" for no such process and for one that
// has ended and was not waited for. The name in field 2 may hold anything but a later parenthesis.
std::string start_of(std::int64_t pid) {
  const std::string stat = first_line("/proc/" + std::to_string(pid) + "/stat");
  std::size_t at = stat.rfind(')');
  if (at == std::string::npos || stat.substr(at + 1, 2) == " Z") return {};
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return {};
  return stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

Json machine() {
  std::array<char, 128> host{};
  gethostname(host.data(), host.size() - 1);
  return {{"host", host.data()},
          {"boot", first_line("/proc/sys/kernel/random/boot_id")},
          {"namespace", process_namespace()}};
}

}  // namespace

std::string this_worker() {
  static std::atomic<int> studies = 0;
  Json out = machine();
  out["instance"] = studies++;
  out["pid"] = getpid();
  out["start"] = start_of(getpid());
  return dump_json(out);
}

bool is_known_dead(const std::string& worker) {
  const Json json = Json::parse(worker, nullptr, false);
  if (!json.is_object() || !json.value("pid", Json()).is_number_integer()) return false;
  const Json here = machine();
  for (const auto& [key, value] : here.items()) {
    if (value == "" || json.value(key, Json()) != value) return false;
  }
  const std::string start = start_of(json.at("pid").get<std::int64_t>());
  return start.empty() || json.value("start", Json()) != start;
}

}  // namespace halmark
