// Reading large torch-profiler traces: a real one, repeated with later time stamps.
#include "profile/trace/attribution.hpp"

#include <sys/resource.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "child.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

constexpr std::uint64_t speed_bytes = 512u << 20;
constexpr std::uint64_t memory_bytes = std::uint64_t{2} << 30;

std::string unpacked_fixture() {
  const auto source =
      trace::open_bytes(test::in_source("/tests/data/tiny-qwen3-sdpa.trace.json.gz"));
  std::string out(16u << 20, '\0');
  out.resize(source->read(out));
  return out;
}

// The events of the fixture again and again, each time an hour later, up to about `bytes`.
class RepeatedTrace final : public trace::ByteSource {
 public:
  RepeatedTrace(const std::string& text, std::uint64_t bytes) : bytes_(bytes) {
    constexpr std::string_view key = "\"ts\": ";
    const std::size_t begin = text.find('[', text.find("\"traceEvents\"")) + 1;
    const std::size_t end = text.rfind('}', text.rfind(']')) + 1;
    std::size_t at = begin;
    while (true) {
      std::size_t stamp = text.find(key, at);
      if (stamp == std::string::npos || stamp > end) break;
      stamp += key.size();
      Piece piece{.text = text.substr(at, stamp - at)};
      const char* const last = text.data() + end;
      at = static_cast<std::size_t>(std::from_chars(text.data() + stamp, last, piece.us).ptr -
                                    text.data());
      pieces_.push_back(std::move(piece));
    }
    rest_ = text.substr(at, end - at);
    ready_ = "{\"traceEvents\": [";
  }

  std::size_t read(std::span<char> out) override {
    std::size_t done = 0;
    while (done < out.size()) {
      if (at_ == ready_.size() && !write_more()) break;
      const std::size_t n = std::min(out.size() - done, ready_.size() - at_);
      std::memcpy(out.data() + done, ready_.data() + at_, n);
      at_ += n;
      done += n;
    }
    return done;
  }

 private:
  struct Piece {
    std::string text;
    double us = 0;
  };

  bool write_more() {
    if (is_done_) return false;
    written_ += ready_.size();
    ready_.clear();
    at_ = 0;
    if (written_ >= bytes_) {
      is_done_ = true;
      ready_ = "]}";
      return true;
    }
    constexpr double later_us = 3.6e9;
    if (repeats_ > 0) ready_ += ",\n";
    char number[64];
    for (const Piece& piece : pieces_) {
      ready_ += piece.text;
      const int n = std::snprintf(number, sizeof number, "%.3f", piece.us + repeats_ * later_us);
      ready_.append(number, static_cast<std::size_t>(n));
    }
    ready_ += rest_;
    ++repeats_;
    return true;
  }

  std::uint64_t bytes_, written_ = 0;
  std::vector<Piece> pieces_;
  std::string rest_, ready_;
  std::size_t at_ = 0;
  int repeats_ = 0;
  bool is_done_ = false;
};

double peak_mb() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

std::filesystem::path written(const std::filesystem::path& folder, const std::string& text) {
  std::filesystem::path path = folder / "trace.json";
  RepeatedTrace trace(text, speed_bytes);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw unfit("cannot write " + path.string(), "free the disk");
  std::vector<char> block(1u << 20);
  for (std::size_t n = trace.read(block); n > 0; n = trace.read(block)) {
    if (std::fwrite(block.data(), 1, n, file) != n) throw unfit("the disk is full", "free it");
  }
  std::fclose(file);
  return path;
}

void measure(Figures& figures) {
  const std::string text = unpacked_fixture();
  RepeatedTrace large(text, memory_bytes);
  {
    trace::Recording recording = trace::record(large, "2 GiB");
    const trace::Attribution attribution = trace::attribute(recording);
    note(std::to_string(recording.totals.events) + " events, " +
         std::to_string(attribution.rows.size()) + " rows, " +
         std::to_string(attribution.passes.size()) + " passes in " +
         std::to_string(recording.totals.bytes >> 20) + " MiB");
  }
  figures.at_most("trace_2gib_peak_memory", peak_mb(), "MB", 300);
  const ScratchFolder folder(test::in_build());
  const std::filesystem::path path = written(folder.path(), text);
  double best_ns = 0;
  for (int i = 0; i < 3; ++i) {
    const double begin = monotonic_ns();
    const auto source = trace::open_bytes(path.string());
    trace::Recording recording = trace::record(*source, path.string());
    trace::attribute(recording);
    const double ns = monotonic_ns() - begin;
    if (best_ns == 0 || ns < best_ns) best_ns = ns;
  }
  figures.at_least("trace_read_and_attributed",
                   static_cast<double>(std::filesystem::file_size(path)) / best_ns * 1e3, "MB/s",
                   300);
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
