#include "core/problem.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/lists.hpp"

namespace halmark {
namespace {

auto position(const std::vector<Param>& items, std::string_view name) {
  return std::ranges::lower_bound(items, name, {}, &Param::name);
}

}  // namespace

Params::Params(std::initializer_list<Param> params) {
  for (const Param& param : params) set(param.name, param.value);
}

void Params::set(std::string_view name, std::int64_t value) {
  for (Param& item : items_) {
    if (item.name != name) continue;
    item.value = value;
    return;
  }
  items_.insert(position(items_, name), Param{std::string(name), value});
}

// A dozen names at most: comparing for equality, which lengths decide mostly, is faster than a
// binary search that has to order them. Contracts ask for every parameter of every priced operator.
std::optional<std::int64_t> Params::find(std::string_view name) const {
  for (const Param& item : items_) {
    if (item.name == name) return item.value;
  }
  return std::nullopt;
}

std::int64_t Params::at(std::string_view name) const {
  if (const auto value = find(name)) return *value;
  throw std::out_of_range("parameter '" + std::string(name) + "' is absent");
}

std::int64_t Params::value_or(std::string_view name, std::int64_t fallback) const {
  return find(name).value_or(fallback);
}

Dtype Params::dtype(std::string_view name) const {
  if (const auto dtype = dtype_from_value(at(name))) return *dtype;
  throw std::out_of_range("parameter '" + std::string(name) + "' is not a data type");
}

std::string Params::text() const {
  std::string out;
  for (const Param& item : items_) {
    if (!out.empty()) out += ' ';
    const bool is_dtype = item.name == "dtype" || item.name.ends_with("_dtype");
    const auto dtype = is_dtype ? dtype_from_value(item.value) : std::nullopt;
    out += item.name + '=' + (dtype ? std::string(dtype_name(*dtype)) : std::to_string(item.value));
  }
  return out;
}

std::string Problem::text() const { return params.empty() ? op : op + ' ' + params.text(); }

std::string Config::text() const {
  std::string out;
  for (const Param& item : params.items()) {
    if (!out.empty()) out += ' ';
    const auto* label =
        find_or_null(labels, item.name, &std::pair<std::string, std::string>::first);
    out += item.name + '=' + (label ? label->second : std::to_string(item.value));
  }
  return out;
}

}  // namespace halmark
