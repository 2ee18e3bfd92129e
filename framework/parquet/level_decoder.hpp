// The hybrid of runs and bit-packed groups that levels, dictionary positions and some booleans
// have.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace halmark::parquet {

class LevelDecoder {
 public:
  LevelDecoder() = default;
  // Numbers of `width` bits, 0 to 32.
  LevelDecoder(std::string_view bytes, unsigned width) : bytes_(bytes), width_(width) {}

  // Fills all of `out`; throws Error (exit 2) at `where` when there are fewer.
  void read(std::span<std::uint32_t> out, const std::string& where);

 private:
  void begin_run(const std::string& where);
  std::uint32_t unpack_one();

  std::string_view bytes_;
  unsigned width_ = 0;
  std::uint64_t repeats_ = 0, packed_ = 0;  // left of the run at hand
  std::uint32_t value_ = 0;
  std::uint64_t bit_ = 0;  // of `group_`, the next
  std::string_view group_;
};

// `width` bits, at most 57, from bit `at` on; bits behind the end are 0.
std::uint64_t bits_at(std::string_view bytes, std::uint64_t at, unsigned width);

}  // namespace halmark::parquet
