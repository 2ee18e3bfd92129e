#include "profile/trace/event_cutter.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/text/error.hpp"

namespace halmark::trace {
namespace {

constexpr int depth_max = 60;  // one bit each, and far beyond what a profiler writes

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Bytes that the scan outside of strings has to look at.
constexpr std::array<bool, 256> marks = [] {
  std::array<bool, 256> out{};
  for (const unsigned char c : {'"', '{', '}', '[', ']'}) out[c] = true;
  return out;
}();

}  // namespace

EventCutter::EventCutter(ByteSource& source, std::string where, const CutLimits& limits)
    : source_(source), where_(std::move(where)), limits_(limits) {
  limits_.block_bytes = std::max<std::size_t>(limits_.block_bytes, 16);
  buffer_.resize(1 + limits_.block_bytes + padding);
}

void EventCutter::fail(const std::string& what, std::size_t at) const {
  throw refused(what, where_ + ":byte " + std::to_string(buffer_offset_ + at - 1),
                "name a torch-profiler trace: an object with traceEvents, or an array of events");
}

// Keeps [begin_, end_), moves it to the front and reads behind it. False at the end of the file.
bool EventCutter::fill() {
  if (at_end_) return false;
  const std::size_t kept = end_ - begin_;
  if (kept + limits_.block_bytes > buffer_.size() - 1 - padding) {
    buffer_.resize(1 + kept + limits_.block_bytes + padding);
  }
  std::memmove(buffer_.data() + 1, buffer_.data() + begin_, kept);
  buffer_offset_ += begin_ - 1;
  scan_ -= begin_ - 1;
  event_begin_ -= begin_ - 1;
  block_end_ = 1;
  begin_ = 1;
  end_ = 1 + kept;
  const std::size_t n = source_.read(std::span(buffer_).subspan(end_, limits_.block_bytes));
  end_ += n;
  bytes_read_ += n;
  at_end_ = n == 0;
  return n > 0;
}

char EventCutter::peek() {
  if (scan_ == end_) {
    begin_ = scan_;
    if (!fill()) fail("ends in the middle of its JSON", scan_);
  }
  return buffer_[scan_];
}

char EventCutter::take() {
  const char c = peek();
  ++scan_;
  return c;
}

char EventCutter::skip_space() {
  while (is_space(peek())) ++scan_;
  return peek();
}

std::string EventCutter::member_key() {
  if (skip_space() != '"') fail("a member name is expected", scan_);
  ++scan_;
  std::string out;
  for (char c = take(); c != '"'; c = take()) {
    out += c;
    if (c == '\\') out += take();
    if (out.size() > 4096) fail("a member name is longer than 4096 bytes", scan_);
  }
  if (skip_space() != ':') fail("':' is expected behind a member name", scan_);
  ++scan_;
  return out;
}

// Any value: brackets are counted, strings are walked, the rest is taken as it comes.
void EventCutter::skip_member_value() {
  const int base = depth_;
  skip_space();
  do {
    const char c = take();
    if (c == '"') {
      for (char s = take(); s != '"'; s = take()) {
        if (s == '\\') take();
      }
    } else if (c == '{' || c == '[') {
      open_bracket(c);
    } else if (c == '}' || c == ']') {
      close_bracket(c);
    }
    if (depth_ == base) {
      const char next = skip_space();
      if (next == ',' || next == '}') return;
    }
  } while (true);
}

void EventCutter::read_head() {
  if (peek() == '\xef') scan_ += std::min<std::size_t>(3, end_ - scan_);  // byte order mark
  const char first = skip_space();
  if (first == '\x1f') fail("is a gzip file inside a gzip file", scan_);
  if (first != '[' && first != '{') fail("is neither a JSON object nor an array", scan_);
  ++scan_;
  is_object_ = first == '{';
  if (is_object_) {
    read_members();
    if (stage_ == Stage::done) fail("has no traceEvents", scan_);
  } else {
    begin_ = scan_;
    stage_ = Stage::events;
  }
}

// Members of the outer object up to the events, or to its end.
void EventCutter::read_members() {
  while (true) {
    const char c = skip_space();
    if (c == '}') break;
    if (has_member_) {
      if (c != ',') fail("',' or '}' is expected behind a member", scan_);
      ++scan_;
    }
    has_member_ = true;
    if (member_key() != "traceEvents") {
      skip_member_value();
      continue;
    }
    if (has_events_) fail("has traceEvents twice", scan_);
    has_events_ = true;
    if (skip_space() != '[') fail("traceEvents is no array", scan_);
    ++scan_;
    begin_ = scan_;
    stage_ = Stage::events;
    return;
  }
  ++scan_;
  read_end();
}

void EventCutter::read_end() {
  stage_ = Stage::done;
  do {
    for (; scan_ < end_; ++scan_) {
      if (!is_space(buffer_[scan_])) fail("has text behind its end", scan_);
    }
    begin_ = scan_;
  } while (fill());
}

void EventCutter::open_bracket(char c) {
  if (++depth_ > depth_max) {
    fail("is nested deeper than " + std::to_string(depth_max) + " levels", scan_ - 1);
  }
  nesting_ = nesting_ << 1 | (c == '{' ? 1u : 0u);
}

void EventCutter::close_bracket(char c) {
  if (depth_ == 0 || (nesting_ & 1) != (c == '}' ? 1u : 0u)) {
    fail("has a bracket that closes nothing", scan_ - 1);
  }
  nesting_ >>= 1;
  --depth_;
}

void EventCutter::check_event_size(std::size_t end) const {
  if (end - event_begin_ <= limits_.event_bytes_max) return;
  fail("has an event larger than " + std::to_string(limits_.event_bytes_max) + " bytes",
       event_begin_);
}

bool EventCutter::scan_string() {
  const char* const data = buffer_.data();
  for (std::size_t from = scan_; from < end_;) {
    const auto* quote = static_cast<const char*>(std::memchr(data + from, '"', end_ - from));
    if (quote == nullptr) return false;
    const auto at = static_cast<std::size_t>(quote - data);
    std::size_t first = at;
    while (first > scan_ && data[first - 1] == '\\') --first;
    from = at + 1;
    if ((at - first) % 2 == 0) {
      scan_ = from;
      return true;
    }
  }
  return false;
}

void EventCutter::between_events(char c) {
  if (c == ',' && separator_ == Separator::element) {
    separator_ = Separator::comma;
  } else if (!is_space(c)) {
    fail(c == ',' ? "has a comma without an event before it"
                  : "has something in traceEvents that is no object",
         scan_);
  }
}

bool EventCutter::scan_events() {
  while (scan_ < end_) {
    if (in_string_) {
      if (!scan_string()) return false;
      in_string_ = false;
      continue;
    }
    if (depth_ == 0) {
      const char c = buffer_[scan_];
      if (c == ']') {
        if (separator_ == Separator::comma) fail("has a comma before the end of its events", scan_);
        return true;
      }
      if (c != '{') {
        between_events(c);
        ++scan_;
        if (block_end_ <= begin_) begin_ = scan_;  // space before an event is no part of it
        continue;
      }
      if (separator_ == Separator::element) fail("has no comma between two events", scan_);
      event_begin_ = scan_++;
      open_bracket('{');
    }
    while (scan_ < end_ && !marks[static_cast<unsigned char>(buffer_[scan_])]) ++scan_;
    if (scan_ == end_) return false;
    const char c = buffer_[scan_++];
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      open_bracket(c);
    } else {
      close_bracket(c);
      if (depth_ == 0) {
        check_event_size(scan_);
        separator_ = Separator::element;
        block_end_ = scan_;
      }
    }
  }
  return false;
}

bool EventCutter::next(EventBlock& out) {
  if (has_block_) {
    buffer_[block_end_] = under_bracket_;
    begin_ = block_end_;
    has_block_ = false;
  }
  if (stage_ == Stage::head) read_head();
  while (stage_ == Stage::events) {
    const bool is_last = scan_events();
    if (block_end_ > begin_) {
      std::size_t first = begin_;
      while (buffer_[first] != '{') ++first;
      buffer_[first - 1] = '[';
      under_bracket_ = buffer_[block_end_];
      buffer_[block_end_] = ']';
      has_block_ = true;
      out = {{buffer_.data() + first - 1, block_end_ - first + 2}, buffer_offset_ + first - 1};
      return true;
    }
    if (is_last) {
      begin_ = ++scan_;
      if (is_object_) {
        read_members();
      } else {
        read_end();
      }
      continue;
    }
    if (depth_ > 0) check_event_size(end_);
    if (!fill()) fail("ends in the middle of its events", end_);
  }
  return false;
}

}  // namespace halmark::trace
