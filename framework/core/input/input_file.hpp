// The one way to open a file that comes from outside: a regular file below its limit, or "-" for a
// pipe on standard input. Nothing else is opened, so that nothing can block, never end or answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/input/input_kind.hpp"

namespace halmark {

class InputFile {
 public:
  // Throws Error (exit 2) for what is absent, unreadable, no regular file (folder, FIFO, socket,
  // device) or larger than the kind allows. Of symbolic links the target is judged. Never waits.
  InputFile(const std::string& path, const InputKind& kind);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Fills `out` from its front; fewer bytes only at the end, 0 after it. Throws Error (exit 2) when
  // reading fails, when a pipe gives more than the limit, and at the end when a file has not the
  // bytes that it had when it was opened.
  std::size_t read(std::span<char> out);
  // Fills all of `out` with what stands at `offset` of a file, wherever reading has come to. Both
  // lie inside `bytes()`; a pipe has no places. Throws Error (exit 2) when the file has become
  // shorter.
  void read_at(std::uint64_t offset, std::span<char> out) const;
  // All that is left, checked in the same way.
  std::string read_rest();

  const std::string& name() const { return name_; }  // for messages: the path, "standard input"
  std::uint64_t bytes() const { return bytes_; }     // when it was opened; 0 of a pipe
  bool is_pipe() const { return is_pipe_; }
  int descriptor() const { return descriptor_; }

 private:
  void open_pipe();
  void open_file(const std::string& path);
  std::size_t read_some(std::span<char> out);
  void require_unchanged() const;

  InputKind kind_;
  std::string name_;
  int descriptor_ = -1;
  bool is_pipe_ = false;
  std::uint64_t bytes_ = 0, read_ = 0;
  std::uint64_t begin_ = 0;  // of a redirected file, of which something may have been read
};

// The whole of it. Throws as InputFile does.
std::string read_input(const std::string& path, const InputKind& kind);

// The path, or "standard input" for "-": what messages call it.
std::string input_name(const std::string& path);

}  // namespace halmark
