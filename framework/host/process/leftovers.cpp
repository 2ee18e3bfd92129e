// The last line of three: a control group and a guard end what is left at once. Whoever kills all
// of them (`pkill -9 halmark`) leaves at most what the next worker's start ends here.
#include "host/process/leftovers.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <sstream>

#include "host/process/descendants.hpp"

namespace halmark {
namespace {

constexpr std::string_view tag_name = "HALMARK_CONTAINED=";
constexpr std::string_view guard_name = "halmark-guard";

struct Supervisor {
  std::uint64_t space = 0, start_ticks = 0;
  pid_t pid = 0;
};

std::optional<Supervisor> supervisor_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::size_t at = text.rfind(tag_name, 0) == 0 ? 0 : text.find('\0' + std::string(tag_name));
  if (at == std::string::npos) return std::nullopt;
  if (at != 0 || text[0] == '\0') ++at;
  std::istringstream words(text.substr(at + tag_name.size(), 96));
  Supervisor out;
  char first = 0, second = 0;
  if (!(words >> out.space >> first >> out.pid >> second >> out.start_ticks) || first != '-' ||
      second != '-') {
    return std::nullopt;
  }
  return out;
}

// One that nobody has waited for yet holds its number, and nothing else.
bool is_zombie(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.substr(name_end + 1).starts_with(" Z");
}

std::string name_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

std::uint64_t process_namespace() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

std::string new_containment_tag() {
  std::random_device device;
  std::ostringstream text;
  text << tag_name << process_namespace() << '-' << ::getpid() << '-'
       << start_ticks_of(::getpid()).value_or(0) << '-' << std::hex << device() << device();
  return text.str();
}

int end_leftovers() {
  const std::uint64_t space = process_namespace();
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  int ended = 0;
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || rest != name.data() + name.size() || pid == ::getpid()) continue;
    const auto supervisor = supervisor_of(pid);
    if (!supervisor || supervisor->space != space) continue;
    const bool is_there = start_ticks_of(supervisor->pid) == supervisor->start_ticks;
    if (is_there && !is_zombie(supervisor->pid)) continue;
    if (name_of(pid) == guard_name) continue;
    if (::kill(pid, SIGKILL) == 0) ++ended;
  }
  return ended;
}

}  // namespace halmark
