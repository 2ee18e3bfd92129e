#include "core/text/sqlite_header.hpp"

#include <array>
#include <string_view>

#include "core/input/input_file.hpp"
#include "core/lists.hpp"

namespace halmark {
namespace {

using Bytes = std::array<unsigned char, 100>;

std::uint32_t big_endian(const Bytes& header, std::size_t at, int bytes) {
  std::uint32_t out = 0;
  for (const int i : below(bytes)) out = out << 8 | header[at + static_cast<std::size_t>(i)];
  return out;
}

}  // namespace

std::optional<SqliteHeader> read_sqlite_header(const std::string& path) {
  Bytes header{};
  char* const text = reinterpret_cast<char*>(header.data());
  constexpr std::string_view magic("SQLite format 3\0", 16);
  if (InputFile(path, database_input).read({text, header.size()}) != header.size() ||
      std::string_view(text, magic.size()) != magic) {
    return std::nullopt;
  }
  const std::uint32_t raw_page = big_endian(header, 16, 2);
  const std::uint64_t page = raw_page == 1 ? 65536 : raw_page;
  return SqliteHeader{.application_id = big_endian(header, 68, 4),
                      .user_version = big_endian(header, 60, 4),
                      .file_bytes = page * big_endian(header, 28, 4)};
}

}  // namespace halmark
