// A recorded load as CSV.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "core/input/input_file.hpp"
#include "core/text/error.hpp"
#include "simulate/serving/load.hpp"

namespace halmark::serving {
namespace {

enum Column : std::size_t { arrival, input, output, prefix, prefix_tokens, priority };
constexpr std::array<std::string_view, 6> names = {"arrival_s", "input_tokens",  "output_tokens",
                                                   "prefix_id", "prefix_tokens", "priority"};
constexpr std::size_t needed = 3;  // the first of them

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t comma = line.find(',');
    out.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    line.remove_prefix(comma + 1);
  }
}

class TraceReader {
 public:
  explicit TraceReader(const std::string& name) : name_(name) {}

  void read_head(std::string_view line) {
    const auto fields = fields_of(line);
    width_ = fields.size();
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const auto known = std::ranges::find(names, fields[f]);
      if (known == names.end()) {
        throw refused("column '" + printable(fields[f]) + "' is not one of a trace", where(1),
                      suggestion(fields[f], {names.begin(), names.end()}));
      }
      places_[static_cast<std::size_t>(known - names.begin())] = f + 1;
    }
    for (std::size_t c = 0; c < needed; ++c) {
      if (places_[c] == 0) {
        throw refused("column '" + std::string(names[c]) + "' is missing", where(1),
                      "a trace has arrival_s,input_tokens,output_tokens");
      }
    }
  }

  void read_row(std::string_view line, std::size_t number) {
    fields_ = fields_of(line);
    number_ = number;
    if (fields_.size() != width_) {
      throw refused(
          std::to_string(fields_.size()) + " fields, and the header has " + std::to_string(width_),
          where(number), "give every request all of its fields");
    }
    RequestPlan r{.input_tokens = whole(input, 1), .output_tokens = whole(output, 1)};
    const double at_s = seconds();
    r.arrival_ps = events::picoseconds(at_s);
    if (!out_.requests.empty() && r.arrival_ps < out_.requests.back().arrival_ps) {
      throw refused("time runs backwards: a request at " + std::string(fields_[places_[0] - 1]) +
                        " s comes behind a later one",
                    where(number), "sort the trace by arrival_s");
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
    return std::move(out_);
  }

 private:
  static constexpr std::int64_t whole_max = std::int64_t{1} << 31;

  std::string where(std::size_t line) const { return name_ + ':' + std::to_string(line); }
  bool is_given(Column column) const {
    return places_[column] != 0 && !fields_[places_[column] - 1].empty();
  }
  std::string_view field(Column column) const {
    if (is_given(column)) return fields_[places_[column] - 1];
    throw refused("no " + std::string(names[column]), where(number_),
                  "a hole in a trace is no request: fill it in or leave the row out");
  }
  std::int64_t whole(Column column, std::int64_t least) const {
    const std::string_view text = field(column);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least ||
        value > whole_max) {
      throw refused(std::string(names[column]) + " '" + printable(text) + "'", where(number_),
                    "a whole number of " + std::to_string(least) + " or more");
    }
    return value;
  }
  double seconds() const {
    const std::string_view text = field(arrival);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) ||
        value < 0) {
      throw refused("arrival_s '" + printable(text) + "'", where(number_),
                    "seconds from the begin of the trace, 0 or more");
    }
    return value;
  }

  std::string name_;
  std::array<std::size_t, names.size()> places_{};  // 1 + field; 0 = no such column
  std::size_t width_ = 0, number_ = 0;
  std::vector<std::string_view> fields_;
  Load out_;
};

}  // namespace

Load parse_trace(std::string_view text, const std::string& name) {
  TraceReader reader(name);
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    if (number == 1) {
      reader.read_head(line);
    } else if (!line.empty() || !text.empty()) {
      reader.read_row(line, number);
    }
  }
  return reader.take();
}

Load read_trace(const std::string& path) {
  return parse_trace(read_input(path, table_input), input_name(path));
}

}  // namespace halmark::serving
