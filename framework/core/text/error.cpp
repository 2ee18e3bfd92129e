#include "core/text/error.hpp"

#include <algorithm>
#include <numeric>

#include "core/lists.hpp"
#include "core/text/clean_text.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

// Levenshtein distance, case-insensitive.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

std::string join_quoted(const std::vector<std::string>& items) {
  std::string out;
  for (const auto i : indices(items)) {
    if (i > 0) out += i + 1 == items.size() ? " or " : ", ";
    out += "'" + items[i] + "'";
  }
  return out;
}

}  // namespace

Error::Error(ExitCode exit_code, std::string what, std::string where, std::string remedy)
    : std::runtime_error(std::move(what)),
      exit_code_(exit_code),
      where_(std::move(where)),
      remedy_(std::move(remedy)) {}

std::string Error::line() const {
  std::string out;
  // The end of a place is its line and column.
  if (!where_.empty()) out += cut_front(where_) + ": ";
  out += message_text(what());
  if (!remedy_.empty()) out += "; " + message_text(remedy_);
  return out;
}

Error refused(std::string what, std::string where, std::string remedy) {
  return {ExitCode::refused, std::move(what), std::move(where), std::move(remedy)};
}

Error unfit(std::string what, std::string remedy) {
  return {ExitCode::unfit, std::move(what), {}, std::move(remedy)};
}

std::vector<std::string> nearest(std::string_view wanted,
                                 const std::vector<std::string>& candidates, std::size_t count) {
  const std::string key = lower_case(wanted);
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const std::string& candidate : candidates) {
    const std::string other = lower_case(candidate);
    std::size_t distance = edit_distance(key, other);
    // A typed fragment ("qwen3") is nearer than its length difference says.
    if (!key.empty() && other.find(key) != std::string::npos)
      distance = std::min<std::size_t>(distance, 2);
    if (distance <= std::max<std::size_t>(2, std::max(key.size(), other.size()) / 3)) {
      scored.emplace_back(distance, candidate);
    }
  }
  std::ranges::stable_sort(scored, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < scored.size() && i < count; ++i) out.push_back(scored[i].second);
  return out;
}

std::string suggestion(std::string_view wanted, const std::vector<std::string>& candidates) {
  const std::vector<std::string> near = nearest(wanted, candidates);
  if (!near.empty()) return "did you mean " + join_quoted(near) + "?";
  std::string known;
  for (std::size_t i = 0; i < candidates.size() && i < 12; ++i) {
    known += (i > 0 ? ", " : "") + candidates[i];
  }
  if (candidates.size() > 12) known += ", ...";
  return known.empty() ? std::string("nothing is known here") : "known: " + known;
}

std::string printable(std::string_view text) { return cut_text(text); }

std::string_view exit_name(ExitCode code) {
  switch (code) {
    case ExitCode::ok:
      return "ok";
    case ExitCode::error:
      return "error";
    case ExitCode::refused:
      return "refused";
    case ExitCode::gate_failed:
      return "gate_failed";
    case ExitCode::partial:
      return "partial";
    case ExitCode::unfit:
      return "unfit";
    case ExitCode::incorrect:
      return "incorrect";
    case ExitCode::interrupted:
    case ExitCode::terminated:
      return "interrupted";
  }
  return "error";
}

std::string warning_line(const Warning& w) {
  return "halmark: warning " + w.code + ": " + cut_front(w.subject) + ": " + message_text(w.text) +
         (w.remedy.empty() ? "" : "; " + message_text(w.remedy)) + '\n';
}

}  // namespace halmark
