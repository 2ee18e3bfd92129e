#include "simulate/serving/trace_columns.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "core/ranges.hpp"
#include "core/text/error.hpp"

namespace halmark::serving {
namespace {

// Other words for the three needed columns. Milliseconds where a format has them so.
struct Alias {
  std::string_view name;
  Column column;
  double seconds_per_unit = 1;
};
constexpr std::array aliases = {
    Alias{"TIMESTAMP", arrival},  // Azure's LLM inference traces
    Alias{"ContextTokens", input},      Alias{"GeneratedTokens", output},
    Alias{"Timestamp", arrival},  // BurstGPT
    Alias{"Request tokens", input},     Alias{"Response tokens", output},
    Alias{"arrived_at", arrival},  // Vidur, Sarathi
    Alias{"num_prefill_tokens", input}, Alias{"num_decode_tokens", output},
    Alias{"timestamp", arrival, 1e-3},  // Mooncake
    Alias{"input_length", input},       Alias{"output_length", output},
    Alias{"arrival_time", arrival},  // engines' logs
    Alias{"input_toks", input},         Alias{"output_toks", output},
    Alias{"prompt_tokens", input},      Alias{"completion_tokens", output},
    Alias{"prompt_len", input},         Alias{"output_len", output}};

bool digits(std::string_view text, std::size_t at, std::size_t count, int& out) {
  if (at + count > text.size()) return false;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + count, out);
  return error == std::errc{} && end == text.data() + at + count;
}

// "Z", "+01:00", "-0330" or nothing, in seconds.
std::optional<double> zone_of(std::string_view text) {
  if (text.empty() || text == "Z" || text == " UTC") return 0;
  if (text[0] != '+' && text[0] != '-') return std::nullopt;
  int hours = 0, minutes = 0;
  const std::size_t second = text.size() == 6 && text[3] == ':' ? 4 : 3;
  if (text.size() < 5 || !digits(text, 1, 2, hours) || !digits(text, second, 2, minutes)) {
    return std::nullopt;
  }
  return (text[0] == '-' ? -1 : 1) * (hours * 3600.0 + minutes * 60.0);
}

}  // namespace

std::optional<double> seconds_of_date(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  constexpr std::size_t whole = std::string_view("2023-11-16 18:15:46").size();
  if (text.size() < whole || text[4] != '-' || text[7] != '-' ||
      (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':' ||
      !digits(text, 0, 4, year) || !digits(text, 5, 2, month) || !digits(text, 8, 2, day) ||
      !digits(text, 11, 2, hour) || !digits(text, 14, 2, minute) || !digits(text, 17, 2, second)) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  std::string_view rest = text.substr(whole);
  double fraction = 0;
  if (rest.starts_with('.')) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), fraction);
    if (error != std::errc{}) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  const auto zone = zone_of(rest);
  if (!zone) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days) * 86400 + hour * 3600 + minute * 60 + second + fraction - *zone;
}

ColumnPlaces places_of(const std::vector<std::string>& head, const std::string& where) {
  ColumnPlaces out;
  std::array<bool, needed_columns> is_foreign{};
  for (std::size_t f = 0; f < head.size(); ++f) {
    const auto own = std::ranges::find(column_names, head[f]);
    const auto alias = std::ranges::find(aliases, head[f], &Alias::name);
    const bool is_own = own != column_names.end();
    if (!is_own && alias == aliases.end()) {
      out.others.push_back(head[f]);
      continue;
    }
    const std::size_t column =
        is_own ? static_cast<std::size_t>(own - column_names.begin()) : alias->column;
    if (out.at[column] != 0 && is_own == !is_foreign[std::min(column, needed_columns - 1)]) {
      throw refused("'" + printable(head[f]) + "' is a second " + std::string(column_names[column]),
                    where, "leave one of them out");
    }
    if (out.at[column] != 0 && !is_own) continue;  // Halmark's own word goes first
    out.at[column] = f + 1;
    if (column >= needed_columns) continue;
    is_foreign[column] = !is_own;
    if (column == arrival) out.seconds_per_unit = is_own ? 1 : alias->seconds_per_unit;
  }
  out.is_foreign = contains(is_foreign, true);
  if (!out.is_foreign && !out.others.empty()) {
    throw refused("column '" + printable(out.others.front()) + "' is not one of a trace", where,
                  suggestion(out.others.front(), {column_names.begin(), column_names.end()}));
  }
  for (std::size_t c = 0; c < needed_columns; ++c) {
    if (out.at[c] != 0) continue;
    throw refused("column '" + std::string(column_names[c]) + "' is missing", where,
                  "a trace has arrival_s,input_tokens,output_tokens");
  }
  return out;
}

}  // namespace halmark::serving
