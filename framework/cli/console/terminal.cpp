#include "cli/console/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cwchar>

#include "core/numeric/clock.hpp"

namespace halmark::cli {
namespace {

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

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

struct Unit {
  double scale;
  std::string_view name;
};

template <std::size_t N>
std::string scaled(double value, const std::array<Unit, N>& units, std::string_view suffix = "") {
  for (const Unit& unit : units) {
    if (std::fabs(value) >= unit.scale * 0.9995 || &unit == &units.back()) {
      const double v = value / unit.scale;
      const int digits = std::fabs(v) >= 99.95 ? 0 : std::fabs(v) >= 9.995 ? 1 : 2;
      return fmt::format("{:.{}f} {}{}", v, digits, unit.name, suffix);
    }
  }
  return {};
}

std::string seconds_text(double s) {
  if (s < 0 || !std::isfinite(s)) return "--:--";
  const auto total = static_cast<long>(s + 0.5);
  return fmt::format("{:d}:{:02d}", total / 60, total % 60);
}

}  // namespace

void write_stdout(std::string_view text) { write_all(STDOUT_FILENO, text); }
void write_stderr(std::string_view text) { write_all(STDERR_FILENO, text); }

bool use_color(const GlobalOptions& options) {
  if (options.color != "auto") return options.color == "always";
  if (is_set("NO_COLOR")) return false;
  const char* force = std::getenv("CLICOLOR_FORCE");
  if (force != nullptr && *force != '\0' && std::string_view(force) != "0") return true;
  return isatty(STDOUT_FILENO) == 1 && !is_dumb();
}

int display_width(std::string_view text) {
  int width = 0;
  std::mbstate_t state{};
  while (!text.empty()) {
    wchar_t wide = 0;
    const std::size_t n = std::mbrtowc(&wide, text.data(), text.size(), &state);
    if (n == 0 || n > text.size()) {
      state = {};
      // Continuation bytes of UTF-8 take no column even where the locale cannot decode them.
      width += (static_cast<unsigned char>(text.front()) & 0xc0) == 0x80 ? 0 : 1;
      text.remove_prefix(1);
    } else {
      width += std::max(0, wcwidth(wide));
      text.remove_prefix(n);
    }
  }
  return width;
}

TextTable::TextTable(std::vector<std::string> header, std::vector<bool> right)
    : right_(std::move(right)) {
  right_.resize(header.size());
  rows_.push_back(std::move(header));
}

void TextTable::add(std::vector<std::string> row) {
  row.resize(right_.size());
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::vector<int> widths(right_.size());
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], display_width(row[c]));
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string pad(static_cast<std::size_t>(widths[c] - display_width(row[c])), ' ');
      line += (c > 0 ? "  " : "") + (right_[c] ? pad + row[c] : row[c] + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string duration_text(double ns) {
  return scaled(ns, std::array{Unit{1e9, "s"}, Unit{1e6, "ms"}, Unit{1e3, "us"}, Unit{1, "ns"}});
}

std::string rate_text(double flops_per_s, std::string_view unit) {
  return scaled(flops_per_s,
                std::array{Unit{1e12, "T"}, Unit{1e9, "G"}, Unit{1e6, "M"}, Unit{1, ""}}, unit);
}

std::string bytes_text(double bytes) {
  return scaled(bytes, std::array{Unit{0x1p40, "TiB"}, Unit{0x1p30, "GiB"}, Unit{0x1p20, "MiB"},
                                  Unit{0x1p10, "KiB"}, Unit{1, "B"}});
}

std::string percent_text(std::optional<double> fraction) {
  if (!fraction) return "-";
  return fmt::format("{:.1f} %", *fraction * 100);
}

Progress::Progress(const GlobalOptions& options, std::string title)
    : title_(std::move(title)), start_(std::chrono::steady_clock::now()), last_(start_) {
  if (options.quiet || options.progress == "never") {
    mode_ = Mode::never;
  } else if (options.progress == "json") {
    mode_ = Mode::json;
  } else {
    mode_ = isatty(STDERR_FILENO) == 1 && !is_dumb() ? Mode::line : Mode::plain;
  }
}

Progress::~Progress() { finish(); }

void Progress::step(std::size_t done, std::size_t total, std::size_t failed,
                    std::string_view subject, double eta_s) {
  const double elapsed = seconds_since(start_);
  const double per_s = elapsed > 0 ? static_cast<double>(done) / elapsed : 0;
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
      return write_stderr(dump_json(event) + '\n');
    }
    case Mode::plain:
      return write_stderr(fmt::format("{} {}/{} failed {} eta {} {}\n", title_, done, total, failed,
                                      seconds_text(eta_s), printable(subject)));
    case Mode::line: {
      const int cells = 24;
      const auto filled = static_cast<int>(total == 0 ? 0 : cells * done / total);
      std::string bar;
      for (int i = 0; i < cells; ++i) bar += i < filled ? "█" : "░";
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
  write_stderr(printable(line) + '\n');
}

void Progress::finish() {
  if (drawn_) write_stderr("\r\033[K");
  drawn_ = false;
}

}  // namespace halmark::cli
