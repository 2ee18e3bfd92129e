// A recorded load as CSV or JSON lines.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "core/input/file_kind.hpp"
#include "core/input/input_file.hpp"
#include "core/json/json.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "simulate/serving/load.hpp"
#include "simulate/serving/trace_columns.hpp"

namespace halmark::serving {
namespace {

using Fields = std::vector<std::string>;

Fields fields_of(std::string_view line) {
  Fields out;
  for (;;) {
    const std::size_t quote = line.starts_with('"') ? line.find('"', 1) : line.npos;
    const std::size_t comma = line.find(',', quote == line.npos ? 0 : quote);
    const std::string_view field = line.substr(0, comma);
    const bool is_quoted = quote != line.npos && quote + 1 == field.size();
    out.emplace_back(is_quoted ? field.substr(1, quote - 1) : field);
    if (comma == std::string_view::npos) return out;
    line.remove_prefix(comma + 1);
  }
}

// Numbers above are no seconds of a run but seconds since 1970: from 2001 on.
constexpr double epoch_s = 1e9;

class TraceReader {
 public:
  explicit TraceReader(const std::string& name) : name_(name) {}

  void read_head(const Fields& head, std::size_t number) {
    places_ = places_of(head, where(number));
    width_ = head.size();
  }

  void read_row(Fields fields, std::size_t number) {
    fields_ = std::move(fields);
    number_ = number;
    if (fields_.size() != width_) {
      throw refused(
          std::to_string(fields_.size()) + " fields, and the header has " + std::to_string(width_),
          where(number), "give every request all of its fields");
    }
    const double at_s = seconds();
    // What public traces record of a request that failed.
    const bool failed = places_.is_foreign && (field(output) == "0" || field(input) == "0");
    if (failed) {
      ++failed_;
      return;
    }
    RequestPlan r{.input_tokens = whole(input, 1), .output_tokens = whole(output, 1)};
    if (out_.requests.empty()) begin_s_ = is_of_a_clock(at_s) ? at_s : 0;
    if (at_s < begin_s_) refuse_backwards();
    r.arrival_ps = events::picoseconds(at_s - begin_s_);
    if (!out_.requests.empty() && r.arrival_ps < out_.requests.back().arrival_ps) {
      refuse_backwards();
    }
    if (is_given(prefix)) {
      r.prefix = whole(prefix, 0);
      r.prefix_tokens = whole(prefix_tokens, 0);
      if (r.prefix_tokens > r.input_tokens) {
        throw refused("prefix_tokens " + std::to_string(r.prefix_tokens) + " exceed input_tokens " +
                          std::to_string(r.input_tokens),
                      where(number), "the prefix is a part of the prompt");
      }
    }
    if (is_given(priority)) r.priority = static_cast<std::int32_t>(whole(priority, 0));
    out_.requests.push_back(r);
  }

  Load take() {
    if (out_.requests.empty()) throw refused("a trace without requests", name_);
    if (places_.is_foreign) {
      const std::size_t all = out_.requests.size() + failed_;
      std::string note = "arrivals: " + std::to_string(out_.requests.size()) + " of " +
                         std::to_string(all) + " requests taken";
      if (failed_ > 0) note += "; left out: " + std::to_string(failed_) + " without an answer";
      for (std::size_t i = 0; i < places_.others.size(); ++i) {
        note += (i == 0 ? "; columns not read: " : ", ") + printable(places_.others[i]);
      }
      out_.notes.push_back(note);
    }
    return std::move(out_);
  }

 private:
  static constexpr std::int64_t whole_max = std::int64_t{1} << 31;

  [[noreturn]] void refuse_backwards() const {
    throw refused("time runs backwards: a request at " + field(arrival) + (is_date_ ? "" : " s") +
                      " comes behind a later one",
                  where(number_), "sort the trace by " + std::string(column_names[arrival]));
  }
  // Dates and seconds since 1970; and what others record, whose clocks begin anywhere.
  bool is_of_a_clock(double at_s) const { return is_date_ || at_s > epoch_s || places_.is_foreign; }
  std::string where(std::size_t line) const { return name_ + ':' + std::to_string(line); }
  bool is_given(Column column) const {
    return places_.at[column] != 0 && !fields_[places_.at[column] - 1].empty();
  }
  const std::string& field(Column column) const {
    if (is_given(column)) return fields_[places_.at[column] - 1];
    throw refused("no " + std::string(column_names[column]), where(number_),
                  "a hole in a trace is no request: fill it in or leave the row out");
  }
  std::int64_t whole(Column column, std::int64_t least) const {
    const std::string& text = field(column);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least ||
        value > whole_max) {
      throw refused(std::string(column_names[column]) + " '" + printable(text) + "'",
                    where(number_), "a whole number of " + std::to_string(least) + " or more");
    }
    return value;
  }
  double seconds() {
    const std::string& text = field(arrival);
    if (const auto date = seconds_of_date(text)) {
      is_date_ = true;
      return *date;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) ||
        value < 0) {
      throw refused("arrival_s '" + printable(text) + "'", where(number_),
                    "seconds from the begin of the trace, 0 or more");
    }
    // Milliseconds and finer since 1970 have more digits than seconds.
    while (value > 100 * epoch_s) value *= 1e-3;
    return value > epoch_s ? value : value * places_.seconds_per_unit;
  }

  std::string name_;
  ColumnPlaces places_;
  std::size_t width_ = 0, number_ = 0, failed_ = 0;
  double begin_s_ = 0;
  bool is_date_ = false;
  Fields fields_;
  Load out_;
};

constexpr std::size_t keys_max = 1000;

// Whether the row has keys that no row before it had.
bool adds_keys(const Json& row, Fields& keys) {
  const std::size_t before = keys.size();
  for (const auto& [key, value] : row.items()) {
    if (keys.size() <= keys_max && !contains(keys, key)) keys.push_back(key);
  }
  return keys.size() > before;
}

// Of a JSON line the values of those keys, as they are written.
Fields values_of(const Json& row, const Fields& keys) {
  Fields out;
  for (const std::string& key : keys) {
    const auto found = row.find(key);
    const bool is_absent = found == row.end() || found->is_null() || found->is_structured();
    out.push_back(is_absent            ? std::string()
                  : found->is_string() ? found->get<std::string>()
                                       : found->dump());
  }
  return out;
}

}  // namespace

Load parse_trace(std::string_view text, const std::string& name) {
  TraceReader reader(name);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && text[first] == '{';
  if (first != std::string_view::npos && text[first] == '[') {
    throw refused("a list of requests", name, "write one JSON object a line, without a list");
  }
  std::size_t number = 0;
  Fields keys;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    if (is_json) {
      if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
      const Json row = parse_json(line, name + ':' + std::to_string(number));
      if (!row.is_object())
        throw refused("a request is a JSON object", name + ':' + std::to_string(number));
      if (adds_keys(row, keys)) reader.read_head(keys, number);
      if (keys.size() > keys_max)
        throw refused("more than 1000 keys", name + ':' + std::to_string(number));
      reader.read_row(values_of(row, keys), number);
    } else if (number == 1) {
      reader.read_head(fields_of(line), number);
    } else if (!line.empty() || !text.empty()) {
      reader.read_row(fields_of(line), number);
    }
  }
  return reader.take();
}

Load read_trace(const std::string& path) {
  return parse_trace(read_kind(path, table_input, "arrivals"), input_name(path));
}

}  // namespace halmark::serving
