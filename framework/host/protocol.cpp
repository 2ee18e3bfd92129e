// The JSON codec: one field list per message serves writing and reading.
#include "host/protocol.hpp"

#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

namespace halmark::protocol {
namespace {

using Json = nlohmann::json;

// Matches both T& (reading) and const T& (writing), so each list stands once.
template <class T, class U>
concept Of = std::same_as<std::remove_const_t<T>, U>;

template <class V, Of<Hello> M>
void fields(V& v, M& m) {
  v("protocol", m.protocol);
  v("token", m.token);
  v("arena_bytes", m.arena_bytes);
  v("memory_limit_bytes", m.memory_limit_bytes);
  v("cache_dir", m.cache_dir);
  v("rank", m.rank);
  v("pid", m.pid);
  v("build", m.build);
  v("cpus", m.cpus);
}
template <class V, Of<Load> M>
void fields(V& v, M& m) {
  v("path", m.path);
}
template <class V, Of<DeviceDescription> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("name", m.name);
  v("isa", m.isa);
  v("driver", m.driver);
  v("kind", m.kind);
  v("timer", m.timer);
  v("synchronous", m.synchronous);
  v("memory_bytes", m.memory_bytes);
  v("cache_bytes", m.cache_bytes);
  v("compute_units", m.compute_units);
  v("clock_hz_max", m.clock_hz_max);
}
template <class V, Of<KernelDescription> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("op", m.op);
  v("collective", m.collective);
}
template <class V, Of<PluginDescription> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("plugin_version", m.plugin_version);
  v("build", m.build);
  v("abi_version", m.abi_version);
  v("has_comm", m.has_comm);
  v("has_probe", m.has_probe);
  v("devices", m.devices);
  v("kernels", m.kernels);
  v("log", m.log);
}
template <class V, Of<Refused> M>
void fields(V& v, M& m) {
  v("reason", m.reason);
}
template <class V, Of<Open> M>
void fields(V& v, M& m) {
  v("device", m.device);
  v("options", m.options);
}
template <class V, Of<DomainsRequest> M>
void fields(V& v, M& m) {
  v("kernel", m.kernel);
  v("problem", m.problem);
}
template <class V, Of<DomainDescription> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("values", m.values);
  v("labels", m.labels);
  v("ordered", m.ordered);
  v("default_value", m.default_value);
}
template <class V, Of<DomainsAnswer> M>
void fields(V& v, M& m) {
  v("domains", m.domains);
}
template <class V, Of<SupportsRequest> M>
void fields(V& v, M& m) {
  v("kernel", m.kernel);
  v("problem", m.problem);
  v("configs", m.configs);
}
template <class V, Of<SupportsAnswer> M>
void fields(V& v, M& m) {
  v("status", m.status);
  v("reason", m.reason);
}
template <class V, Of<Stage> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("kernel", m.kernel);
  v("problem", m.problem);
  v("config", m.config);
  v("mode", m.mode);
  v("sets", m.sets);
  v("seed", m.seed);
  v("rank", m.rank);
  v("ranks", m.ranks);
}
template <class V, Of<Implementation> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("isa", m.isa);
  v("library", m.library);
  v("library_version", m.library_version);
}
template <class V, Of<OneTimeCost> M>
void fields(V& v, M& m) {
  v("create_ns", m.create_ns);
  v("pack_ns", m.pack_ns);
  v("first_ns", m.first_ns);
}
template <class V, Of<Staged> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("kernel", m.kernel);
  v("implementation", m.implementation);
  v("one_time", m.one_time);
  v("workspace_bytes", m.workspace_bytes);
  v("constant_bytes", m.constant_bytes);
  v("sets", m.sets);
  v("nondeterministic", m.nondeterministic);
  v("constants_opaque", m.constants_opaque);
  v("constants_shared", m.constants_shared);
}
template <class V, Of<Drop> M>
void fields(V& v, M& m) {
  v("id", m.id);
}
template <class V, Of<Reveal> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("sets", m.sets);
  v("inputs_from", m.inputs_from);
}
template <class V, Of<RevealedPart> M>
void fields(V& v, M& m) {
  v("set", m.set);
  v("operand", m.operand);
  v("offset", m.offset);
  v("bytes", m.bytes);
}
template <class V, Of<Revealed> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("parts", m.parts);
  v("inputs_intact", m.inputs_intact);
  v("canaries_intact", m.canaries_intact);
  v("damage", m.damage);
}
template <class V, Of<SampleRule> M>
void fields(V& v, M& m) {
  v("stop", m.stop);
  v("count", m.count);
  v("min_samples", m.min_samples);
  v("max_samples", m.max_samples);
  v("ci_half_width", m.ci_half_width);
  v("min_sample_ns", m.min_sample_ns);
  v("repeat", m.repeat);
  v("warmup_cap_s", m.warmup_cap_s);
  v("budget_s", m.budget_s);
}
template <class V, Of<Barrier> M>
void fields(V& v, M& m) {
  v("parties", m.parties);
  v("index", m.index);
}
template <class V, Of<SampleRequest> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("rule", m.rule);
  v("wall_cap_s", m.wall_cap_s);
  v("barrier", m.barrier);
  v("pilot_only", m.pilot_only);
}
template <class V, Of<Signal> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("value", m.value);
  v("reason", m.reason);
}
template <class V, Of<Measured> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("stop_rule", m.stop_rule);
  v("repeat", m.repeat);
  v("samples", m.samples);
  v("signals", m.signals);
  v("clock_hz_before", m.clock_hz_before);
  v("clock_hz_after", m.clock_hz_after);
  v("peak_before", m.peak_before);
  v("peak_after", m.peak_after);
  v("environment", m.environment);
}
template <class V, Of<SequenceStep> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("set", m.set);
}
template <class V, Of<SequenceRequest> M>
void fields(V& v, M& m) {
  v("steps", m.steps);
  v("repeat", m.repeat);
  v("warmup", m.warmup);
  v("wall_cap_s", m.wall_cap_s);
  v("barrier", m.barrier);
  v("chains_activations", m.chains_activations);
}
template <class V, Of<ProbeRequest> M>
void fields(V& v, M& m) {
  v("kind", m.kind);
  v("path", m.path);
  v("isa", m.isa);
  v("threads", m.threads);
  v("windows", m.windows);
  v("window_ms", m.window_ms);
  v("working_set_bytes", m.working_set_bytes);
}
template <class V, Of<ProbeAnswer::Path> M>
void fields(V& v, M& m) {
  v("path", m.path);
  v("isa", m.isa);
  v("dtype", m.dtype);
}
template <class V, Of<ProbeAnswer> M>
void fields(V& v, M& m) {
  v("paths", m.paths);
  v("rates", m.rates);
  v("reason", m.reason);
}
template <class V, Of<TokenAnswer> M>
void fields(V& v, M& m) {
  v("hex", m.hex);
}
template <class V, Of<Join> M>
void fields(V& v, M& m) {
  v("token_hex", m.token_hex);
  v("rank", m.rank);
  v("size", m.size);
}
template <class V, Of<PhaseNote> M>
void fields(V& v, M& m) {
  v("phase", m.phase);
}
template <class V, Of<Failed> M>
void fields(V& v, M& m) {
  v("code", m.code);
  v("phase", m.phase);
  v("message", m.message);
}

// ---- writing ----------------------------------------------------------------------------------

Json written(const std::string& value) { return value; }
Json written(bool value) { return value; }
Json written(std::integral auto value) { return value; }
Json written(double value) {
  if (!std::isfinite(value)) throw ProtocolError("a figure that is not finite was to be sent");
  return value;
}
Json written(Dtype value) { return std::string(dtype_name(value)); }
Json written(CacheMode value) { return std::string(cache_mode_name(value)); }
Json written(const Params& params) {
  Json object = Json::object();
  for (const Param& param : params.items()) object[param.name] = param.value;
  return object;
}
Json written(const Config& config) {
  Json labels = Json::array();
  for (const auto& [name, label] : config.labels) labels.push_back(Json::array({name, label}));
  return {{"params", written(config.params)}, {"labels", std::move(labels)}};
}
Json written(const Problem& problem) {
  return {{"op", problem.op}, {"params", written(problem.params)}};
}
template <class T>
Json written(const std::optional<T>& value);
template <class T>
Json written(const std::vector<T>& values);
template <class T>
requires std::is_class_v<T> Json written(const T& message);

struct Writer {
  Json object = Json::object();
  template <class T>
  void operator()(const char* name, const T& value) {
    object[name] = written(value);
  }
};

template <class T>
Json written(const std::optional<T>& value) {
  return value ? written(*value) : Json();
}
template <class T>
Json written(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(written(value));
  return list;
}
template <class T>
requires std::is_class_v<T> Json written(const T& message) {
  Writer writer;
  fields(writer, message);
  return std::move(writer.object);
}

// ---- reading ----------------------------------------------------------------------------------

[[noreturn]] void expected(const char* what) {
  throw ProtocolError(std::string("expected ") + what);
}

void read(const Json& json, std::string& value) {
  if (!json.is_string()) expected("a string");
  value = json.get_ref<const std::string&>();
}
void read(const Json& json, bool& value) {
  if (!json.is_boolean()) expected("true or false");
  value = json.get<bool>();
}
template <std::integral T>
void read(const Json& json, T& value) {
  if (json.is_number_unsigned()) {
    const auto wide = json.get<std::uint64_t>();
    if (!std::in_range<T>(wide)) expected("an integer in range");
    value = static_cast<T>(wide);
  } else if (json.is_number_integer()) {
    const auto wide = json.get<std::int64_t>();
    if (!std::in_range<T>(wide)) expected("an integer in range");
    value = static_cast<T>(wide);
  } else {
    expected("an integer");
  }
}
void read(const Json& json, double& value) {
  if (!json.is_number()) expected("a number");
  value = json.get<double>();
  if (!std::isfinite(value)) expected("a finite number");
}
void read(const Json& json, Dtype& value) {
  std::string name;
  read(json, name);
  const auto parsed = parse_dtype(name);
  if (!parsed) expected("a dtype");
  value = *parsed;
}
void read(const Json& json, CacheMode& value) {
  std::string name;
  read(json, name);
  for (CacheMode mode :
       {CacheMode::hot, CacheMode::rotate_const, CacheMode::rotate_all, CacheMode::flush}) {
    if (cache_mode_name(mode) == name) {
      value = mode;
      return;
    }
  }
  expected("a cache mode");
}
void check_count(const Json& json) {
  if (json.size() > max_list_items) expected("a shorter list");
}
const Json& member(const Json& json, const char* name) {
  if (!json.is_object()) expected("an object");
  const auto found = json.find(name);
  if (found == json.end()) throw ProtocolError(std::string("field '") + name + "' is missing");
  return *found;
}
void read(const Json& json, Params& params) {
  if (!json.is_object()) expected("an object of parameters");
  check_count(json);
  for (const auto& [name, value] : json.items()) {
    std::int64_t number = 0;
    read(value, number);
    params.set(name, number);
  }
}
void read(const Json& json, Config& config) {
  read(member(json, "params"), config.params);
  const Json& labels = member(json, "labels");
  if (!labels.is_array()) expected("a list of labels");
  check_count(labels);
  for (const Json& pair : labels) {
    if (!pair.is_array() || pair.size() != 2) expected("a pair of name and label");
    auto& [name, label] = config.labels.emplace_back();
    read(pair[0], name);
    read(pair[1], label);
  }
}
void read(const Json& json, Problem& problem) {
  read(member(json, "op"), problem.op);
  read(member(json, "params"), problem.params);
}
template <class T>
void read(const Json& json, std::optional<T>& value);
template <class T>
void read(const Json& json, std::vector<T>& values);
template <class T>
requires std::is_class_v<T>
void read(const Json& json, T& message);

struct Reader {
  const Json& object;
  template <class T>
  void operator()(const char* name, T& value) {
    const Json& field = member(object, name);
    try {
      read(field, value);
    } catch (const ProtocolError& error) {
      throw ProtocolError(std::string(name) + ": " + error.what());
    }
  }
};

template <class T>
void read(const Json& json, std::optional<T>& value) {
  if (json.is_null()) {
    value.reset();
  } else {
    read(json, value.emplace());
  }
}
template <class T>
void read(const Json& json, std::vector<T>& values) {
  if (!json.is_array()) expected("a list");
  check_count(json);
  values.clear();
  values.reserve(json.size());
  for (const Json& item : json) read(item, values.emplace_back());
}
template <class T>
requires std::is_class_v<T>
void read(const Json& json, T& message) {
  if (!json.is_object()) expected("an object");
  Reader reader{json};
  fields(reader, message);
}

// The library parses any depth and then overflows the stack when such a value is copied.
Json parse(std::string_view payload) {
  const auto gate = [](int depth, Json::parse_event_t, Json&) {
    if (depth > max_json_depth) throw ProtocolError("JSON nested too deep");
    return true;
  };
  try {
    return Json::parse(payload.begin(), payload.end(), gate);
  } catch (const Json::exception& error) {
    throw ProtocolError(std::string("not JSON: ") + error.what());
  }
}

}  // namespace

template <class Message>
std::string encode(const Message& message) {
  // Text of a plugin may be any bytes; a frame must still be UTF-8.
  return written(message).dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Message>
Message decode(std::string_view payload) {
  Message message;
  read(parse(payload), message);
  return message;
}

#define HALMARK_MESSAGE(T)                  \
  template std::string encode<T>(const T&); \
  template T decode<T>(std::string_view);
HALMARK_MESSAGE(Hello)
HALMARK_MESSAGE(Load)
HALMARK_MESSAGE(DeviceDescription)
HALMARK_MESSAGE(PluginDescription)
HALMARK_MESSAGE(Refused)
HALMARK_MESSAGE(Open)
HALMARK_MESSAGE(DomainsRequest)
HALMARK_MESSAGE(DomainsAnswer)
HALMARK_MESSAGE(SupportsRequest)
HALMARK_MESSAGE(SupportsAnswer)
HALMARK_MESSAGE(Stage)
HALMARK_MESSAGE(Staged)
HALMARK_MESSAGE(Drop)
HALMARK_MESSAGE(Reveal)
HALMARK_MESSAGE(Revealed)
HALMARK_MESSAGE(SampleRequest)
HALMARK_MESSAGE(Measured)
HALMARK_MESSAGE(SequenceRequest)
HALMARK_MESSAGE(ProbeRequest)
HALMARK_MESSAGE(ProbeAnswer)
HALMARK_MESSAGE(TokenAnswer)
HALMARK_MESSAGE(Join)
HALMARK_MESSAGE(PhaseNote)
HALMARK_MESSAGE(Failed)
#undef HALMARK_MESSAGE

}  // namespace halmark::protocol
