// The only writer to the terminal: streams, their widths, progress.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace halmark::report {

// A closed pipe ends the printing, never the run.
// From now on no password of this word of a command line is written.
void hide_passwords_of(const std::string& word);
void write_stdout(std::string_view text);
void write_stderr(std::string_view text);
// Whether something of stdout went nowhere, as on a full disk; then it has said so on stderr. A
// reader that left is none.
bool says_lost_output();

// Columns of the terminal that stdout is: COLUMNS where it says a number, else as the terminal
// says. Without limit for files and pipes, where nothing is cut.
int stdout_columns();

// Whether stdout wants colour where nobody says so: NO_COLOR > CLICOLOR_FORCE > no when it is no
// terminal or TERM is dumb.
bool stdout_wants_color();

// How work is told of: as stderr suits, not at all, or as JSON objects.
enum class ProgressMode { automatic, never, json };

// Progress on stderr: one redrawn line on a terminal (at most 5 Hz), a plain line per finished step
// otherwise, JSON objects with --progress=json.
class Progress {
 public:
  Progress(ProgressMode mode, std::string title);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // `subject` names what just finished; `eta_s` < 0 = unknown yet.
  void step(std::size_t done, std::size_t total, std::size_t failed, std::string_view subject,
            double eta_s);
  void note(std::string_view line);  // a plain line, whatever the mode
  void finish();

 private:
  void redraw(const std::string& line, bool force);
  std::string title_;
  enum class Mode { never, line, plain, json } mode_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace halmark::report
