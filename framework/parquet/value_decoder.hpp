// The values of one page, nulls left out, in each encoding that is read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "parquet/metadata.hpp"
#include "parquet/parquet_reader.hpp"

namespace halmark::parquet {

class ValueDecoder {
 public:
  virtual ~ValueDecoder() = default;
  // Appends `n` values; throws Error (exit 2) when there are fewer.
  virtual void read(std::size_t n, ParquetValues& out) = 0;
};

// `bytes` and `dictionary` (null where the chunk has none) outlive the decoder, and texts point
// into them. `where` names the column in errors. Throws Error (exit 2) for an encoding that is not
// read.
std::unique_ptr<ValueDecoder> make_decoder(std::int64_t encoding, const Stored& stored,
                                           std::string_view bytes, const ParquetValues* dictionary,
                                           const std::string& where);

// PLAIN alone, as dictionaries are.
std::unique_ptr<ValueDecoder> make_plain_decoder(const Stored& stored, std::string_view bytes,
                                                 const std::string& where);

// The two encodings of differences, value_decoder_delta.cpp.
std::unique_ptr<ValueDecoder> make_delta_decoder(const Stored& stored, std::string_view bytes,
                                                 const std::string& where);
std::unique_ptr<ValueDecoder> make_delta_length_decoder(std::string_view bytes,
                                                        const std::string& where);

// Throws Error (exit 2) for a text that no cell of a table may have.
void require_cell(std::string_view text, const std::string& where);

}  // namespace halmark::parquet
