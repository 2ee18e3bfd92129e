// Bytes of a trace in order, plain or gzip. Which of the two is told by content, never by suffix.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/input/input_kind.hpp"

namespace halmark::trace {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `out` from its front; fewer bytes only at the end, 0 after it. Throws Error (exit 2) when
  // the file cannot be read, is cut short, or unpacks beyond the limits.
  virtual std::size_t read(std::span<char> out) = 0;
};

// How large a file may be, and what a gzip file may become.
struct UnpackLimits {
  std::uint64_t bytes_max = trace_input.bytes_max;
  double ratio_max = unpacked_ratio_max;  // looked at from the first unpacked MiB on
};

// "-" is a pipe on standard input.
std::unique_ptr<ByteSource> open_bytes(const std::string& path, const UnpackLimits& limits = {});
// The same over text in memory; `where` names it in errors.
std::unique_ptr<ByteSource> bytes_of(std::string text, const std::string& where,
                                     const UnpackLimits& limits = {});

}  // namespace halmark::trace
