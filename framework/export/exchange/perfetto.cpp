// A trace of Perfetto: the few messages of its protobuf that slices on tracks need, written by
// hand. Field numbers: protos/perfetto/trace/{trace,trace_packet}.proto and track_event/*.proto of
// https://github.com/google/perfetto; wire format:
// https://protobuf.dev/programming-guides/encoding.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "core/lists.hpp"
#include "export/exchange/exchange.hpp"

namespace halmark::exports {
namespace {

class Message {
 public:
  Message& integer(int field, std::uint64_t value) {
    tag(field, 0);
    varint(value);
    return *this;
  }
  Message& real(int field, double value) {
    tag(field, 1);
    for (auto bits = std::bit_cast<std::uint64_t>(value), i = std::uint64_t{0}; i < 8; ++i) {
      bytes_ += static_cast<char>(bits >> (8 * i) & 0xff);
    }
    return *this;
  }
  Message& text(int field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return text(field, value.bytes_); }
  std::string take() { return std::move(bytes_); }

 private:
  void tag(int field, unsigned wire_type) { varint(as_uint64(field) << 3 | wire_type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// Trace.packet; TracePacket; TrackEvent; TrackDescriptor; DebugAnnotation.
constexpr int packet = 1;
constexpr int timestamp = 8, sequence_id = 10, track_event = 11, track_descriptor = 60;
constexpr int debug_annotation = 4, event_type = 9, track_uuid = 11, category = 22, event_name = 23;
constexpr int uuid = 1, track_name = 2, parent_uuid = 5;
constexpr int note_name = 10, note_integer = 4, note_real = 5, note_text = 6;
constexpr std::uint64_t slice_begin = 1, slice_end = 2;

class Trace {
 public:
  void add(const TimelineGroup& group) {
    const std::uint64_t group_uuid = ++last_uuid_;
    add_packet(Message().message(track_descriptor,
                                 Message().integer(uuid, group_uuid).text(track_name, group.name)));
    for (const TimelineTrack& track : group.tracks) {
      track_ = ++last_uuid_;
      add_packet(Message().message(track_descriptor, Message()
                                                         .integer(uuid, track_)
                                                         .text(track_name, track.name)
                                                         .integer(parent_uuid, group_uuid)));
      for (const Slice& slice : track.slices) add(slice, std::numeric_limits<std::uint64_t>::max());
    }
  }
  std::string take() { return trace_.take(); }

 private:
  // Rounded to whole nanoseconds; the end of what is around it stays the last.
  void add(const Slice& slice, std::uint64_t latest_ns) {
    const std::uint64_t begin_ns = std::min(whole_ns(slice.begin_ns), latest_ns);
    const std::uint64_t end_ns = std::min(whole_ns(slice.begin_ns + slice.duration_ns), latest_ns);
    Message begin;
    for (const SliceNote& note : slice.notes) begin.message(debug_annotation, annotation(note));
    begin.integer(event_type, slice_begin).integer(track_uuid, track_);
    if (!slice.category.empty()) begin.text(category, slice.category);
    begin.text(event_name, slice.name);
    add_event(begin_ns, begin);
    for (const Slice& inner : slice.inside) add(inner, end_ns);
    Message end;
    end.integer(event_type, slice_end).integer(track_uuid, track_);
    add_event(end_ns, end);
  }

  static Message annotation(const SliceNote& note) {
    Message out;
    out.text(note_name, note.first);
    if (const auto* text = std::get_if<std::string>(&note.second)) out.text(note_text, *text);
    if (const auto* real = std::get_if<double>(&note.second)) out.real(note_real, *real);
    if (const auto* integer = std::get_if<std::int64_t>(&note.second)) {
      out.integer(note_integer, as_uint64(*integer));
    }
    return out;
  }

  static std::uint64_t whole_ns(double ns) { return as_uint64(std::llround(ns)); }

  void add_event(std::uint64_t ns, const Message& event) {
    Message out;
    out.integer(timestamp, ns);
    add_packet(out.message(track_event, event));
  }
  void add_packet(Message& message) { trace_.message(packet, message.integer(sequence_id, 1)); }

  Message trace_;
  std::uint64_t last_uuid_ = 0, track_ = 0;
};

}  // namespace

std::string perfetto_trace(const MetricTable& table) {
  Trace out;
  for (const TimelineGroup& group : table.timeline) {
    if (!group.tracks.empty()) out.add(group);
  }
  return out.take();
}

}  // namespace halmark::exports
