// The JSON codec of the messages. Closed sets travel as words, so that a frame can be read in a log
// and a word that this build does not know is a damaged peer rather than a wrong number.
#include "host/protocol.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "core/text/enum_names.hpp"
#include "host/protocol_fields.hpp"

namespace halmark::protocol {
namespace {

using Json = nlohmann::json;

// The words of each closed set.
template <class Enum>
struct Words;
template <>
struct Words<Timer> {
  static constexpr const char* what = "a timer";
  static constexpr auto names = enum_names<Timer>("host_clock", "device_event");
};
template <>
struct Words<Stop> {
  static constexpr const char* what = "a way to stop";
  static constexpr auto names = enum_names<Stop>("auto", "count");
};
template <>
struct Words<StopReason> {
  static constexpr const char* what = "a reason to stop";
  static constexpr auto names =
      enum_names<StopReason>("", "ci_width", "noise_settled", "budget", "count", "max_samples",
                             "deadline", "aborted", "pilot");
};
template <>
struct Words<ProbeKind> {
  static constexpr const char* what = "a kind of probe";
  static constexpr auto names =
      enum_names<ProbeKind>("peak_paths", "peak", "clock", "copy", "read", "slices");
};
template <class Enum>
concept HasWords = requires {
  Words<Enum>::names;
};

std::string_view word_of(HasWords auto value) { return Words<decltype(value)>::names.of(value); }

// ---- writing ----------------------------------------------------------------------------------

Json written(const std::string& value) { return value; }
Json written(bool value) { return value; }
Json written(std::integral auto value) { return value; }
Json written(double value) {
  if (!std::isfinite(value)) throw ProtocolError("a figure that is not finite was to be sent");
  return value;
}
Json written(HasWords auto value) { return std::string(word_of(value)); }
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
  template <class T>
  void later(const char* name, const T& value) {
    (*this)(name, value);
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
template <HasWords Enum>
void read(const Json& json, Enum& value) {
  std::string word;
  read(json, word);
  const auto named = Words<Enum>::names.parse(word);
  if (!named) expected(Words<Enum>::what);
  value = *named;
}
void read(const Json& json, CacheMode& value) {
  std::string name;
  read(json, name);
  const auto mode = parse_cache_mode(name);
  // A worker stages arguments; what stands around a kernel is said by a sequence.
  if (!mode || *mode == CacheMode::in_stack) expected("a cache mode");
  value = *mode;
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
  void later(const char* name, T& value) {
    if (object.contains(name)) (*this)(name, value);
  }
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

std::string_view name_of(Timer timer) { return word_of(timer); }
std::string_view name_of(Stop stop) { return word_of(stop); }
std::string_view name_of(StopReason reason) { return word_of(reason); }
std::string_view name_of(ProbeKind kind) { return word_of(kind); }

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
HALMARK_MESSAGE(MemoryAnswer)
HALMARK_MESSAGE(TokenAnswer)
HALMARK_MESSAGE(Join)
HALMARK_MESSAGE(PhaseNote)
HALMARK_MESSAGE(Failed)
#undef HALMARK_MESSAGE

}  // namespace halmark::protocol
