// Sizes are known before anything is unpacked, so that no library allocates by what a file says.
#include "parquet/parquet_codec.hpp"

#ifdef HALMARK_HAS_SNAPPY
#include <snappy.h>
#endif
#ifdef HALMARK_HAS_ZLIB
#include <zlib.h>
#endif
#ifdef HALMARK_HAS_ZSTD
#include <zstd.h>
#endif

#include <algorithm>
#include <array>
#include <new>

#include "core/ranges.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

#ifdef HALMARK_HAS_SNAPPY
constexpr bool has_snappy = true;
bool unpack_snappy(std::string_view packed, std::span<char> out) {
  std::size_t bytes = 0;
  return snappy::GetUncompressedLength(packed.data(), packed.size(), &bytes) &&
         bytes == out.size() && snappy::RawUncompress(packed.data(), packed.size(), out.data());
}
std::string pack_snappy(std::string_view bytes) {
  std::string out;
  snappy::Compress(bytes.data(), bytes.size(), &out);
  return out;
}
#else
constexpr bool has_snappy = false;
bool unpack_snappy(std::string_view, std::span<char>) { return false; }
std::string pack_snappy(std::string_view) { return {}; }
#endif

#ifdef HALMARK_HAS_ZSTD
constexpr bool has_zstd = true;
bool unpack_zstd(std::string_view packed, std::span<char> out) {
  return ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) == out.size();
}
std::string pack_zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  constexpr int level = 3;
  const std::size_t n = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(n) != 0) throw std::bad_alloc();
  out.resize(n);
  return out;
}
#else
constexpr bool has_zstd = false;
bool unpack_zstd(std::string_view, std::span<char>) { return false; }
std::string pack_zstd(std::string_view) { return {}; }
#endif

#ifdef HALMARK_HAS_ZLIB
constexpr bool has_gzip = true;
constexpr int gzip_window = 15 + 16;

bool unpack_gzip(std::string_view packed, std::span<char> out) {
  z_stream stream{};
  constexpr int gzip_or_zlib = 15 + 32;
  if (inflateInit2(&stream, gzip_or_zlib) != Z_OK) throw std::bad_alloc();
  // zlib does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool is_whole = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return is_whole;
}
std::string pack_gzip(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.erase(stream.total_out);
  deflateEnd(&stream);
  return out;
}
#else
constexpr bool has_gzip = false;
bool unpack_gzip(std::string_view, std::span<char>) { return false; }
std::string pack_gzip(std::string_view) { return {}; }
#endif

struct Codec {
  std::int32_t number;
  const char* name;
  bool is_built;
  bool (*unpack)(std::string_view, std::span<char>);
  std::string (*pack)(std::string_view);
  const char* package;  // nothing: not read at all
};

bool copy(std::string_view bytes, std::span<char> out) {
  if (bytes.size() != out.size()) return false;
  std::ranges::copy(bytes, out.begin());
  return true;
}
std::string same(std::string_view bytes) { return std::string(bytes); }

constexpr std::array codecs = {
    Codec{0, "none", true, copy, same, nullptr},
    Codec{1, "snappy", has_snappy, unpack_snappy, pack_snappy, "libsnappy-dev"},
    Codec{2, "gzip", has_gzip, unpack_gzip, pack_gzip, "zlib1g-dev"},
    Codec{3, "lzo", false, nullptr, nullptr, nullptr},
    Codec{4, "brotli", false, nullptr, nullptr, nullptr},
    Codec{5, "lz4", false, nullptr, nullptr, nullptr},
    Codec{6, "zstd", has_zstd, unpack_zstd, pack_zstd, "libzstd-dev"},
    Codec{7, "lz4_raw", false, nullptr, nullptr, nullptr},
};

const Codec* find(std::int32_t number) { return find_or_null(codecs, number, &Codec::number); }

}  // namespace

std::string codec_name(std::int32_t codec) {
  const Codec* const found = find(codec);
  return found != nullptr ? found->name : "codec " + std::to_string(codec);
}

bool has_codec(ParquetCodec codec) { return find(static_cast<std::int32_t>(codec))->is_built; }

ParquetCodec best_parquet_codec() {
  if (has_codec(ParquetCodec::zstd)) return ParquetCodec::zstd;
  return has_codec(ParquetCodec::snappy) ? ParquetCodec::snappy : ParquetCodec::none;
}

bool unpack(std::int32_t codec, std::string_view packed, std::span<char> out,
            const std::string& where) {
  const Codec* const found = find(codec);
  if (found != nullptr && found->is_built) return found->unpack(packed, out);
  if (found != nullptr && found->package != nullptr) {
    throw refused("is compressed with " + codec_name(codec) + ", which this build has not", where,
                  std::string("install ") + found->package +
                      " and build again, or write the file without compression");
  }
  throw refused("is compressed with " + codec_name(codec) + ", which is not read", where,
                "write it with snappy, zstd, gzip or without compression");
}

std::string pack(ParquetCodec codec, std::string_view bytes) {
  const Codec& found = *find(static_cast<std::int32_t>(codec));
  if (!found.is_built) {
    throw refused(std::string("this build has no ") + found.name, {},
                  std::string("install ") + found.package + " and build again");
  }
  return found.pack(bytes);
}

}  // namespace halmark
