// Thrift's compact protocol as Parquet uses it, over bytes that nobody has checked: every length is
// compared with what is left before anything is made of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/text/error.hpp"

namespace halmark {

// One line for everything that is wrong with a file as such.
inline Error damaged_parquet(const std::string& why, const std::string& where) {
  return refused("is damaged Parquet: " + why, where);
}

class ThriftReader {
 public:
  enum class Type : std::uint8_t {
    stop = 0,
    yes = 1,
    no = 2,
    byte = 3,
    i16 = 4,
    i32 = 5,
    i64 = 6,
    real = 7,
    binary = 8,
    list = 9,
    set = 10,
    map = 11,
    structure = 12,
  };
  struct Field {
    std::int16_t id = 0;
    Type type = Type::stop;
  };

  ThriftReader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  // Calls `read(Field)` for each field of a struct; a field that it answers with false is skipped.
  template <class Read>
  void structure(Read read) {
    enter();
    std::int16_t id = 0;
    for (;;) {
      const Field field = next_field(id);
      if (field.type == Type::stop) break;
      id = field.id;
      if (!read(field)) skip(field.type);
    }
    --depth_;
  }
  // Calls `read(index)` for each element of a list whose elements are of `type`.
  template <class Read>
  void list(const Field& field, Type type, Read read) {
    require(field, Type::list);
    const std::uint64_t count = list_size(type);
    for (std::uint64_t i = 0; i < count; ++i) read(i);
  }

  std::int64_t integer(const Field& field);  // byte, i16, i32, i64
  std::string_view binary(const Field& field);
  std::string_view element_binary();
  bool boolean(const Field& field);
  void require(const Field& field, Type type) const;

  std::size_t position() const { return at_; }  // bytes that were read
  [[noreturn]] void fail(const std::string& why) const;

 private:
  Field next_field(std::int16_t before);
  std::uint64_t list_size(Type wanted);
  std::uint8_t byte();
  std::uint64_t varint();
  std::int64_t zigzag();
  void skip_bytes(std::uint64_t count);
  void skip(Type type);
  void skip_element(Type type);
  void skip_list();
  void skip_map();
  void enter();

  std::string_view bytes_;
  const std::string& where_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace halmark
