#include "history/google_benchmark.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/input/file_kind.hpp"
#include "core/input/input_file.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::history {
namespace {

constexpr const char* file_remedy = "write it with --benchmark_out=FILE --benchmark_repetitions=5";

std::string text_of(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}

double ns_per(const std::string& unit, const std::string& where) {
  static const std::map<std::string, double, std::less<>> units = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const auto found = units.find(unit);
  if (found == units.end()) throw refused("unknown time_unit '" + unit + "'", where, "ns us ms s");
  return found->second;
}

SeriesRow row_of_entry(const Json& entry, const std::string& where) {
  SeriesRow out;
  if (const auto error = entry.find("error_occurred");
      error != entry.end() && error->is_boolean() && error->get<bool>()) {
    const std::string message = text_of(entry, "error_message");
    out.fault = message.empty() ? "the benchmark failed" : message;
    return out;
  }
  const auto time = entry.find("real_time");
  if (time == entry.end() || !time->is_number()) throw refused("no real_time", where, file_remedy);
  out.ns = time->get<double>() * ns_per(text_of(entry, "time_unit"), where);
  if (!(out.ns > 0) || !std::isfinite(out.ns)) {
    out.ns = 0;
    out.fault = "its time is not positive";
  }
  return out;
}

std::string fingerprint_of(const Json& context) {
  std::string out = text_of(context, "host_name");
  if (out.empty()) out = "unknown host";
  if (const auto cpus = context.find("num_cpus");
      cpus != context.end() && cpus->is_number_integer()) {
    out += ", " + std::to_string(cpus->get<std::int64_t>()) + " CPUs";
  }
  const std::string build = text_of(context, "library_build_type");
  return build.empty() ? out : out + ", " + build + " library";
}

// Two families may be registered under one name: their numbers tell them apart, or, in files of
// older libraries, that the repetitions begin again.
class Families {
 public:
  std::string name_of(const std::string& name, const Json& entry) {
    Seen& seen = seen_[name];
    const std::int64_t family = integer(entry, "family_index");
    const std::int64_t repetition = integer(entry, "repetition_index");
    const bool begins_again = repetition >= 0 && repetition <= seen.repetition;
    const auto known = std::ranges::find(seen.families, family);
    if (family >= 0 && known != seen.families.end()) {
      seen.current = static_cast<std::size_t>(known - seen.families.begin());
    } else if (seen.families.empty() || family >= 0 || begins_again) {
      seen.families.push_back(family);
      seen.current = seen.families.size() - 1;
    }
    seen.repetition = repetition;
    return seen.current == 0 ? name
                             : name + " (" + std::to_string(seen.current + 1) + " of this name)";
  }

 private:
  struct Seen {
    std::vector<std::int64_t> families;
    std::size_t current = 0;
    std::int64_t repetition = -1;
  };
  static std::int64_t integer(const Json& entry, const char* key) {
    const auto found = entry.find(key);
    return found != entry.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
  }
  std::map<std::string, Seen> seen_;
};

std::string account_of(std::size_t entries, std::size_t aggregates, std::size_t faults) {
  std::string left;
  const auto add = [&left](std::size_t count, const char* what) {
    if (count > 0) append_item(left, ", ", std::to_string(count) + ' ' + what);
  };
  add(aggregates, "aggregates");
  add(faults, "without a valid time");
  return std::to_string(entries - aggregates - faults) + " of " + std::to_string(entries) +
         " entries taken" + (left.empty() ? "" : "; left out: " + left);
}

}  // namespace

GoogleBenchmarkFile read_google_benchmark(const std::string& path) {
  const Json document = parse_json(read_kind(path, json_input, "google-benchmark"), path);
  const bool is_one =
      document.is_object() && document.contains("benchmarks") && document["benchmarks"].is_array();
  if (!is_one) throw refused("this is no JSON of Google Benchmark", path, file_remedy);
  const Json context = document.value("context", Json::object());
  if (!context.is_object()) throw refused("its context is no object", path, file_remedy);
  GoogleBenchmarkFile out{.fingerprint = fingerprint_of(context), .series = {}, .account = {}};
  const std::string build = text_of(context, "executable");
  std::map<std::string, std::size_t> places;
  Families families;
  std::size_t number = 0, aggregates = 0, faults = 0;
  for (const Json& entry : document["benchmarks"]) {
    const std::string where = path + ": benchmarks[" + std::to_string(number++) + ']';
    if (!entry.is_object()) throw refused("this is no benchmark", where, file_remedy);
    if (text_of(entry, "run_type") == "aggregate") {
      ++aggregates;
      continue;
    }
    std::string name = text_of(entry, "run_name");
    if (name.empty()) name = text_of(entry, "name");
    if (name.empty()) throw refused("a benchmark without a name", where, file_remedy);
    name = families.name_of(name, entry);
    const auto [place, is_new] = places.try_emplace(name, out.series.size());
    if (is_new) out.series.push_back({.name = {.what = name, .fingerprint = out.fingerprint}});
    std::vector<SeriesRow>& rows = out.series[place->second].rows;
    rows.push_back(row_of_entry(entry, where));
    rows.back().round = static_cast<int>(rows.size()) - 1;
    rows.back().build = build;
    rows.back().is_of_one_process = true;
    faults += rows.back().fault.empty() ? 0 : 1;
  }
  out.account = account_of(number, aggregates, faults);
  if (out.series.empty()) {
    throw refused("it holds no times of repetitions, only aggregates or nothing", path,
                  file_remedy);
  }
  return out;
}

}  // namespace halmark::history
