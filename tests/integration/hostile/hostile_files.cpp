#include "hostile_files.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t mebibyte = std::uintmax_t{1} << 20;

void make_socket(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_bound =
      ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  if (!is_bound) throw std::runtime_error("no socket at " + path);
}

std::string random_bytes(std::size_t count) {
  std::mt19937 random(11);
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += static_cast<char>(random());
  return out;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::vector<std::pair<std::string, std::string>> contents(const std::string& beginning) {
  std::string keys = "{";
  for (int i = 0; i < 300'000; ++i) keys += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":1";
  return {
      {"empty", ""},
      {"nul", std::string(4096, '\0')},
      {"random", random_bytes(1 << 16)},
      {"beginning_alone", beginning},
      {"beginning_and_random", beginning + random_bytes(1 << 16)},
      {"bad_utf8", beginning + repeated("\xff\xfe\x80", 1000)},
      {"utf16", std::string("\xff\xfe{\0}\0", 6)},
      {"picture", "\xff\xd8\xff\xe0 JFIF"},
      {"library", std::string("\x7f") + "ELF\x02\x01\x01" + std::string(4096, '\0')},
      {"gzip_of_nothing", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10)},
      {"parquet", "PAR1....PAR1"},
      {"deep_arrays", repeated("[", 100'000)},
      {"deep_objects", repeated("{\"a\":", 100'000)},
      {"dots", repeated("a.", 100'000) + "a = 1\n"},
      {"tables", "[" + repeated("a.", 100'000) + "a]\n"},
      {"long_line", repeated("x", 900'000) + "\n"},
      {"long_name", "\"" + repeated("n", 50'000) + "\" = 1\n"},
      {"many_keys", keys + "}"},
      {"large_number", "a = 1e999\n"},
      {"large_integer", "a = 99999999999999999999999\n"},
      {"half_string", "a = \"x"},
      {"half_triple", "a = \"\"\"x\n"},
      {"commas", repeated(",", 60'000) + "\n"},
      {"escapes", "\"\\u009b31m\\u202e\\u2066\" = 1\n"},
      {"raw_escapes",
       "\xc2\x9b"
       "31m\xe2\x80\xae = 1\n"},
  };
}

}  // namespace

std::vector<HostileFile> hostile_files(const std::string& folder, const std::string& suffix,
                                       const std::string& beginning) {
  std::vector<HostileFile> out;
  const auto next = [&](const std::string& name) {
    out.push_back({name, folder + "/hm_" + name + suffix});
    return out.back().path;
  };
  if (::mkfifo(next("fifo").c_str(), 0600) != 0) throw std::runtime_error("no FIFO");
  make_socket(next("socket"));
  fs::create_directory(next("folder"));
  fs::create_symlink("/dev/zero", next("endless_device"));
  fs::create_symlink("/dev/null", next("empty_device"));
  fs::create_symlink("/dev/stdin", next("standard_input"));
  fs::create_symlink("/proc/self/mem", next("memory_of_process"));
  fs::create_symlink("/proc/self/maps", next("file_of_the_kernel"));
  fs::create_symlink(folder + "/nowhere", next("dangling_link"));
  const std::string loop = next("loop");
  fs::create_symlink(loop, loop);
  const auto large = [&](const std::string& name, const std::string& text, std::uintmax_t bytes) {
    const std::string path = next(name);
    std::ofstream(path, std::ios::binary) << text;
    fs::resize_file(path, bytes);
  };
  large("zeros_of_400_mib", "", 400 * mebibyte);
  large("beginning_of_400_mib", beginning, 400 * mebibyte);
  large("beginning_of_5_gib", beginning, 5 * 1024 * mebibyte);
  large("beginning_of_10_gib", beginning, 10 * 1024 * mebibyte);
  for (const auto& [name, text] : contents(beginning)) {
    std::ofstream(next(name), std::ios::binary) << text;
  }
  return out;
}

}  // namespace halmark::integration
