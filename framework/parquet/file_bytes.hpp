// Bytes of a file at any place: from the file itself, or from memory where it came through a pipe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/input/input_file.hpp"

namespace halmark::parquet {

class FileBytes {
 public:
  explicit FileBytes(InputFile file)
      : file_(std::move(file)), name_(file_->name()), size_(file_->bytes()) {}
  FileBytes(std::string bytes, std::string name)
      : memory_(std::move(bytes)), name_(std::move(name)), size_(memory_.size()) {}

  // `offset` and `size` lie inside the file. The view is valid as long as `buffer` is unchanged.
  std::string_view at(std::uint64_t offset, std::size_t size, std::string& buffer) const {
    if (!file_) return std::string_view(memory_).substr(static_cast<std::size_t>(offset), size);
    buffer.resize(size);
    file_->read_at(offset, buffer);
    return buffer;
  }
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

 private:
  std::optional<InputFile> file_;
  std::string memory_;
  std::string name_;
  std::uint64_t size_ = 0;
};

}  // namespace halmark::parquet
