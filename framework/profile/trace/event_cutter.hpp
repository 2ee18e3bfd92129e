// Cuts the event array of a trace into runs of whole events without reading the whole file. Knows
// strings, escapes and brackets of JSON; what an event means is read in event_reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/trace/byte_source.hpp"

namespace halmark::trace {

struct CutLimits {
  std::size_t block_bytes = 1u << 20;       // read at a time
  std::size_t event_bytes_max = 16u << 20;  // one event
};

// The JSON text of some events, "[{...},{...}]", with `padding` readable bytes behind it.
struct EventBlock {
  std::string_view text;
  std::uint64_t offset = 0;  // of its first event in the unpacked file
};

class EventCutter {
 public:
  static constexpr std::size_t padding = 80;

  EventCutter(ByteSource& source, std::string where, const CutLimits& limits);

  // False after the last event, when the rest of the file was well-formed too. The text is valid
  // until the next call. Throws Error (exit 2) that names file and byte.
  bool next(EventBlock& out);

  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  enum class Stage { head, events, done };
  // Between two events of the array: what may come.
  enum class Separator { nothing, element, comma };

  void read_head();
  void read_members();
  void read_end();
  void skip_member_value();
  std::string member_key();
  char skip_space();
  char peek();
  char take();
  bool fill();
  // Moves scan_ over whole events; true when the array has ended.
  bool scan_events();
  // Moves scan_ behind the string's closing quote; false where the buffer ends before it.
  bool scan_string();
  void open_bracket(char c);
  void close_bracket(char c);
  void check_event_size(std::size_t end) const;
  void between_events(char c);
  [[noreturn]] void fail(const std::string& what, std::size_t at) const;

  ByteSource& source_;
  std::string where_;
  CutLimits limits_;
  std::vector<char> buffer_;  // [0] is kept free for the block's bracket
  std::size_t begin_ = 1, end_ = 1, scan_ = 1;
  std::size_t event_begin_ = 1;
  std::size_t block_end_ = 1;        // behind the last whole event
  char under_bracket_ = 0;           // what the block's closing bracket stands on
  bool has_block_ = false;           // one is out, with that bracket in place
  std::uint64_t buffer_offset_ = 0;  // position in the file of buffer_[1]
  std::uint64_t bytes_read_ = 0;
  std::uint64_t nesting_ = 0;  // one bit per open bracket: 1 = object
  int depth_ = 0;
  bool in_string_ = false;
  bool is_object_ = false;
  bool has_member_ = false, has_events_ = false;
  bool at_end_ = false;
  Separator separator_ = Separator::nothing;
  Stage stage_ = Stage::head;
};

}  // namespace halmark::trace
