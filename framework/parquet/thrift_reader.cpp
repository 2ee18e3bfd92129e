#include "parquet/thrift_reader.hpp"

#include "core/lists.hpp"
#include "parquet/parquet_limits.hpp"

namespace halmark {
namespace {

using Type = ThriftReader::Type;

Type type_of(std::uint8_t nibble, const ThriftReader& from) {
  if (nibble > static_cast<std::uint8_t>(Type::structure)) from.fail("a type that Thrift has not");
  return static_cast<Type>(nibble);
}

}  // namespace

void ThriftReader::fail(const std::string& why) const { throw damaged_parquet(why, where_); }

void ThriftReader::enter() {
  if (++depth_ > parquet_depth_max) fail("its metadata nests too deep");
}

std::uint8_t ThriftReader::byte() {
  if (at_ == bytes_.size()) fail("its metadata ends too early");
  return static_cast<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t ThriftReader::varint() {
  std::uint64_t out = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint8_t next = byte();
    if (shift == 63 && next > 1) break;
    out |= std::uint64_t{next & 0x7fu} << shift;
    if ((next & 0x80u) == 0) return out;
  }
  fail("a number has too many bytes");
}

std::int64_t ThriftReader::zigzag() {
  const std::uint64_t bits = varint();
  return as_int64((bits >> 1) ^ (0 - (bits & 1)));
}

ThriftReader::Field ThriftReader::next_field(std::int16_t before) {
  const std::uint8_t head = byte();
  const Type type = type_of(head & 0x0f, *this);
  if (type == Type::stop) return {};
  const int delta = head >> 4;
  const std::int64_t id = delta == 0 ? zigzag() : before + delta;
  if (id < INT16_MIN || id > INT16_MAX) fail("a field has no possible number");
  return {static_cast<std::int16_t>(id), type};
}

void ThriftReader::require(const Field& field, Type type) const {
  if (field.type != type)
    fail("field " + std::to_string(field.id) + " of its metadata has another type");
}

std::int64_t ThriftReader::integer(const Field& field) {
  if (field.type == Type::byte) return static_cast<std::int8_t>(byte());
  if (field.type != Type::i16 && field.type != Type::i32) require(field, Type::i64);
  return zigzag();
}

bool ThriftReader::boolean(const Field& field) {
  if (field.type != Type::yes) require(field, Type::no);
  return field.type == Type::yes;
}

std::string_view ThriftReader::element_binary() {
  const std::uint64_t size = varint();
  const std::size_t from = at_;
  skip_bytes(size);
  return bytes_.substr(from, as_size(size));
}

std::string_view ThriftReader::binary(const Field& field) {
  require(field, Type::binary);
  return element_binary();
}

// An element has at least one byte, so that a count costs no more than the bytes that are there.
std::uint64_t ThriftReader::list_size(Type wanted) {
  const std::uint8_t head = byte();
  const std::uint64_t size = (head >> 4) == 15 ? varint() : head >> 4;
  if (size > bytes_.size() - at_) fail("a list is longer than its metadata");
  if (size > 0 && type_of(head & 0x0f, *this) != wanted)
    fail("a list has elements of another type");
  return size;
}

void ThriftReader::skip_bytes(std::uint64_t count) {
  if (count > bytes_.size() - at_) fail("its metadata ends too early");
  at_ += as_size(count);
}

void ThriftReader::skip(Type type) {
  switch (type) {
    case Type::stop:
    case Type::yes:
    case Type::no:
      return;
    case Type::byte:
      return skip_bytes(1);
    case Type::i16:
    case Type::i32:
    case Type::i64:
      varint();
      return;
    case Type::real:
      return skip_bytes(8);
    case Type::binary:
      return skip_bytes(varint());
    case Type::list:
    case Type::set:
      return skip_list();
    case Type::map:
      return skip_map();
    case Type::structure:
      return structure([](const Field&) { return false; });
  }
}

// In lists and maps a boolean is a byte of its own.
void ThriftReader::skip_element(Type type) {
  if (type == Type::stop) fail("elements without a type");
  if (type == Type::yes || type == Type::no) return skip_bytes(1);
  skip(type);
}

void ThriftReader::skip_list() {
  enter();
  const std::uint8_t head = byte();
  const std::uint64_t size = (head >> 4) == 15 ? varint() : head >> 4;
  if (size > bytes_.size() - at_) fail("a list is longer than its metadata");
  const Type type = type_of(head & 0x0f, *this);
  for (std::uint64_t i = 0; i < size; ++i) skip_element(type);
  --depth_;
}

void ThriftReader::skip_map() {
  enter();
  const std::uint64_t size = varint();
  if (size > bytes_.size() - at_) fail("a map is longer than its metadata");
  const std::uint8_t types = size == 0 ? 0 : byte();
  for (std::uint64_t i = 0; i < size; ++i) {
    skip_element(type_of(types >> 4, *this));
    skip_element(type_of(types & 0x0f, *this));
  }
  --depth_;
}

}  // namespace halmark
