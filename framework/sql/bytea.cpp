#include "sql/postgresql.hpp"

namespace halmark::postgresql {
namespace {

unsigned digit_of(char c) {
  return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10) & 0xfU;
}

}  // namespace

std::string bytea_text(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\\x";
  out.reserve(2 + 2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4U];
    out += digits[byte & 0xfU];
  }
  return out;
}

std::string bytea_bytes(std::string_view bytea) {
  std::string out;
  if (!bytea.starts_with("\\x")) return out;
  out.reserve(bytea.size() / 2);
  for (std::size_t i = 2; i + 1 < bytea.size(); i += 2) {
    out += static_cast<char>(digit_of(bytea[i]) << 4U | digit_of(bytea[i + 1]));
  }
  return out;
}

}  // namespace halmark::postgresql
