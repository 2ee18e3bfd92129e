// What a Parquet file may cost before anything in it is believed. A file of some hundred bytes can
// state any number of rows, pages and bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halmark {

inline constexpr std::size_t parquet_footer_bytes_max = std::size_t{64} << 20;
inline constexpr std::size_t parquet_header_bytes_max = std::size_t{32} << 10;  // of a page
inline constexpr std::size_t parquet_page_bytes_max = std::size_t{128} << 20;   // unpacked
inline constexpr int parquet_depth_max = 16;  // of what a footer nests beyond what is read
inline constexpr std::size_t parquet_batch_rows = 1024;
// Of rows times columns: this many, and more of larger files (a constant column needs no bytes).
inline constexpr std::uint64_t parquet_values_min = std::uint64_t{1} << 24;
inline constexpr std::uint64_t parquet_values_per_byte = 200;
// Of all pages, packed and unpacked: this many bytes, and `unpacked_ratio_max` per byte of the
// file.
inline constexpr std::uint64_t parquet_unpacked_min = std::uint64_t{128} << 20;

}  // namespace halmark
