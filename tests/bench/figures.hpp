// What a benchmark program prints: one line per figure, "name value unit target ok|short".
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace halmark::bench {

// Each verb prints its line at once. A figure without a target is never short.
class Figures {
 public:
  void at_most(std::string_view name, double value, std::string_view unit, double limit);
  void at_least(std::string_view name, double value, std::string_view unit, double limit);
  void report(std::string_view name, double value, std::string_view unit);
  // There is no value; the reason goes to stderr. `target` as printed, "" when there is none.
  void absent(std::string_view name, std::string_view word, std::string_view unit,
              const std::string& target, const std::string& reason);
  bool is_short() const { return is_short_; }

 private:
  void print(std::string_view name, const std::string& value, std::string_view unit,
             const std::string& target, bool is_ok);
  bool is_short_ = false;
};

// Body of main: 3 when a figure is short, the error's own code when nothing could be measured.
int run(const std::function<void(Figures&)>& measure);

// To stderr: what a reader needs beside the figures.
void note(const std::string& text);

}  // namespace halmark::bench
