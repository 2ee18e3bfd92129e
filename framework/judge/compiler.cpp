#include "judge/compiler.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/text/text.hpp"
#include "host/process/contained_process.hpp"
#include "host/process/run_memory.hpp"

namespace halmark::judge {
namespace {

// Its own words, in English; nothing else of ours but where programs are.
Environment compiler_environment(const std::string& folder) {
  const char* path = std::getenv("PATH");
  return {{"PATH", path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin"},
          {"LC_ALL", "C"},
          {"TMPDIR", folder}};
}

bool speaks_of_memory(const std::string& output) {
  return output.find("out of memory") != std::string::npos ||
         output.find("memory exhausted") != std::string::npos ||
         output.find("bad_alloc") != std::string::npos;
}

BuildFailure failure_of(const ExitCause& cause, const std::string& output,
                        const CompileLimits& limits) {
  if (cause.out_of_memory || speaks_of_memory(output)) {
    return {Status::out_of_memory, "the compiler took more than " +
                                       number_text(double(limits.memory_bytes >> 20), 6) +
                                       " MiB of memory"};
  }
  const std::string line = first_error(output);
  return {Status::compile_failed,
          line.empty() ? "the compiler ended with " + cause.text() + " and said nothing" : line};
}

}  // namespace

std::string find_compiler(const char* variable, const std::vector<std::string>& names) {
  std::vector<std::string> wanted = names;
  if (const char* named = std::getenv(variable); named != nullptr && *named != '\0') {
    wanted = {named};
  }
  const char* path = std::getenv("PATH");
  for (const std::string& name : wanted) {
    if (name.find('/') != std::string::npos) {
      if (::access(name.c_str(), X_OK) == 0) return std::filesystem::absolute(name).string();
      continue;
    }
    std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
      const std::string candidate = folder + '/' + name;
      if (folder.starts_with('/') && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
  }
  return {};
}

Result<std::string, BuildFailure> run_compiler(const std::string& program,
                                               const std::vector<std::string>& arguments,
                                               CompileLimits limits, const std::string& folder) {
  limits.memory_bytes = std::min(limits.memory_bytes, run_memory().worker_bytes(1));
  const auto process = ContainedProcess::start({.program = program,
                                                .arguments = arguments,
                                                .environment = compiler_environment(folder),
                                                .cpus = {},
                                                .memory_limit_bytes = limits.memory_bytes});
  const auto cause = process->wait(protocol::deadline_after(limits.seconds));
  if (!cause) {
    process->kill_all();
    return BuildFailure{Status::timed_out, "the compiler did not end within " +
                                               number_text(limits.seconds, 4) +
                                               " s (--compile-limit)"};
  }
  process->settle();
  std::string output = process->log_tail();
  if (cause->signal != 0 || cause->code != 0) return failure_of(*cause, output, limits);
  return output;
}

std::string first_error(const std::string& output) {
  std::string_view rest = output, last;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const auto says = [&](std::string_view words) {
      return line.find(words) != std::string_view::npos;
    };
    const bool is_error = says("error") && !line.starts_with("collect2");
    if (is_error || says("multiple definition") || says("undefined reference")) {
      return std::string(line);
    }
    if (!line.empty()) last = line;
  }
  return std::string(last);
}

}  // namespace halmark::judge
