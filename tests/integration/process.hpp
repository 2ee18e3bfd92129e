// Runs a program as a person's shell would, with its own environment, a deadline, and if asked a
// terminal: everything that the command-line tests do to a process.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halmark::integration {

struct Launch {
  std::vector<std::string> arguments;              // arguments[0] is the program
  std::map<std::string, std::string> environment;  // added to the test's own
  std::string folder;                              // working directory; "" = the test's
  int terminal_columns = 0;                        // > 0: stderr is a terminal of that width
  int stdout_columns = 0;                          // > 0: so is stdout, beside it
  bool closes_stdout = false;                      // the reader of stdout leaves before it writes
  int input = -1;                                  // stdin, kept by the caller; -1 = /dev/null
  double limit_s = 180;
};

struct Outcome {
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
  bool timed_out = false;  // killed at the limit by this harness
  double cpu_s = 0;        // of it and its children: no pause of the machine counts
  long resident_kib = 0;   // the most memory that it held at once
  std::string out, err;
};

// One child in a process group of its own. Destroying it kills the group.
class Process {
 public:
  explicit Process(const Launch& launch);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Reads until stderr holds `count` whole lines that contain `text`; false when the process ended
  // or the limit passed first.
  bool await_lines(const std::string& text, std::size_t count);
  void signal(int number) const;        // to the process alone, as kill(1) does
  void signal_group(int number) const;  // to all, as a terminal does
  Outcome wait();                       // to its end or the limit
  const std::string& err() const { return outcome_.err; }
  pid_t pid() const { return pid_; }

 private:
  bool pump(int timeout_ms);  // false when both streams are at their end
  void reap(bool block);
  int left_ms() const;

  Outcome outcome_;
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  bool is_reaped_ = false;
  double deadline_s_ = 0;
};

Outcome run(const Launch& launch);

// The program in PATH, if any.
std::optional<std::string> found_program(const std::string& name);
std::optional<std::string> found_browser();  // Chromium, by one of its names

}  // namespace halmark::integration
