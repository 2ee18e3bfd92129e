// The writer role of a database: an advisory lock on a file beside it that names its holder and
// goes with it; that of a killed one stays, and holds nothing.
#pragma once

#include <ctime>
#include <string>

namespace halmark::journal {

class WriterLock {
 public:
  // Waits at most `wait_s`, then throws Error (exit 2) naming pid, host and start of the holder.
  explicit WriterLock(const std::string& database_path, double wait_s = 5);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  std::string path_;
  int fd_ = -1;
};

// Who writes the database now: "pid 7 on host since ..."; "" = nobody. Looks alone.
std::string writer_of(const std::string& database_path);

std::string host_name();                    // of this machine
std::string utc_now();                      // "2026-11-21T10:20:30Z"
std::string utc_text(std::time_t seconds);  // since 1970

}  // namespace halmark::journal
