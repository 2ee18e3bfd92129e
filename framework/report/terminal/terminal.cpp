#include "report/terminal/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/text/clean_text.hpp"
#include "core/text/error.hpp"
#include "core/text/url.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::report {
namespace {

std::vector<PasswordText>& hidden_passwords() {
  static std::vector<PasswordText> out;
  return out;
}

// 0, or the error that ended it.
int write_all(int fd, std::string_view written) {
  const std::string hidden = hidden_passwords().empty()
                                 ? std::string()
                                 : with_passwords_hidden(std::string(written), hidden_passwords());
  std::string_view text = hidden_passwords().empty() ? written : std::string_view(hidden);
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0 ? EIO : errno;
    text.remove_prefix(as_size(n));
  }
  return 0;
}

int stdout_error = 0;  // the first that is no reader's leaving

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool is_dumb() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

int terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string seconds_text(double s) {
  if (s < 0 || !std::isfinite(s)) return "--:--";
  const auto total = static_cast<long>(s + 0.5);
  return fmt::format("{:d}:{:02d}", total / 60, total % 60);
}

}  // namespace

void hide_passwords_of(const std::string& word) {
  std::ranges::move(passwords_in(word), std::back_inserter(hidden_passwords()));
}

void write_stdout(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != EPIPE && stdout_error == 0) stdout_error = error;
}
void write_stderr(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

bool says_lost_output() {
  if (stdout_error == 0) return false;
  write_stderr(std::string("halmark: standard output cannot be written: ") +
               std::strerror(stdout_error) + "\n");
  return true;
}

int stdout_columns() {
  if (isatty(STDOUT_FILENO) != 1) return unlimited_width;
  const char* said = std::getenv("COLUMNS");
  const int columns = said != nullptr ? std::atoi(said) : 0;
  if (columns >= 20 && columns <= 10'000) return columns;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool stdout_wants_color() {
  if (is_set("NO_COLOR")) return false;
  const char* force = std::getenv("CLICOLOR_FORCE");
  if (force != nullptr && *force != '\0' && std::string_view(force) != "0") return true;
  return isatty(STDOUT_FILENO) == 1 && !is_dumb();
}

Progress::Progress(ProgressMode mode, std::string title)
    : title_(std::move(title)), start_(std::chrono::steady_clock::now()), last_(start_) {
  if (mode == ProgressMode::never) {
    mode_ = Mode::never;
  } else if (mode == ProgressMode::json) {
    mode_ = Mode::json;
  } else {
    mode_ = isatty(STDERR_FILENO) == 1 && !is_dumb() ? Mode::line : Mode::plain;
  }
}

Progress::~Progress() { finish(); }

void Progress::step(std::size_t done, std::size_t total, std::size_t failed,
                    std::string_view subject, double eta_s) {
  const double elapsed = seconds_since(start_);
  const double per_s = elapsed > 0 ? as_double(done) / elapsed : 0;
  switch (mode_) {
    case Mode::never:
      return;
    case Mode::json: {
      const Json event = {{"event", "trial"},
                          {"title", title_},
                          {"done", done},
                          {"failed", failed},
                          {"total", total},
                          {"elapsed_s", elapsed},
                          {"eta_s", eta_s < 0 ? Json(nullptr) : Json(eta_s)},
                          {"eta_basis", "this run"},
                          {"subject", std::string(subject)}};
      return write_stderr(terminal_json(dump_json(event)) + '\n');
    }
    case Mode::plain:
      return write_stderr(fmt::format("{} {}/{} failed {} eta {} {}\n", title_, done, total, failed,
                                      seconds_text(eta_s), printable(subject)));
    case Mode::line: {
      const int cells = 24;
      const auto filled = static_cast<int>(total == 0 ? 0 : cells * done / total);
      std::string bar;
      for (const int i : below(cells)) bar += i < filled ? "█" : "░";
      redraw(fmt::format("{} {} {}/{}  {:.1f}/s  eta {}{}  {}", title_, bar, done, total, per_s,
                         seconds_text(eta_s), failed > 0 ? fmt::format("  failed {}", failed) : "",
                         printable(subject)),
             done == total);
      return;
    }
  }
}

void Progress::redraw(const std::string& line, bool force) {
  const auto now = std::chrono::steady_clock::now();
  if (!force && drawn_ && now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  std::string cut = line;
  const int columns = terminal_columns() - 1;
  while (!cut.empty() && display_width(cut) > columns) {
    do cut.pop_back();
    while (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xc0) == 0x80);
  }
  // A lead byte without its continuation may remain after the cut.
  if (!cut.empty() && static_cast<unsigned char>(cut.back()) >= 0xc0) cut.pop_back();
  write_stderr("\r\033[K" + cut);
  drawn_ = true;
}

void Progress::note(std::string_view line) {
  if (mode_ == Mode::never || mode_ == Mode::json) return;
  finish();
  write_stderr(message_text(line) + '\n');
}

void Progress::finish() {
  if (drawn_) write_stderr("\r\033[K");
  drawn_ = false;
}

}  // namespace halmark::report
