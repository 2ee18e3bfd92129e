// The format: sqlite.org/fileformat2.html#walformat. Each commit is synced before the next begins,
// so a commit with further frames behind it was complete once, whatever the power did.
#include "journal/file/log_check.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/lists.hpp"

namespace halmark::journal {
namespace {

constexpr std::size_t header_bytes = 32, frame_header_bytes = 24;
constexpr std::uintmax_t checked_bytes_max = 64 << 20;  // SQLite begins anew at about 4 MiB
constexpr std::uint32_t magic = 0x377f0682;             // the last bit: big-endian checksums

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (const auto i : indices(4)) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

struct Checksum {
  std::uint32_t a = 0, b = 0;
  bool operator==(const Checksum&) const = default;
};

Checksum stored_checksum(std::string_view bytes, std::size_t at) {
  return {big_endian(bytes, at), big_endian(bytes, at + 4)};
}

Checksum add(Checksum sum, std::string_view bytes, bool is_big_endian) {
  const auto word = [&](std::size_t at) {
    const std::uint32_t big = big_endian(bytes, at);
    return is_big_endian ? big : __builtin_bswap32(big);
  };
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    sum.a += word(at) + sum.b;
    sum.b += word(at + 4) + sum.a;
  }
  return sum;
}

class Log {
 public:
  explicit Log(std::string_view bytes) : bytes_(bytes) {}

  std::string fault() const {
    if (bytes_.size() < header_bytes) return {};
    const bool is_big_endian = (big_endian(bytes_, 0) & 1U) != 0;
    const std::size_t page = big_endian(bytes_, 8);
    Checksum sum = add({}, bytes_.substr(0, 24), is_big_endian);
    const bool has_header = (big_endian(bytes_, 0) & ~1U) == magic && page >= 512 &&
                            page <= 65536 && sum == stored_checksum(bytes_, 24);
    if (!has_header) {
      return bytes_.size() == header_bytes ? "" : "the head of its -wal is damaged";
    }
    const std::size_t frame = frame_header_bytes + page;
    std::size_t at = header_bytes;
    for (; at + frame <= bytes_.size(); at += frame) {
      if (!is_of_this_log(at)) break;
      sum = add(sum, bytes_.substr(at, 8), is_big_endian);
      sum = add(sum, bytes_.substr(at + frame_header_bytes, page), is_big_endian);
      if (sum != stored_checksum(bytes_, at + 16)) break;
    }
    if (!has_later_commits(at, frame)) return {};
    return "frame " + std::to_string((at - header_bytes) / frame + 1) +
           " of its -wal is damaged, and commits lie behind it";
  }

 private:
  // Both salts: frames of an earlier turn of the log stay until they are written over.
  bool is_of_this_log(std::size_t frame_at) const {
    return bytes_.substr(frame_at + 8, 8) == bytes_.substr(16, 8);
  }

  // A commit, and a frame of the log behind it. The last commit alone may just have been cut short.
  bool has_later_commits(std::size_t at, std::size_t frame) const {
    bool has_commit = false;
    for (; at + frame <= bytes_.size(); at += frame) {
      if (!is_of_this_log(at)) continue;
      if (has_commit) return true;
      has_commit = big_endian(bytes_, at + 4) != 0;
    }
    return false;
  }

  std::string_view bytes_;
};

std::string bytes_of(const std::string& path) {
  std::error_code absent;
  const std::uintmax_t size = std::filesystem::file_size(path, absent);
  if (absent || size > checked_bytes_max) return {};
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string fault_of_log(const std::string& log_path) {
  std::string bytes = bytes_of(log_path);
  std::string out = Log(bytes).fault();
  // A writer may have begun the log anew while it was read: what is damaged stays as it is.
  for (int again = 0; again < 3 && !out.empty(); ++again) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::string before = std::move(bytes);
    bytes = bytes_of(log_path);
    out = Log(bytes).fault();
    if (bytes != before) again = 0;
  }
  return out;
}

}  // namespace halmark::journal
