#include "figures.hpp"

#include <cmath>
#include <cstdio>
#include <exception>

#include "core/text/error.hpp"

namespace halmark::bench {
namespace {

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, std::abs(value) >= 1000 ? "%.0f" : "%.4g", value);
  return text;
}

}  // namespace

void Figures::print(std::string_view name, const std::string& value, std::string_view unit,
                    const std::string& target, bool is_ok) {
  is_short_ = is_short_ || !is_ok;
  std::printf("%.*s %s %.*s %s %s\n", static_cast<int>(name.size()), name.data(), value.c_str(),
              static_cast<int>(unit.size()), unit.data(), target.empty() ? "-" : target.c_str(),
              is_ok ? "ok" : "short");
  std::fflush(stdout);
}

void Figures::at_most(std::string_view name, double value, std::string_view unit, double limit) {
  print(name, number(value), unit, "<=" + number(limit), value <= limit);
}

void Figures::at_least(std::string_view name, double value, std::string_view unit, double limit) {
  print(name, number(value), unit, ">=" + number(limit), value >= limit);
}

void Figures::report(std::string_view name, double value, std::string_view unit) {
  print(name, number(value), unit, "", true);
}

void Figures::absent(std::string_view name, std::string_view word, std::string_view unit,
                     const std::string& target, const std::string& reason) {
  note(std::string(name) + ": " + reason);
  print(name, std::string(word), unit, target, target.empty());
}

int run(const std::function<void(Figures&)>& measure) {
  Figures figures;
  try {
    measure(figures);
  } catch (const Error& error) {
    note(error.line());
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    note(error.what());
    return static_cast<int>(ExitCode::error);
  }
  return static_cast<int>(figures.is_short() ? ExitCode::gate_failed : ExitCode::ok);
}

void note(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

}  // namespace halmark::bench
