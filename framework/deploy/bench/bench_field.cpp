#include "deploy/bench/bench_field.hpp"

#include <cmath>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::deploy {
namespace {

constexpr double time_min_ns = 0.1, time_max_ns = 1e15;

const Json& member(const BenchObject& o, const char* key) {
  if (!o.value.is_object()) throw refused("an object is expected", o.where);
  const auto it = o.value.find(key);
  if (it == o.value.end()) throw refused("'" + std::string(key) + "' is missing", o.where);
  return *it;
}

double number_at(const BenchObject& o, const char* key) {
  const Json& in = member(o, key);
  if (!in.is_number()) {
    throw refused(in.is_null() ? "it is null; a number is expected" : "a number is expected",
                  o.place(key));
  }
  return in.get<double>();
}

}  // namespace

bool BenchObject::has(const char* key) const {
  return value.is_object() && value.contains(key) && !value.at(key).is_null();
}

BenchObject BenchObject::object(const char* key) const {
  const Json& in = member(*this, key);
  if (!in.is_object()) throw refused("an object is expected", place(key));
  return {in, place(key)};
}

BenchObject BenchObject::list(const char* key) const {
  const Json& in = member(*this, key);
  if (!in.is_array()) throw refused("a list is expected", place(key));
  return {in, place(key)};
}

BenchObject BenchObject::at(std::size_t index) const {
  return {value.at(index), where + '[' + std::to_string(index) + ']'};
}

std::string BenchObject::text(const char* key) const {
  const Json& in = member(*this, key);
  if (!in.is_string()) {
    throw refused(in.is_null() ? "it is null; a text is expected" : "a text is expected",
                  place(key));
  }
  return in.get<std::string>();
}

std::string BenchObject::text_or_none(const char* key) const {
  return has(key) && value.at(key).is_string() ? value.at(key).get<std::string>() : std::string();
}

std::int64_t BenchObject::count(const char* key) const {
  const double in = number_at(*this, key);
  if (!(in >= 0 && in <= 1e15) || in != std::floor(in)) {
    throw refused(number_text(in) + " is no count", place(key));
  }
  return as_int64(in);
}

double BenchObject::time_ns(const char* key, double unit_ns) const {
  return checked_time(number_at(*this, key) * unit_ns, place(key));
}

std::optional<double> BenchObject::deviation_ns(const char* key, double unit_ns) const {
  if (!has(key)) return std::nullopt;
  const double ns = number_at(*this, key) * unit_ns;
  if (!(ns >= 0 && ns <= time_max_ns)) {
    throw refused(number_text(ns) + " ns is no deviation", place(key));
  }
  return ns;
}

SampleFigures figures_of(std::span<const double> samples) {
  SampleFigures out;
  for (const double sample : samples) out.mean += sample;
  out.mean /= as_double(samples.size());
  double squares = 0;
  for (const double sample : samples) squares += (sample - out.mean) * (sample - out.mean);
  out.deviation = std::sqrt(squares / as_double(samples.size()));
  return out;
}

double checked_time(double ns, const std::string& where) {
  if (ns >= time_min_ns && ns <= time_max_ns) return ns;
  throw refused(number_text(ns) + " ns is no time of a step", where,
                "0.1 ns to eleven days are expected");
}

}  // namespace halmark::deploy
