// The schema's list of elements, which must be a flat row of columns.
#pragma once

#include <vector>

#include "parquet/metadata.hpp"
#include "parquet/thrift_reader.hpp"

namespace halmark::parquet {

// Fills columns and how they are stored. Throws Error (exit 2) naming the column that is not read.
void read_schema(ThriftReader& from, const ThriftReader::Field& field, Metadata& out,
                 const std::string& name);

// "column 'x'", for messages.
std::string named(const ParquetColumn& column);

}  // namespace halmark::parquet
