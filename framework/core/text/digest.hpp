// SHA-256 identities and xxh3 row checksums; no home-made hashes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halmark {

std::string sha256_of(std::string_view bytes);  // 64 lower-case hexadecimal digits
std::uint64_t xxh3_of(std::string_view bytes);

}  // namespace halmark
