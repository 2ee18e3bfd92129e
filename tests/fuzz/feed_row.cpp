// Rows of a results database as text and bytes, and whole files of such.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "core/chosen/winner.hpp"
#include "core/json/json.hpp"
#include "core/measured/duet.hpp"
#include "feed.hpp"
#include "journal/rows/row_codec.hpp"
#include "survive.hpp"
#include "verify/database.hpp"

namespace halmark::fuzz {
namespace {

// What is no such value is refused by any exception: its caller names the row.
template <class Action>
void try_value(Action action) {
  try {
    action();
  } catch (const std::logic_error& error) {
    // Ours below; std::invalid_argument and std::out_of_range of readers derive from it.
    if (std::string_view(error.what()).starts_with("defect: ")) throw;
  } catch (const std::exception&) {
  }
}

template <class Value>
void same_again(const Json& body) {
  try_value([&] {
    const std::string once = dump_json(Json(body.get<Value>()));
    if (dump_json(Json(Json::parse(once).get<Value>())) != once) {
      throw std::logic_error("defect: a value does not survive its own text");
    }
  });
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// One per process: fuzzers run beside each other.
const std::string& scratch_file() {
  static const std::string path = [] {
    const bool has_memory = std::filesystem::is_directory("/dev/shm");
    const std::filesystem::path folder =
        has_memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    return (folder / ("halmark-fuzz-" + std::to_string(getpid()) + ".db")).string();
  }();
  return path;
}

}  // namespace

// The body of a row in the first line, its block of samples behind it.
void feed_row(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  Json body;
  try {
    body = parse_json(bytes.substr(0, end), "body");
  } catch (const Error&) {
    return;
  }
  const std::string_view samples = bytes.substr(std::min(end + 1, bytes.size()));
  try_value([&] {
    const std::string once = journal::pack_samples(journal::measurement_from(body, samples));
    Measurement again;
    journal::unpack_samples(once, again);
    if (journal::pack_samples(again) != once) {
      throw std::logic_error("defect: samples do not survive being packed");
    }
  });
  same_again<Measurement>(body);
  same_again<Evaluation>(body);
  same_again<Winner>(body);
  same_again<Duet>(body);
  try_value([&] { (void)journal::validation_from(body); });
}

// A file that is only read stays as it is, whatever it holds.
void feed_database(std::string_view bytes) {
  std::ofstream(scratch_file(), std::ios::binary | std::ios::trunc) << bytes;
  survive([] { (void)check_database(scratch_file()); });
  const bool is_same = read_bytes(scratch_file()) == bytes;
  for (const char* end : {"", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove(scratch_file() + end);
  }
  if (!is_same) throw std::logic_error("a file that was only read has changed");
}

}  // namespace halmark::fuzz
