#include "bisect/pair.hpp"

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "core/text/number.hpp"
#include "core/text/text.hpp"

namespace halmark::bisect {
namespace {

constexpr const char* any_number = R"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)";
constexpr std::size_t line_max = 2000;  // the library's matcher recurses by character

std::regex compiled(const std::string& expression) {
  try {
    return std::regex(expression.empty() ? any_number : expression);
  } catch (const std::regex_error& error) {
    throw refused("'" + expression + "' is no regular expression: " + error.what(), "--figure",
                  "for example --figure 'time: ([0-9.]+)'");
  }
}

std::optional<double> number_of(std::string text) {
  if (text.starts_with('+')) text.erase(0, 1);
  const auto out = read_number<double>(text);
  if (!out) return std::nullopt;
  return out;
}

std::optional<double> last_figure(const std::string& output, const std::regex& expression) {
  std::optional<double> out;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > line_max) line.erase(0, line.size() - line_max);
    for (std::sregex_iterator at(line.begin(), line.end(), expression), end; at != end; ++at) {
      if (const auto number = number_of(at->str(at->size() > 1 ? 1 : 0))) out = number;
    }
  }
  return out;
}

Result<double, PairFailure> figure_in(const std::string& folder, const std::string& command,
                                      const std::regex& expression, const ShellLimits& limits) {
  const auto output = run_words({"sh", "-c", command}, folder, limits);
  if (!output) return PairFailure{output.failure.reason};
  const auto figure = last_figure(*output.value, expression);
  if (!figure) {
    return PairFailure{"its output has no " +
                       std::string(output->empty() ? "line: it is empty" : "figure")};
  }
  if (!(*figure > 0) || !std::isfinite(*figure)) {
    return PairFailure{"its figure is " + number_text(*figure) + ", and ratios need one above 0"};
  }
  return *figure;
}

}  // namespace

MeasurePair pairs_of_command(const std::string& command, const std::string& expression,
                             const ShellLimits& limits) {
  return [=, pattern = compiled(expression)](const std::string& good, const std::string& folder,
                                             std::size_t pair) -> Result<double, PairFailure> {
    double log_ratio = 0;
    for (const bool is_second : {false, true}) {
      const bool is_of_good = is_second == (pair % 2 == 1);
      const auto figure = figure_in(is_of_good ? good : folder, command, pattern, limits);
      if (!figure) return PairFailure{figure.failure.reason, is_of_good};
      log_ratio += (is_of_good ? -1 : 1) * std::log(*figure);
    }
    return log_ratio;
  };
}

MeasurePair pairs_of_plugin(std::vector<KernelCase> cases, const std::string& path,
                            const tune::LiveComparison& comparison, bool allow_insecure) {
  return [=, known = std::map<std::string, DuetSide>()](
             const std::string& good, const std::string& folder,
             std::size_t pair) mutable -> Result<double, PairFailure> {
    const auto side = [&](const std::string& at) -> Result<DuetSide, PairFailure> {
      if (const auto* found = find_value(known, at)) return *found;
      const std::string file = (std::filesystem::path(at) / path).string();
      try {
        return known[at] = named_side(file, {.now_path = {},
                                             .now_hash = {},
                                             .builds_folder = {},
                                             .allow_insecure = allow_insecure});
      } catch (const Error& error) {
        return PairFailure{error.line(), at == good};
      }
    };
    const auto old_side = side(good), new_side = side(folder);
    if (!old_side) return old_side.failure;
    if (!new_side) return new_side.failure;
    tune::LiveComparison live = comparison;
    live.old_side = *old_side;
    live.new_side = *new_side;
    live.measuring.rounds = 1;
    live.measuring.seed = hash_combine(live.measuring.seed, pair);
    std::vector<double> ratios;
    for (const Duet& duet : run_duets(cases, tune::duet_options(live))) {
      if (duet.status != Status::ok || duet.log_ratios.empty()) {
        const std::string reason = duet.reason.empty() ? "no pair was measured" : duet.reason;
        return PairFailure{duet.kernel_case.problem.text() + ": " + reason, !duet.is_new_at_fault};
      }
      ratios.push_back(mean(duet.log_ratios));
    }
    return mean(ratios);
  };
}

}  // namespace halmark::bisect
