#include <algorithm>

#include "parquet/metadata.hpp"
#include "parquet/parquet_limits.hpp"
#include "parquet/thrift_reader.hpp"

namespace halmark::parquet {
namespace {

using Field = ThriftReader::Field;

std::uint32_t count(ThriftReader& from, const Field& field) {
  const std::int64_t value = from.integer(field);
  if (value < 0 || value > INT32_MAX) from.fail("a page states an impossible count");
  return static_cast<std::uint32_t>(value);
}

void read_data(ThriftReader& from, PageHeader& out) {
  from.structure([&](const Field& field) {
    if (field.id == 1) out.values = count(from, field);
    if (field.id == 2) out.encoding = from.integer(field);
    if (field.id == 3) out.level_encoding = from.integer(field);
    return field.id >= 1 && field.id <= 3;
  });
}

void read_data_v2(ThriftReader& from, PageHeader& out) {
  from.structure([&](const Field& field) {
    if (field.id == 1) out.values = count(from, field);
    if (field.id == 4) out.encoding = from.integer(field);
    if (field.id == 5) out.definition_bytes = count(from, field);
    if (field.id == 6) out.repetition_bytes = count(from, field);
    if (field.id == 7) out.is_packed = from.boolean(field);
    return field.id == 1 || (field.id >= 4 && field.id <= 7);
  });
}

void read_dictionary(ThriftReader& from, PageHeader& out) {
  from.structure([&](const Field& field) {
    if (field.id == 1) out.values = count(from, field);
    if (field.id == 2) out.encoding = from.integer(field);
    return field.id == 1 || field.id == 2;
  });
}

bool read_field(ThriftReader& from, const Field& field, PageHeader& out, std::int64_t& type) {
  if (field.id >= 5 && field.id <= 8 && field.id != 6) {
    from.require(field, ThriftReader::Type::structure);
  }
  switch (field.id) {
    case 1:
      type = from.integer(field);
      return true;
    case 2:
      out.unpacked_bytes = count(from, field);
      return true;
    case 3:
      out.packed_bytes = count(from, field);
      return true;
    case 5:
      read_data(from, out);
      return true;
    case 7:
      read_dictionary(from, out);
      return true;
    case 8:
      read_data_v2(from, out);
      return true;
    default:
      return false;
  }
}

}  // namespace

PageHeader read_page_header(std::string_view bytes, const std::string& where) {
  ThriftReader from(bytes, where);
  PageHeader out;
  std::int64_t type = -1;
  from.structure([&](const Field& field) { return read_field(from, field, out, type); });
  if (type < 0 || type > 3) from.fail("a page of unknown type");
  out.type = static_cast<PageType>(type);
  out.header_bytes = from.position();
  const std::size_t bytes_max = std::max(out.unpacked_bytes, out.packed_bytes);
  if (bytes_max > parquet_page_bytes_max) {
    throw refused("a page has " + std::to_string(bytes_max) + " bytes; the limit is " +
                      std::to_string(parquet_page_bytes_max),
                  where, "write it with smaller pages");
  }
  return out;
}

}  // namespace halmark::parquet
