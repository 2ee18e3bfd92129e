#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "report/formats.hpp"

namespace halmark {
namespace {

const report::Format<RunReport>& format_of(const std::string& path) {
  static constexpr report::Format<RunReport> formats[] = {
      {".json", [](const RunReport& r) { return report::json_text(report_json(r)); }},
      {".csv", report_csv},
      {".md", report_markdown},
      {".html", report_html}};
  return report::format_of(path, formats, "unknown report format '{}'");
}

Error storage_error(const std::string& path, const char* verb) {
  return {ExitCode::error, std::string("cannot ") + verb + ": " + std::strerror(errno), path};
}

// A new file beside the target; removed again unless it was published.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target)
      : target_(target), path_(target + ".tmp." + std::to_string(::getpid())) {
    // What a killed process of the same number left behind is ours to replace.
    ::unlink(path_.c_str());
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) throw storage_error(target_, "be created");
  }
  ~TemporaryFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!is_published_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::write(fd_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw storage_error(target_, "be written");
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  // The bytes are on disk before the name points at them, the name before the call returns.
  void publish() {
    if (::fsync(fd_) != 0) throw storage_error(target_, "be written");
    if (std::rename(path_.c_str(), target_.c_str()) != 0) {
      throw storage_error(target_, "be replaced");
    }
    is_published_ = true;
    const std::string folder = std::filesystem::path(target_).parent_path();
    const int dir =
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) return;
    ::fsync(dir);
    ::close(dir);
  }

 private:
  std::string target_, path_;
  int fd_ = -1;
  bool is_published_ = false;
};

}  // namespace

void write_whole_file(const std::string& text, const std::string& path) {
  TemporaryFile file(path);
  file.write(text);
  file.publish();
}

void check_report_path(const std::string& path) { format_of(path); }

void write_report(const RunReport& report, const std::string& path) {
  write_whole_file(format_of(path).render(report), path);
}

}  // namespace halmark
