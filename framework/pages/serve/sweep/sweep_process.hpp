// `halmark tune SWEEP` as a child of the server: what it says of itself, stopped by SIGINT as from
// a terminal, resumed by being started again.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "core/json/json_type.hpp"

namespace halmark::pages {

// One thread.
class SweepProcess {
 public:
  // Starts it: `arguments[0]` is the program, never a shell. Throws Error (exit 5) where it cannot
  // be started.
  SweepProcess(std::string name, std::vector<std::string> arguments);
  ~SweepProcess();  // asks it to stop and waits; its rows are committed one by one
  SweepProcess(const SweepProcess&) = delete;
  SweepProcess& operator=(const SweepProcess&) = delete;

  void stop();        // SIGINT; it ends after the sample that it takes
  bool is_running();  // reaps it when it has ended
  const std::string& name() const { return name_; }
  // {"name", "is_running", "done", "total", "failed", "subject", "left_s", "lines", "outcome",
  // "can_resume"}: what it told so far.
  Json progress();

 private:
  void read();
  void take_line(const std::string& line);

  std::string name_;
  pid_t pid_ = -1;
  int out_ = -1;
  int status_ = 0;
  bool is_ended_ = false, is_stopped_ = false;
  std::string partial_;
  std::vector<std::string> lines_;  // that are no progress
  std::size_t done_ = 0, total_ = 0, failed_ = 0;
  std::string subject_;
  double left_s_ = -1;
};

}  // namespace halmark::pages
