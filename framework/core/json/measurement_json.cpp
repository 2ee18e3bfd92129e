// Problems, kernel cases and measurements as JSON.
#include <limits>
#include <stdexcept>

#include "core/json/json_fields.hpp"

namespace halmark {

using json_fields::dtype_at;
using json_fields::number;
using json_fields::status_at;
using json_fields::value_or;

namespace {

bool is_dtype_name(std::string_view name) { return name == "dtype" || name.ends_with("_dtype"); }

CacheMode cache_mode_at(const Json& in, const char* key) {
  const auto text = in.at(key).get<std::string>();
  if (const auto mode = parse_cache_mode(text)) return *mode;
  throw std::invalid_argument("unknown cache mode '" + text + "'");
}

}  // namespace

void to_json(Json& out, const Params& value) {
  out = Json::object();
  for (const Param& item : value.items()) {
    const auto dtype = is_dtype_name(item.name) ? dtype_from_value(item.value) : std::nullopt;
    if (dtype) {
      out[item.name] = std::string(dtype_name(*dtype));
    } else {
      out[item.name] = item.value;
    }
  }
}

void from_json(const Json& in, Params& value) {
  value = Params();
  for (const auto& [name, item] : in.items()) {
    if (item.is_string()) {
      value.set(name, static_cast<std::int64_t>(dtype_at(in, name.c_str())));
    } else {
      value.set(name, item.get<std::int64_t>());
    }
  }
}

void to_json(Json& out, const Problem& value) {
  out = Json{{"op", value.op}, {"params", Json(value.params)}};
}

void from_json(const Json& in, Problem& value) {
  value.op = in.at("op").get<std::string>();
  value.params = in.at("params").get<Params>();
}

void to_json(Json& out, const Config& value) {
  Json labels = Json::object();
  for (const auto& [name, label] : value.labels) labels[name] = label;
  out = Json{{"params", value.params}, {"labels", labels}};
}

void from_json(const Json& in, Config& value) {
  value.params = in.at("params").get<Params>();
  value.labels.clear();
  for (const auto& [name, label] : in.at("labels").items()) {
    value.labels.emplace_back(name, label.get<std::string>());
  }
}

void to_json(Json& out, const KernelCase& value) {
  out = Json{{"problem", value.problem},
             {"config", value.config},
             {"kernel", value.kernel},
             {"backend", value.backend},
             {"device", value.device},
             {"parts", value.parts},
             {"shards_at_once", value.shards_at_once},
             {"mode", std::string(cache_mode_name(value.mode))},
             {"sets", value.sets}};
  if (!value.neighbours.empty()) out["neighbours"] = value.neighbours;
}

void from_json(const Json& in, KernelCase& value) {
  value.problem = in.at("problem").get<Problem>();
  value.config = in.at("config").get<Config>();
  value.kernel = in.at("kernel").get<std::string>();
  value.backend = in.at("backend").get<std::string>();
  value.device = in.at("device").get<std::string>();
  value.parts = in.at("parts").get<int>();
  value.shards_at_once = in.at("shards_at_once").get<int>();
  value.sets = in.at("sets").get<int>();
  value.mode = cache_mode_at(in, "mode");
  value.neighbours = in.value("neighbours", "");
}

void to_json(Json& out, const Interval& value) { out = Json::array({value.low, value.high}); }

void from_json(const Json& in, Interval& value) {
  value = {in.at(0).get<double>(), in.at(1).get<double>()};
}

void to_json(Json& out, const Signal& value) {
  out =
      Json{{"name", value.name}, {"value", optional_number(value.value)}, {"reason", value.reason}};
}

void from_json(const Json& in, Signal& value) {
  value.name = in.at("name").get<std::string>();
  value.value = number(in, "value");
  value.reason = value_or<std::string>(in, "reason", {});
}

void to_json(Json& out, const Implementation& value) {
  out = Json{{"name", value.name},
             {"isa", value.isa},
             {"library", value.library},
             {"library_version", value.library_version}};
}

void from_json(const Json& in, Implementation& value) {
  value.name = in.at("name").get<std::string>();
  value.isa = in.at("isa").get<std::string>();
  value.library = in.at("library").get<std::string>();
  value.library_version = in.at("library_version").get<std::string>();
}

void to_json(Json& out, const OneTimeCost& value) {
  out = Json{
      {"create_ns", value.create_ns}, {"pack_ns", value.pack_ns}, {"first_ns", value.first_ns}};
}

void from_json(const Json& in, OneTimeCost& value) {
  value.create_ns = in.at("create_ns").get<double>();
  value.pack_ns = in.at("pack_ns").get<double>();
  value.first_ns = in.at("first_ns").get<double>();
}

void to_json(Json& out, const Correctness& value) {
  out = Json{{"method", value.method},
             {"checked", value.checked},
             {"worst_ratio", optional_number(value.worst_ratio)}};
}

void from_json(const Json& in, Correctness& value) {
  value.method = in.at("method").get<std::string>();
  value.checked = in.at("checked").get<std::int64_t>();
  // null stands for a ratio beyond every number: a NaN in the output.
  value.worst_ratio = number(in, "worst_ratio").value_or(std::numeric_limits<double>::infinity());
}

void to_json(Json& out, const Measurement& m) {
  out = Json{{"case", m.kernel_case},
             {"round", m.round},
             {"seed", std::to_string(m.seed)},
             {"status", std::string(status_name(m.status))},
             {"reason", m.reason},
             {"phase", m.phase},
             {"plugin",
              {{"name", m.plugin_name},
               {"version", m.plugin_version},
               {"build", m.plugin_build},
               {"hash", m.plugin_hash}}},
             {"implementation", m.implementation},
             {"workspace_bytes", m.workspace_bytes},
             {"constant_bytes", m.constant_bytes},
             {"one_time", m.one_time},
             {"samples_dropped", m.samples_dropped},
             {"repeat", m.repeat},
             {"stop_rule", m.stop_rule},
             {"wall_s", m.wall_s},
             {"duration_ns_median", m.duration_ns_median},
             {"duration_ns_interval", m.duration_ns_interval},
             {"duration_ns_min", m.duration_ns_min},
             {"relative_iqr", m.relative_iqr},
             {"signals", m.signals},
             {"clock_hz_before", optional_number(m.clock_hz_before)},
             {"clock_hz_after", optional_number(m.clock_hz_after)},
             {"peak_flops_before", optional_number(m.peak_flops_before)},
             {"peak_flops_after", optional_number(m.peak_flops_after)},
             {"bandwidth_before", optional_number(m.bandwidth.before)},
             {"bandwidth_after", optional_number(m.bandwidth.after)},
             {"bandwidth_age_s", optional_number(m.bandwidth.age_s)},
             {"bandwidth_reason", m.bandwidth.reason},
             {"correctness", m.correctness},
             {"environment", m.environment}};
}

void from_json(const Json& in, Measurement& m) {
  m.kernel_case = in.at("case").get<KernelCase>();
  m.round = in.at("round").get<int>();
  m.seed = std::stoull(in.at("seed").get<std::string>());
  m.status = status_at(in, "status");
  m.reason = in.at("reason").get<std::string>();
  m.phase = in.at("phase").get<std::string>();
  const Json& plugin = in.at("plugin");
  m.plugin_name = plugin.at("name").get<std::string>();
  m.plugin_version = plugin.at("version").get<std::string>();
  m.plugin_build = plugin.at("build").get<std::string>();
  m.plugin_hash = plugin.at("hash").get<std::string>();
  m.implementation = in.at("implementation").get<Implementation>();
  m.workspace_bytes = in.at("workspace_bytes").get<std::int64_t>();
  m.constant_bytes = in.at("constant_bytes").get<std::int64_t>();
  m.one_time = in.at("one_time").get<OneTimeCost>();
  m.samples_dropped = in.at("samples_dropped").get<std::int64_t>();
  m.repeat = in.at("repeat").get<std::int64_t>();
  m.stop_rule = in.at("stop_rule").get<std::string>();
  m.wall_s = in.at("wall_s").get<double>();
  m.duration_ns_median = in.at("duration_ns_median").get<double>();
  m.duration_ns_interval = in.at("duration_ns_interval").get<Interval>();
  m.duration_ns_min = in.at("duration_ns_min").get<double>();
  m.relative_iqr = in.at("relative_iqr").get<double>();
  m.signals = in.at("signals").get<std::vector<Signal>>();
  m.clock_hz_before = number(in, "clock_hz_before");
  m.clock_hz_after = number(in, "clock_hz_after");
  m.peak_flops_before = number(in, "peak_flops_before");
  m.peak_flops_after = number(in, "peak_flops_after");
  m.bandwidth = {number(in, "bandwidth_before"), number(in, "bandwidth_after"),
                 number(in, "bandwidth_age_s"),
                 value_or<std::string>(in, "bandwidth_reason", "not recorded")};
  m.correctness = in.at("correctness").get<Correctness>();
  m.environment = in.at("environment").get<std::string>();
}

}  // namespace halmark
