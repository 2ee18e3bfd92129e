#include "core/problem.hpp"

#include <algorithm>
#include <stdexcept>

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
  const auto it = position(items_, name);
  if (it != items_.end() && it->name == name) {
    items_[static_cast<std::size_t>(it - items_.begin())].value = value;
  } else {
    items_.insert(it, Param{std::string(name), value});
  }
}

std::optional<std::int64_t> Params::find(std::string_view name) const {
  const auto it = position(items_, name);
  if (it == items_.end() || it->name != name) return std::nullopt;
  return it->value;
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
    const auto label =
        std::ranges::find(labels, item.name, &std::pair<std::string, std::string>::first);
    out += item.name + '=' + (label != labels.end() ? label->second : std::to_string(item.value));
  }
  return out;
}

}  // namespace halmark
