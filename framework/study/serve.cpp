#include "framework/study/serve.hpp"
#include "core/lists.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/json/json.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

constexpr std::size_t together_max = 64;  // requests of one transaction
constexpr auto stop_check = std::chrono::milliseconds(500);

enum class Arrival { data, nothing, end };

class Lines {
 public:
  explicit Lines(int fd) : fd_(fd) {}

  Arrival wait(std::chrono::milliseconds timeout) {
    if (is_at_end_) return Arrival::end;
    pollfd ready{fd_, POLLIN, 0};
    const int n = poll(&ready, 1, as_int(timeout.count()));
    if (n < 0 && errno != EINTR) {
      throw Error(ExitCode::error, std::string("requests cannot be read: ") + std::strerror(errno));
    }
    if (n <= 0) return Arrival::nothing;
    std::array<char, 65536> bytes{};
    const ssize_t got = read(fd_, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return Arrival::nothing;
    if (got <= 0) {
      is_at_end_ = true;
      return Arrival::end;
    }
    add({bytes.data(), as_size(got)});
    return Arrival::data;
  }

  // Whole lines that have arrived, at most `count`; blank ones do not count.
  std::vector<std::string> take(std::size_t count) {
    std::vector<std::string> out;
    std::size_t at = 0;
    for (std::size_t end = 0; out.size() < count && at < open_line_; at = end + 1) {
      end = text_.find('\n', at);
      std::string line = text_.substr(at, end - at);
      if (line.find_first_not_of(" \t\r") != std::string::npos) out.push_back(std::move(line));
    }
    text_.erase(0, at);
    open_line_ -= std::min(open_line_, at);
    if (is_at_end_ && out.empty() && text_.find_first_not_of(" \t\r") != std::string::npos) {
      out.push_back(std::exchange(text_, {}));  // the last line may lack its end
      open_line_ = 0;
    }
    return out;
  }

 private:
  // Of a line that is too long only as much is kept as shows that it is: the protocol refuses it.
  void add(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size());
      const std::size_t room =
          json_bytes_max + 1 - std::min(json_bytes_max + 1, text_.size() - open_line_);
      text_.append(bytes.substr(0, std::min(end, room)));
      if (end == bytes.size()) return;
      text_ += '\n';
      open_line_ = text_.size();
      bytes.remove_prefix(end + 1);
    }
  }

  int fd_;
  std::string text_;
  std::size_t open_line_ = 0;  // where in `text_` the line begins that has no end yet
  bool is_at_end_ = false;
};

}  // namespace

void serve_study(Study& study, const StudyStreams& streams) {
  using Clock = std::chrono::steady_clock;
  const auto beat_every = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(study.beat_every_s()));
  StudyProtocol protocol(study);
  Lines lines(streams.requests);
  auto next_beat = Clock::now() + beat_every;
  while (!streams.should_stop()) {
    const std::vector<std::string> requests = lines.take(together_max);
    if (!requests.empty()) {
      std::string text;
      for (const std::string& answer : protocol.answers(requests)) text += answer + '\n';
      streams.answer(text);
      if (streams.after_each) streams.after_each();
    }
    if (Clock::now() >= next_beat) {
      study.beat();
      next_beat = Clock::now() + beat_every;
    }
    if (!requests.empty()) {
      lines.wait(std::chrono::milliseconds(0));
      continue;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(next_beat - Clock::now());
    const auto pause =
        std::clamp(left, std::chrono::milliseconds(1), std::chrono::milliseconds(stop_check));
    if (lines.wait(pause) == Arrival::end) {
      const std::vector<std::string> rest = lines.take(1);
      if (rest.empty()) break;
      streams.answer(protocol.answers(rest).front() + '\n');
    }
  }
  study.release();
}

}  // namespace halmark
