// The codecs of Parquet's pages, each through its library; one that is not built in says so.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace halmark {

enum class ParquetCodec : std::int32_t { none = 0, snappy = 1, gzip = 2, zstd = 6 };

// "snappy"; of any number that a file may state: "lz4_raw", "codec 9".
std::string codec_name(std::int32_t codec);
bool has_codec(ParquetCodec codec);
// zstd, else snappy, else none.
ParquetCodec best_parquet_codec();

// Fills all of `out`; false when the packed bytes do not give exactly that many. Throws Error
// (exit 2) at `where` for a codec that is not read or not built in.
bool unpack(std::int32_t codec, std::string_view packed, std::span<char> out,
            const std::string& where);
std::string pack(ParquetCodec codec, std::string_view bytes);

}  // namespace halmark
