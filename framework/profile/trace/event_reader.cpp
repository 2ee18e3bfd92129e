#include "profile/trace/event_reader.hpp"

#include <simdjson.h>

#include <cmath>
#include <utility>

#include "core/text/error.hpp"

namespace halmark::trace {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(EventCutter::padding > simdjson::SIMDJSON_PADDING);

// Keys of events have no escapes; one that has is no key that is asked for.
std::string_view key_text(ondemand::raw_json_string key) {
  const char* const begin = key.raw();
  const char* end = begin;
  while (*end != '"') ++end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string_view trimmed(std::string_view token) {
  while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\t' ||
                            token.back() == '\r')) {
    token.remove_suffix(1);
  }
  return token;
}

// Ids are numbers, in some versions as text.
std::optional<std::uint64_t> id_of(ondemand::value value) {
  std::uint64_t out = 0;
  if (value.get_uint64().get(out) == simdjson::SUCCESS) return out;
  return std::nullopt;
}

std::string_view array_text(ondemand::value value) {
  ondemand::array array;
  std::string_view out;
  if (value.get_array().get(array) != simdjson::SUCCESS) return {};
  if (array.raw_json().get(out) != simdjson::SUCCESS) return {};
  return out;
}

class BlockReader {
 public:
  BlockReader(std::string where, const std::function<void(const Event&)>& take)
      : where_(std::move(where)), take_(take) {}

  std::uint64_t read(const EventBlock& block) {
    ondemand::document document;
    check(parser_
              .iterate(block.text.data(), block.text.size(),
                       block.text.size() + simdjson::SIMDJSON_PADDING)
              .get(document),
          block, 0);
    ondemand::array events;
    check(document.get_array().get(events), block, 0);
    std::uint64_t count = 0;
    std::uint64_t at = 0;
    for (auto element : events) {
      ondemand::object object;
      check(element.get_object().get(object), block, at);
      at = position(document, block);
      read_event(object, block, at);
      ++count;
    }
    return count;
  }

 private:
  static std::uint64_t position(ondemand::document& document, const EventBlock& block) {
    const char* location = nullptr;
    if (document.current_location().get(location) != simdjson::SUCCESS) return 0;
    return static_cast<std::uint64_t>(location - block.text.data());
  }

  void check(simdjson::error_code error, const EventBlock& block, std::uint64_t at) const {
    if (error == simdjson::SUCCESS) return;
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    throw refused(
        "is no valid JSON in the event here: " + std::string(simdjson::error_message(error)),
        where_ + ":byte " + std::to_string(block.offset + at), "write the trace again");
  }

  std::int64_t time_ns(ondemand::value value, std::string_view key, const EventBlock& block,
                       std::uint64_t at) const {
    constexpr double us_max = 4e15;  // begin and end stay within 64 bits of ns
    double us = 0;
    const auto error = value.get_double().get(us);
    if (error != simdjson::SUCCESS || !std::isfinite(us) || std::fabs(us) > us_max) {
      throw refused("has an event whose " + std::string(key) + " is no time in microseconds",
                    where_ + ":byte " + std::to_string(block.offset + at), "write the trace again");
    }
    return std::llround(us * 1e3);
  }

  void read_event(ondemand::object& object, const EventBlock& block, std::uint64_t at) {
    Event event;
    for (auto member : object) {
      ondemand::field field;
      check(std::move(member).get(field), block, at);
      const std::string_view key = key_text(field.key());
      ondemand::value value = field.value();
      if (key == "ph") {
        std::string_view phase;
        if (value.get_string().get(phase) == simdjson::SUCCESS && !phase.empty()) {
          event.phase = phase.front();
        }
      } else if (key == "cat") {
        check(value.get_string().get(event.category), block, at);
      } else if (key == "name") {
        check(value.get_string().get(event.name), block, at);
      } else if (key == "pid") {
        event.process = trimmed(value.raw_json_token());
      } else if (key == "tid") {
        event.thread = trimmed(value.raw_json_token());
      } else if (key == "ts") {
        event.begin_ns = time_ns(value, key, block, at);
      } else if (key == "dur") {
        event.duration_ns = time_ns(value, key, block, at);
      } else if (key == "args") {
        read_args(value, event, block, at);
      }
    }
    if (event.duration_ns < 0) {
      throw refused("has an event that ends before it begins",
                    where_ + ":byte " + std::to_string(block.offset + at), "write the trace again");
    }
    take_(event);
  }

  void read_args(ondemand::value value, Event& event, const EventBlock& block, std::uint64_t at) {
    ondemand::object args;
    if (value.get_object().get(args) != simdjson::SUCCESS) return;
    for (auto member : args) {
      ondemand::field field;
      check(std::move(member).get(field), block, at);
      const std::string_view key = key_text(field.key());
      if (key == "correlation") {
        event.correlation = id_of(field.value());
      } else if (key == "External id" || key == "external id") {
        event.external_id = id_of(field.value());
      } else if (key == "graph node id") {
        event.graph_node = id_of(field.value());
      } else if (key == "Input Dims" || key == "Input dims") {
        event.input_dims = array_text(field.value());
      } else if (key == "Input type") {
        event.input_types = array_text(field.value());
      } else if (key == "Concrete Inputs") {
        event.concrete_inputs = array_text(field.value());
      }
    }
  }

  std::string where_;
  const std::function<void(const Event&)>& take_;
  ondemand::parser parser_;
};

}  // namespace

ReadTotals read_events(ByteSource& source, const std::string& where,
                       const std::function<void(const Event&)>& take, const CutLimits& limits) {
  EventCutter cutter(source, where, limits);
  BlockReader reader(where, take);
  ReadTotals totals;
  EventBlock block;
  while (cutter.next(block)) totals.events += reader.read(block);
  totals.bytes = cutter.bytes_read();
  return totals;
}

}  // namespace halmark::trace
