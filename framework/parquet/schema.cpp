#include "parquet/schema.hpp"

#include <optional>
#include <set>

#include "core/input/input_kind.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark::parquet {
namespace {

using Field = ThriftReader::Field;
using Type = ThriftReader::Type;

// A SchemaElement. `logical` is the number of the set member of LogicalType.
struct Element {
  std::string name;
  std::int64_t physical = -1, fixed_bytes = 0, repetition = 0, children = 0;
  std::int64_t converted = -1, logical = -1;
  bool logical_is_signed = true;
};

void read_integer_type(ThriftReader& from, Element& out) {
  from.structure([&](const Field& field) {
    if (field.id == 2) out.logical_is_signed = from.boolean(field);
    return field.id == 2;
  });
}

void read_logical_type(ThriftReader& from, Element& out) {
  from.structure([&](const Field& field) {
    out.logical = field.id;
    if (field.id != 10 || field.type != Type::structure) return false;
    read_integer_type(from, out);
    return true;
  });
}

Element read_element(ThriftReader& from) {
  Element out;
  from.structure([&](const Field& field) {
    if (field.id == 4) {
      out.name = from.binary(field);
      return true;
    }
    if (field.id == 10 && field.type == Type::structure) {
      read_logical_type(from, out);
      return true;
    }
    std::int64_t* const into[] = {nullptr, &out.physical, &out.fixed_bytes, &out.repetition,
                                  nullptr, &out.children, &out.converted};
    if (field.id < 1 || field.id > 6) return false;
    *into[field.id] = from.integer(field);
    return true;
  });
  return out;
}

// What the values mean, where the digits of the physical type would say something else.
const char* meaning_of(const Element& element) {
  switch (element.logical) {
    case 5:
      return "DECIMAL";
    case 6:
      return "DATE";
    case 7:
      return "TIME";
    case 8:
      return "TIMESTAMP";
    case 13:
      return "BSON";
    case 14:
      return "UUID";
    case 15:
      return "FLOAT16";
    case 16:
      return "VARIANT";
    case 17:
      return "GEOMETRY";
    case 18:
      return "GEOGRAPHY";
    default:
      break;
  }
  switch (element.converted) {
    case 5:
      return "DECIMAL";
    case 6:
      return "DATE";
    case 7:
    case 8:
      return "TIME";
    case 9:
    case 10:
      return "TIMESTAMP";
    case 20:
      return "BSON";
    case 21:
      return "INTERVAL";
    default:
      return nullptr;
  }
}

// Why a column is not read; nothing for one that is.
std::optional<std::string> fault_of(const Element& element) {
  if (element.children != 0) return "is nested";
  if (element.repetition == 2) return "is repeated (a list)";
  if (element.repetition != 0 && element.repetition != 1) return "is neither required nor optional";
  if (element.physical == 3) return "is INT96 (a timestamp)";
  if (element.physical < 0 || element.physical > 7) return "has no known type";
  if (const char* meaning = meaning_of(element)) return std::string("is ") + meaning;
  constexpr auto most = as_int64(csv_field_bytes_max);
  if (element.physical == 7 && (element.fixed_bytes < 1 || element.fixed_bytes > most)) {
    return "has values of " + std::to_string(element.fixed_bytes) + " bytes";
  }
  return std::nullopt;
}

bool is_unsigned(const Element& element) {
  return (element.logical == 10 && !element.logical_is_signed) ||
         (element.converted >= 11 && element.converted <= 14);
}

ParquetKind kind_of(Physical physical, bool is_natural) {
  switch (physical) {
    case Physical::boolean:
      return ParquetKind::boolean;
    case Physical::int32:
    case Physical::int64:
      return is_natural ? ParquetKind::natural : ParquetKind::integer;
    case Physical::real32:
      return ParquetKind::single;
    case Physical::real64:
      return ParquetKind::real;
    case Physical::bytes:
    case Physical::fixed:
      break;
  }
  return ParquetKind::text;
}

void add(const Element& element, Metadata& out, const std::string& name) {
  ParquetColumn column{element.name, ParquetKind::integer, element.repetition == 1};
  if (const auto fault = fault_of(element)) {
    throw refused(named(column) + ' ' + *fault + ", which is not read", name,
                  "write it as a flat column of numbers or text, or leave it out");
  }
  const Physical physical = static_cast<Physical>(element.physical);
  column.kind = kind_of(physical, is_unsigned(element));
  out.stored.push_back(
      {physical, as_size(element.fixed_bytes), column.kind != ParquetKind::natural});
  out.columns.push_back(std::move(column));
}

void require_distinct(const std::vector<ParquetColumn>& columns, const std::string& name) {
  std::set<std::string_view> seen;
  for (const ParquetColumn& column : columns) {
    if (!seen.insert(column.name).second) throw refused(named(column) + " is there twice", name);
  }
}

}  // namespace

std::string named(const ParquetColumn& column) { return "column '" + printable(column.name) + "'"; }

void read_schema(ThriftReader& from, const Field& field, Metadata& out, const std::string& name) {
  std::int64_t expected = 0;
  from.list(field, Type::structure, [&](std::uint64_t index) {
    const Element element = read_element(from);
    if (index == 0) {
      expected = element.children;
      return;
    }
    if (index > csv_columns_max) {
      throw refused("more than " + std::to_string(csv_columns_max) + " columns", name);
    }
    add(element, out, name);
  });
  if (out.columns.empty()) throw refused("has no columns", name);
  if (expected != std::ssize(out.columns)) from.fail("its schema is no list");
  require_distinct(out.columns, name);
}

}  // namespace halmark::parquet
