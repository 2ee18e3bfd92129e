// The only writer to the terminal: streams, colour, tables, progress.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console/command.hpp"

namespace halmark::cli {

// A closed pipe ends the printing, never the run.
void write_stdout(std::string_view text);
void write_stderr(std::string_view text);

// --color > NO_COLOR > CLICOLOR_FORCE > off when stdout is no terminal or TERM is dumb.
bool use_color(const GlobalOptions& options);

// Columns a string takes on a terminal (wcwidth); invalid UTF-8 counts one per byte.
int display_width(std::string_view text);

// A plain table: first row is the header; columns in `right` are right-aligned.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header, std::vector<bool> right = {});
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

// Quantities for people: "1.23 ms", "45.6 GFLOP/s", "12.3 MiB", "41.9 %".
std::string duration_text(double ns);
std::string rate_text(double flops_per_s, std::string_view unit = "FLOP/s");
std::string bytes_text(double bytes);
std::string percent_text(std::optional<double> fraction);

// Progress on stderr: one redrawn line on a terminal (at most 5 Hz), a plain line per finished step
// otherwise, JSON objects with --progress=json.
class Progress {
 public:
  Progress(const GlobalOptions& options, std::string title);
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

}  // namespace halmark::cli
