#include "study/storage/journal_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/input/input_kind.hpp"
#include "core/input/places.hpp"
#include "core/lists.hpp"

namespace halmark::journal {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t line_bytes_max = 16u << 20;
constexpr off_t block_bytes = 1 << 20;

}  // namespace

StudyJournalFile::StudyJournalFile(const std::string& path, StudyAccess access) : path_(path) {
  std::error_code code;
  const bool makes = access == StudyAccess::or_create;
  if (!makes && !fs::exists(path_, code)) {
    throw refused("there are no studies", path_, "name another place with --study");
  }
  const fs::file_status about = fs::status(path_, code);
  if (fs::is_directory(about)) throw refused("this is a folder", path_);
  // Neither is opened: a FIFO would wait for its reader, a device may act.
  if (fs::exists(about) && !fs::is_regular_file(about)) {
    throw refused("this is no regular file", path_, "name another file");
  }
  if (makes) require_writable(path_, "--study");
  const int flags = O_RDWR | O_APPEND | O_CLOEXEC;
  fd_ = open(path_.c_str(), makes ? flags | O_CREAT : flags, 0644);
  if (fd_ < 0) throw failure("the journal cannot be opened");
}

StudyJournalFile::~StudyJournalFile() {
  if (fd_ >= 0) close(fd_);
}

Error StudyJournalFile::failure(const std::string& what) const {
  return {ExitCode::error, what + ": " + std::strerror(errno), path_,
          "what was stored before is complete"};
}

off_t StudyJournalFile::size() const {
  struct stat info {};
  if (fstat(fd_, &info) != 0) throw failure("the journal cannot be read");
  if (info.st_size < known_bytes_) {
    throw Error(ExitCode::error, "this journal was cut or replaced while it was in use", path_);
  }
  if (as_uint64(info.st_size) > study_input.bytes_max) {
    throw refused("has " + std::to_string(info.st_size) + " bytes; the limit of " +
                      std::string(study_input.name) + " is " +
                      std::to_string(study_input.bytes_max),
                  path_);
  }
  return info.st_size;
}

void StudyJournalFile::extend(std::string& text, std::size_t bytes) const {
  std::size_t have = text.size();
  const std::size_t wanted = have + bytes;
  text.resize(wanted);
  while (have < wanted) {
    const ssize_t n =
        pread(fd_, text.data() + have, wanted - have, known_bytes_ + static_cast<off_t>(have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw failure("the journal cannot be read");
    if (n == 0) break;
    have += as_size(n);
  }
  text.resize(have);
}

// Block by block, so that a large journal costs no more memory than its longest line.
void StudyJournalFile::read(const Take& take) {
  const off_t end = size();
  std::string text;
  for (;;) {
    const off_t left = end - known_bytes_ - static_cast<off_t>(text.size());
    const std::size_t before = text.size();
    extend(text, as_size(std::min<off_t>(left, block_bytes)));
    const bool has_more = left > block_bytes && text.size() > before;
    const std::size_t taken = take_lines(text, has_more, take);
    known_bytes_ += static_cast<off_t>(taken);
    text.erase(0, taken);
    // Half a line may be cut off one day, so it must be known to be the beginning of a journal.
    constexpr std::string_view beginning = "{\"op_code\"";
    if (lines_ == 0 && !beginning.starts_with(text.substr(0, beginning.size()))) {
      throw refused("this is no journal of studies", path_, "name another file");
    }
    if (text.size() > line_bytes_max) throw refused("a line is longer than 16 MiB", path_);
    if (!has_more) break;
  }
  has_half_line_ = !text.empty();
}

// Returns how many bytes the whole lines had. `has_more`: others follow `text`.
std::size_t StudyJournalFile::take_lines(std::string_view text, bool has_more, const Take& take) {
  std::size_t at = 0;
  for (std::size_t end; (end = text.find('\n', at)) != std::string_view::npos; at = end + 1) {
    if (end - at > line_bytes_max) throw refused("a line is longer than 16 MiB", path_);
    if (has_broken_line_) {
      throw refused("this line is broken, and others follow it",
                    path_ + ':' + std::to_string(lines_), "restore a backup");
    }
    ++lines_;
    try {
      take(text.substr(at, end - at), lines_);
    } catch (const Error&) {
      if (has_more || end + 1 < text.size() || lines_ == 1) throw;
      has_broken_line_ = true;
      notes.push_back(path_ + ':' + std::to_string(lines_) + ": the last line is broken");
    }
  }
  return at;
}

void StudyJournalFile::cut_half_line() {
  if (has_broken_line_) {
    throw refused("the last line is broken", path_ + ':' + std::to_string(lines_),
                  "cut it off or restore a backup");
  }
  if (!has_half_line_) return;
  if (ftruncate(fd_, known_bytes_) != 0) throw failure("half a line cannot be cut off");
  has_half_line_ = false;
  notes.push_back(path_ + ": half a line of a killed process was cut off");
}

void StudyJournalFile::append(const std::string& text, std::size_t lines) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd_, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const Error error = failure("the study could not be stored");
      if (ftruncate(fd_, known_bytes_) != 0) notes.push_back(path_ + ": half a line remains");
      throw error;
    }
    done += as_size(n);
  }
  if (done > 0 && fsync(fd_) != 0) throw failure("the study could not be stored");
  known_bytes_ += static_cast<off_t>(done);
  lines_ += lines;
}

void StudyJournalFile::rewind() {
  known_bytes_ = 0;
  lines_ = 0;
  has_half_line_ = has_broken_line_ = false;
}

}  // namespace halmark::journal
