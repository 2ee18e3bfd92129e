// The bytes of a journal of studies: whole lines in, whole lines out.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/error.hpp"
#include "study/storage/open.hpp"

namespace halmark::journal {

class StudyJournalFile {
 public:
  using Take = std::function<void(std::string_view line, std::size_t line_number)>;

  StudyJournalFile(const std::string& path, StudyAccess access);
  ~StudyJournalFile();
  StudyJournalFile(const StudyJournalFile&) = delete;
  StudyJournalFile& operator=(const StudyJournalFile&) = delete;
  int fd() const { return fd_; }
  std::size_t lines() const { return lines_; }

  // Gives the complete lines behind what is known. The last one may be broken: somebody writes it
  // just now, or was killed while he did; it is left out and noted.
  void read(const Take& take);
  // For a writer that holds the lock: nobody writes, so the rest of a line is a killed writer's. It
  // was never acknowledged, and with more behind it no reader would take the file.
  void cut_half_line();
  // Durable when it returns; `lines` whole lines.
  void append(const std::string& text, std::size_t lines);
  void rewind();

  std::vector<std::string> notes;

 private:
  Error failure(const std::string& what) const;
  off_t size() const;
  void extend(std::string& text, std::size_t bytes) const;  // by the bytes behind it
  std::size_t take_lines(std::string_view text, bool has_more, const Take& take);

  std::string path_;
  int fd_ = -1;
  off_t known_bytes_ = 0;
  std::size_t lines_ = 0;
  bool has_half_line_ = false, has_broken_line_ = false;
};

}  // namespace halmark::journal
