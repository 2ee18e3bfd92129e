// Errors that end a command. A failed trial is never one of these: it is a Measurement with a
// status.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace halmark {

// Stable exit codes of the command line. When several apply, the order is 1, 2, 6, 5, 3, 4.
enum class ExitCode : int {
  ok = 0,
  error = 1,
  refused = 2,
  gate_failed = 3,
  partial = 4,
  unfit = 5,
  incorrect = 6,
  interrupted = 130,
  terminated = 143,
};

// One line: what, where (file:line:column for configs), why, and what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode exit_code, std::string what, std::string where = {}, std::string remedy = {});
  ExitCode exit_code() const { return exit_code_; }
  const std::string& where() const { return where_; }
  const std::string& remedy() const { return remedy_; }
  // "where: what; remedy", without the empty parts and without control characters.
  std::string line() const;

 private:
  ExitCode exit_code_;
  std::string where_;
  std::string remedy_;
};

// Input of a person or a file that is refused: exit 2.
Error refused(std::string what, std::string where = {}, std::string remedy = {});
// The machine cannot support the run: exit 5.
Error unfit(std::string what, std::string remedy = {});

// The `count` candidates nearest to `wanted` by edit distance, best first; far ones are left out.
std::vector<std::string> nearest(std::string_view wanted,
                                 const std::vector<std::string>& candidates, std::size_t count = 3);
// "did you mean 'a' or 'b'?" or "known: a, b, c" when nothing is near.
std::string suggestion(std::string_view wanted, const std::vector<std::string>& candidates);

// Control characters replaced by '?': anything foreign passes here before it reaches a terminal.
std::string printable(std::string_view text);

// The word of an exit code in documents: "gate_failed".
std::string_view exit_name(ExitCode code);

// Stable codes; shown once per code and subject, suppressible in a later version by the plan.
struct Warning {
  std::string code, subject, text, remedy;
};
// "halmark: warning CODE: subject: text; remedy" and a newline.
std::string warning_line(const Warning& warning);

}  // namespace halmark
