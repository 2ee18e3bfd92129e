#include "bisect/shell.hpp"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "host/process/contained_process.hpp"
#include "host/process/interrupt.hpp"
#include "judge/compiler.hpp"

namespace halmark::bisect {
namespace {

constexpr double slice_s = 0.2;  // between looks for an interrupt

Environment own_environment() {
  Environment out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (const std::size_t equals = text.find('='); equals != std::string::npos) {
      out[text.substr(0, equals)] = text.substr(equals + 1);
    }
  }
  return out;
}

}  // namespace

Result<std::string, ShellFailure> run_words(const std::vector<std::string>& words,
                                            const std::string& folder, const ShellLimits& limits) {
  // stderr goes to a file of its own: what is read as a figure is stdout alone.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> errors(std::tmpfile(), &std::fclose);
  if (!errors) throw Error(ExitCode::error, "no temporary file can be made", {}, "set TMPDIR");
  const std::string place =
      "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(::fileno(errors.get()));
  ProcessSpec spec{
      .program = "/bin/sh",
      .arguments = {"-c", "cd \"$1\" && exec 2>\"$0\" && shift && exec \"$@\"", place, folder},
      .environment = own_environment(),
      .cpus = {}};
  append_all(spec.arguments, words);
  const auto process = ContainedProcess::start(spec);
  const auto begin = SteadyClock::now();
  std::optional<ExitCause> cause;
  while (!(cause = process->wait(protocol::deadline_after(slice_s)))) {
    process->trim_log();
    if (limits.stop.stop_requested()) throw Error(interrupt_exit_code(), "interrupted");
    if (seconds_since(begin) > limits.seconds) {
      process->kill_all();
      return ShellFailure{"it did not end within " + number_text(limits.seconds, 6) + " s (" +
                          limits.option + ")"};
    }
  }
  process->settle();
  std::string output = process->log_tail();
  if (cause->signal == 0 && cause->code == 0) return output;
  std::string said(1 << 16, '\0');
  std::rewind(errors.get());
  said.resize(std::fread(said.data(), 1, said.size(), errors.get()));
  const std::string line = printable(judge::first_error(said.empty() ? output : said));
  return ShellFailure{cause->text() + (line.empty() ? "" : ": " + line)};
}

}  // namespace halmark::bisect
