#include "measure/links/tier_probe.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"

namespace halmark::links {
namespace {

constexpr std::size_t line_bytes = 64, block_bytes = std::size_t{8} << 20, page_bytes = 4096;

Error failed(const std::string& what, const std::string& folder) {
  return unfit("cannot " + what + " in " + folder + ": " + std::strerror(errno),
               "name a folder on the disk that is meant, with room for the file");
}

class File {
 public:
  explicit File(const std::string& folder) : folder_(folder), path_(folder + "/halmark-XXXXXX") {
    descriptor_ = ::mkostemp(path_.data(), O_DIRECT | O_CLOEXEC);
    if (descriptor_ < 0) throw failed("make a file past the page cache", folder);
    ::unlink(path_.c_str());  // goes with the process, however that ends
  }
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(std::span<const std::byte> block, std::int64_t offset) {
    if (::pwrite(descriptor_, block.data(), block.size(), offset) !=
        static_cast<ssize_t>(block.size())) {
      throw failed("write", folder_);
    }
  }
  void read(std::span<std::byte> block, std::int64_t offset) {
    if (::pread(descriptor_, block.data(), block.size(), offset) !=
        static_cast<ssize_t>(block.size())) {
      throw failed("read", folder_);
    }
  }
  void flush() { ::fdatasync(descriptor_); }

 private:
  std::string folder_, path_;
  int descriptor_;
};

struct FreeAligned {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using AlignedBlock = std::unique_ptr<std::byte[], FreeAligned>;

AlignedBlock aligned(std::size_t bytes) {
  AlignedBlock out(static_cast<std::byte*>(std::aligned_alloc(page_bytes, bytes)));
  if (!out) throw std::bad_alloc();
  return out;
}

// One cycle through every line, in an order that no prefetcher follows (Sattolo's algorithm).
std::vector<std::uint32_t> random_cycle(std::size_t count) {
  std::vector<std::uint32_t> next(count);
  std::iota(next.begin(), next.end(), 0u);
  std::mt19937_64 random(1);
  for (std::size_t i = count - 1; i > 0; --i) std::swap(next[i], next[random() % i]);
  return next;
}

// Bytes of one half a second, each of them read once and written once.
double copied_bytes_per_s(std::span<std::byte> memory) {
  const std::size_t half = memory.size() / 2;
  double best_s = std::numeric_limits<double>::infinity();
  for (const int i : below(3)) {
    const auto begin = SteadyClock::now();
    std::memcpy(memory.data() + (i % 2) * half, memory.data() + (1 - i % 2) * half, half);
    best_s = std::min(best_s, seconds_since(begin));
  }
  return as_double(half) / best_s;
}

}  // namespace

TierProbe probe_memory(std::int64_t working_set_bytes) {
  constexpr int batches = 256, loads_of_batch = 4096;
  const std::size_t lines = as_size(working_set_bytes) / line_bytes;
  struct alignas(line_bytes) Line {
    std::uint32_t next;
  };
  std::vector<Line> chain(lines);
  const std::vector<std::uint32_t> cycle = random_cycle(lines);
  for (const auto i : indices(lines)) chain[i].next = cycle[i];
  std::vector<double> times;
  std::uint32_t at = 0;
  for (int batch = 0; batch < batches; ++batch) {
    const auto begin = SteadyClock::now();
    for (int i = 0; i < loads_of_batch; ++i) at = chain[at].next;
    times.push_back(seconds_since(begin) / loads_of_batch);
  }
  TierProbe out{.latency_p50_s = quantile(times, 0.5),
                .latency_p99_s = quantile(times, 0.99),
                .bytes = working_set_bytes,
                .how = "pointer chase over " + std::to_string(working_set_bytes >> 20) + " MiB"};
  if (at == lines) out.how.clear();  // never: keeps the loads alive
  out.read_bytes_per_s = out.write_bytes_per_s =
      copied_bytes_per_s(std::as_writable_bytes(std::span(chain)));
  return out;
}

TierProbe probe_storage(const std::string& folder, std::int64_t file_bytes,
                        const std::function<bool()>& should_stop) {
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0) throw failed("find room", folder);
  const auto unit = as_int64(space.f_frsize);
  if (as_int64(space.f_bavail) * unit < 2 * file_bytes) {
    errno = ENOSPC;
    throw failed("find room", folder);
  }
  const auto stopped = [&] { return should_stop && should_stop(); };
  File file(folder);
  const AlignedBlock block = aligned(block_bytes);
  std::memset(block.get(), 0x5a, block_bytes);
  const std::span bytes(block.get(), block_bytes);
  const auto step = as_int64(block_bytes);
  auto begin = SteadyClock::now();
  for (std::int64_t at = 0; at < file_bytes && !stopped(); at += step) file.write(bytes, at);
  file.flush();
  const double write_s = seconds_since(begin);
  begin = SteadyClock::now();
  for (std::int64_t at = 0; at < file_bytes && !stopped(); at += step) file.read(bytes, at);
  const double read_s = seconds_since(begin);
  std::mt19937_64 random(1);
  std::vector<double> times;
  constexpr int reads = 2000;
  for (int i = 0; i < reads && !stopped(); ++i) {
    const auto page = as_int64(random() % as_uint64(file_bytes / 4096));
    begin = SteadyClock::now();
    file.read(bytes.first(page_bytes), page * 4096);
    times.push_back(seconds_since(begin));
  }
  if (times.empty()) return {};
  return {.latency_p50_s = quantile(times, 0.5),
          .latency_p99_s = quantile(times, 0.99),
          .read_bytes_per_s = as_double(file_bytes) / read_s,
          .write_bytes_per_s = as_double(file_bytes) / write_s,
          .bytes = as_int64(space.f_blocks) * unit,
          .how = "file of " + std::to_string(file_bytes >> 20) + " MiB past the page cache"};
}

}  // namespace halmark::links
