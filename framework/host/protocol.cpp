// The JSON codec of the messages. Closed sets travel as words, so that a frame can be read in a log
// and a word that this build does not know is a damaged peer rather than a wrong number.
#include "host/protocol.hpp"

#include "core/fields/json_visitor.hpp"
#include "core/json/json.hpp"
#include "core/text/enum_names.hpp"
#include "host/protocol_fields.hpp"

namespace halmark {
namespace protocol {
namespace {

constexpr auto timers = enum_names<Timer>("host_clock", "device_event");
constexpr auto stops = enum_names<Stop>("auto", "count");
constexpr auto stop_reasons =
    enum_names<StopReason>("", "ci_width", "noise_settled", "budget", "count", "max_samples",
                           "deadline", "aborted", "pilot");
constexpr auto probe_kinds =
    enum_names<ProbeKind>("peak_paths", "peak", "clock", "copy", "read", "slices");

}  // namespace

std::string_view name_of(Timer timer) { return timers.of(timer); }
std::string_view name_of(Stop stop) { return stops.of(stop); }
std::string_view name_of(StopReason reason) { return stop_reasons.of(reason); }
std::string_view name_of(ProbeKind kind) { return probe_kinds.of(kind); }

}  // namespace protocol

template <>
inline constexpr ClosedSet<protocol::Timer> closed_set<protocol::Timer>{
    "a timer", protocol::name_of,
    [](std::string_view text) { return protocol::timers.parse(text); }};
template <>
inline constexpr ClosedSet<protocol::Stop> closed_set<protocol::Stop>{
    "a way to stop", protocol::name_of,
    [](std::string_view text) { return protocol::stops.parse(text); }};
template <>
inline constexpr ClosedSet<protocol::StopReason> closed_set<protocol::StopReason>{
    "a reason to stop", protocol::name_of,
    [](std::string_view text) { return protocol::stop_reasons.parse(text); }};
template <>
inline constexpr ClosedSet<protocol::ProbeKind> closed_set<protocol::ProbeKind>{
    "a kind of probe", protocol::name_of,
    [](std::string_view text) { return protocol::probe_kinds.parse(text); }};

namespace protocol {
namespace {

// The library parses any depth and then overflows the stack when such a value is copied.
Json parse(std::string_view payload) {
  const auto gate = [](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > max_json_depth) throw ProtocolError("JSON nested too deep");
    if (event == Json::parse_event_t::array_end && parsed.size() > max_list_items) {
      throw ProtocolError("expected a shorter list");
    }
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
  try {
    return dump_json(json_fields::written(message));
  } catch (const std::logic_error& error) {
    throw ProtocolError(error.what());
  }
}

template <class Message>
Message decode(std::string_view payload) {
  Message message;
  const Json document = parse(payload);
  try {
    json_fields::read(document, message);
  } catch (const std::invalid_argument& error) {
    throw ProtocolError(error.what());
  }
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

}  // namespace protocol
}  // namespace halmark
