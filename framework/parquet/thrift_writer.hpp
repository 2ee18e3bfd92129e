// Thrift's compact protocol, written: fields in rising order, as Parquet's metadata has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halmark {

class ThriftWriter {
 public:
  void integer(int id, std::int32_t value) { number(id, i32, value); }
  void wide(int id, std::int64_t value) { number(id, i64, value); }
  void boolean(int id, bool value) { field(id, value ? 1 : 2); }
  void binary(int id, std::string_view bytes) {
    field(id, 8);
    element(bytes);
  }
  // Calls `write(id of nothing)` for the fields of a struct at `id`.
  template <class Write>
  void structure(int id, Write write) {
    field(id, 12);
    element_structure(write);
  }
  template <class Write>
  void element_structure(Write write) {
    const int outer = last_;
    last_ = 0;
    write();
    out_ += '\0';
    last_ = outer;
  }
  void list_of_structures(int id, std::size_t count) { list(id, count, 12); }
  void list_of_integers(int id, std::size_t count) { list(id, count, i32); }
  void list_of_binaries(int id, std::size_t count) { list(id, count, 8); }
  void element(std::int32_t value) { zigzag(value); }
  void element(std::string_view bytes) {
    varint(bytes.size());
    out_ += bytes;
  }
  // Ends the outermost struct.
  std::string finish() {
    out_ += '\0';
    return std::move(out_);
  }

 private:
  static constexpr int i32 = 5, i64 = 6;

  void number(int id, int type, std::int64_t value) {
    field(id, type);
    zigzag(value);
  }
  void field(int id, int type) {
    out_ += static_cast<char>((id - last_) << 4 | type);  // ids rise by less than 16
    last_ = id;
  }
  void list(int id, std::size_t count, int type) {
    field(id, 9);
    if (count < 15) {
      out_ += static_cast<char>(static_cast<int>(count) << 4 | type);
      return;
    }
    out_ += static_cast<char>(0xf0 | type);
    varint(count);
  }
  void zigzag(std::int64_t value) {
    varint((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }

  std::string out_;
  int last_ = 0;
};

}  // namespace halmark
