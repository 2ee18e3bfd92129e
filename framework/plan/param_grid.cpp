#include "plan/param_grid.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

constexpr std::string_view forms =
    "forms: name=4096, name=[64,4096], name=[64..4096*2], name=[64..4096+64]";

struct Axis {
  std::string name;
  std::vector<std::int64_t> values;
};

Error wrong(std::string what) {
  return refused("--params: " + std::move(what), {}, std::string(forms));
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// Splits at commas outside brackets. Empty items stay: they are somebody's slip.
std::vector<std::string_view> split_outside_brackets(std::string_view text) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  bool is_inside = false;
  for (const auto i : indices(text)) {
    if (text[i] == '[' && is_inside) throw wrong("brackets inside brackets");
    if (text[i] == ']' && !is_inside) throw wrong("']' without '['");
    if (text[i] == '[' || text[i] == ']') is_inside = text[i] == '[';
    if (text[i] != ',' || is_inside) continue;
    items.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  if (is_inside) throw wrong("'[' without ']'");
  items.push_back(text.substr(begin));
  return items;
}

std::int64_t integer(const std::string& name, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) {
    throw wrong(quoted(text) + " is too large for " + name);
  }
  if (code != std::errc{} || end != text.data() + text.size()) {
    throw wrong(quoted(text) + " is no integer for " + name);
  }
  return value;
}

std::int64_t dtype(const std::string& name, std::string_view text) {
  if (const auto known = parse_dtype(text)) return as_int64(*known);
  std::vector<std::string> names;
  for (const Dtype d : all_dtypes()) names.emplace_back(dtype_name(d));
  throw refused("--params: unknown dtype " + quoted(text) + " for " + name, {},
                suggestion(text, names));
}

std::int64_t scalar(const std::string& name, std::string_view text) {
  return name.ends_with("dtype") ? dtype(name, text) : integer(name, text);
}

// first..last*factor or first..last+step.
std::vector<std::int64_t> range(const std::string& name, std::string_view text, std::size_t dots) {
  const std::size_t sign = text.find_first_of("*+", dots);
  if (sign == std::string_view::npos) {
    throw wrong("the range " + quoted(text) + " for " + name + " names no step");
  }
  const auto first = integer(name, text.substr(0, dots));
  const auto last = integer(name, text.substr(dots + 2, sign - dots - 2));
  const auto step = integer(name, text.substr(sign + 1));
  const bool multiplies = text[sign] == '*';
  if (first > last)
    throw wrong("the range " + quoted(text) + " for " + name + " ends before it begins");
  if (multiplies ? step < 2 || first < 1 : step < 1) {
    throw wrong("the range " + quoted(text) + " for " + name + " never arrives");
  }
  std::vector<std::int64_t> values;
  for (auto value = first;; value = multiplies ? value * step : value + step) {
    values.push_back(value);
    if (values.size() > combinations_max) {
      throw wrong("the range " + quoted(text) + " for " + name + " has more than " +
                  std::to_string(combinations_max) + " values");
    }
    const auto left = as_uint64(last) - as_uint64(value);
    if (multiplies ? value > last / step : left < as_uint64(step)) return values;
  }
}

std::vector<std::int64_t> values_of(const std::string& name, std::string_view text) {
  if (!text.starts_with('[')) return {scalar(name, text)};
  if (!text.ends_with(']')) throw wrong("text behind ']' for " + name);
  std::vector<std::int64_t> values;
  for (const std::string_view item : split_outside_brackets(text.substr(1, text.size() - 2))) {
    const std::size_t dots = item.find("..");
    if (dots == std::string_view::npos) {
      values.push_back(scalar(name, item));
    } else {
      const auto more = range(name, item, dots);
      append_all(values, more);
    }
  }
  auto sorted = values;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) {
    throw wrong(name + "=" + Params{{name, *twice}}.text().substr(name.size() + 1) +
                " is given twice");
  }
  return values;
}

std::vector<Axis> axes_of(std::string_view text) {
  std::vector<Axis> axes;
  if (text.empty()) return axes;
  for (const std::string_view item : split_outside_brackets(text)) {
    const std::size_t equal = item.find('=');
    if (equal == std::string_view::npos || equal == 0) {
      throw wrong(quoted(item) + " is not name=value");
    }
    const std::string name(item.substr(0, equal));
    if (contains(axes, name, &Axis::name)) {
      throw wrong(name + " is given twice; several values go in brackets");
    }
    axes.push_back({name, values_of(name, item.substr(equal + 1))});
  }
  return axes;
}

}  // namespace

std::vector<Params> parse_param_grid(std::string_view text) {
  std::vector<Params> grid{Params{}};
  for (const Axis& axis : axes_of(text)) {
    if (grid.size() * axis.values.size() > combinations_max) {
      throw wrong("more than " + std::to_string(combinations_max) + " combinations");
    }
    std::vector<Params> wider;
    wider.reserve(grid.size() * axis.values.size());
    for (const Params& params : grid) {
      for (const std::int64_t value : axis.values) {
        wider.push_back(params);
        wider.back().set(axis.name, value);
      }
    }
    grid = std::move(wider);
  }
  return grid;
}

}  // namespace halmark
