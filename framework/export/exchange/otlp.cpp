// OpenTelemetry metrics: an ExportMetricsServiceRequest in the JSON encoding of OTLP 1.x, as a
// collector takes it at /v1/metrics: keys in lowerCamelCase, 64-bit integers as decimal strings
// (https://opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"). Units as in UCUM.
#include <ctime>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "core/version.hpp"
#include "export/exchange/exchange.hpp"

namespace halmark::exports {
namespace {

// "2026-11-21T04:17:27Z", "2026-11-21 04:17:27.123456": UTC, of either store.
std::optional<std::int64_t> unix_ns(std::string utc) {
  std::ranges::replace(utc, 'T', ' ');
  std::tm parts{};
  const char* rest = strptime(utc.c_str(), "%Y-%m-%d %H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  std::int64_t fraction = 0, unit = 1'000'000'000;
  if (*rest == '.') {
    for (++rest; *rest >= '0' && *rest <= '9' && unit > 1; ++rest) {
      unit /= 10;
      fraction += (*rest - '0') * unit;
    }
  }
  return std::int64_t{timegm(&parts)} * 1'000'000'000 + fraction;
}

// Name without its unit, and the unit.
std::pair<std::string, std::string> name_and_unit(const std::string& name) {
  constexpr std::pair<std::string_view, std::string_view> endings[] = {
      {"_ns", "ns"}, {"_bytes", "By"}, {"_ratio", "1"}};
  for (const auto& [end, unit] : endings) {
    if (name.ends_with(end)) return {name.substr(0, name.size() - end.size()), std::string(unit)};
  }
  if (name == "flops_per_s") return {name, "{FLOP}/s"};
  if (name == "bytes_per_s") return {name, "By/s"};
  if (name == "usd_per_million_tokens") return {name, "{USD}/{million_tokens}"};
  if (name.ends_with("_j_per_token")) return {name, "J/{token}"};
  if (name.find("tokens_per_s") != std::string::npos) return {name, "{token}/s"};
  return {name, "1"};
}

Json attributes_json(std::span<const std::pair<const char*, std::string>> attributes) {
  Json out = Json::array();
  for (const auto& [key, text] : attributes) {
    if (!text.empty()) out.push_back({{"key", key}, {"value", {{"stringValue", text}}}});
  }
  return out;
}

// One gauge per name, in the order in which names first appear.
class Gauges {
 public:
  explicit Gauges(std::string prefix) : prefix_(std::move(prefix)) {}

  void add(const std::string& name, const std::string& unit, const std::string& description,
           Json point) {
    const auto it = std::ranges::find(names_, name);
    const auto index = static_cast<std::size_t>(it - names_.begin());
    if (it == names_.end()) {
      names_.push_back(name);
      metrics_.push_back({{"name", prefix_ + name},
                          {"description", description},
                          {"unit", unit},
                          {"gauge", {{"dataPoints", Json::array()}}}});
    }
    metrics_[index]["gauge"]["dataPoints"].push_back(std::move(point));
  }
  const Json& metrics() const { return metrics_; }

 private:
  std::string prefix_;
  std::vector<std::string> names_;
  Json metrics_ = Json::array();
};

void add_row(const MetricRow& row, const std::string& time, Gauges& out) {
  const std::array<std::pair<const char*, std::string>, 5> labels = {
      {{"case", row.name},
       {"op", row.op},
       {"device", row.device},
       {"status", row.status},
       {"provenance", row.provenance}}};
  const Json attributes = attributes_json(labels);
  const auto point = [&](const char* key, Json value) {
    return Json{{"attributes", attributes}, {"timeUnixNano", time}, {key, std::move(value)}};
  };
  for (const Metric& m : row.metrics) {
    const std::pair<std::string, std::string> labels_of = name_and_unit(m.name);
    const auto& name = labels_of.first;  // Clang 14 captures no structured binding
    const auto& unit = labels_of.second;
    out.add(name, unit, m.is_bigger_better ? "more is better" : "less is better",
            point("asDouble", m.value));
    const auto end = [&](const char* which, const std::optional<double>& value) {
      if (!value) return;
      out.add(name + '.' + which, unit, "end of the interval of " + name,
              point("asDouble", *value));
    };
    end("low", m.low);
    end("high", m.high);
  }
  if (row.processes > 0) {
    out.add("processes", "{process}", "processes that the figure rests on",
            point("asInt", std::to_string(row.processes)));
  }
}

}  // namespace

std::string otlp_text(const MetricTable& t) {
  const auto time = unix_ns(t.started_utc);
  if (!time) {
    throw refused("no time is stored with these figures, and OTLP wants one of each", t.origin,
                  "take --as csv");
  }
  Gauges gauges(t.is_of_kernels ? "halmark.kernel." : "halmark.deployment.");
  for (const MetricRow& row : t.rows) add_row(row, std::to_string(*time), gauges);
  const std::array<std::pair<const char*, std::string>, 6> about = {
      {{"service.name", "halmark"},
       {"service.version", tool_version},
       {"halmark.fingerprint", t.fingerprint},
       {"halmark.tool", t.tool},
       {"halmark.title", t.title},
       {"halmark.origin", t.origin}}};
  const Json scope = {{"scope", {{"name", "halmark"}, {"version", tool_version}}},
                      {"metrics", gauges.metrics()}};
  const Json resource = {{"resource", {{"attributes", attributes_json(about)}}},
                         {"scopeMetrics", Json::array({scope})}};
  return dump_json({{"resourceMetrics", Json::array({resource})}}, 1) + '\n';
}

}  // namespace halmark::exports
