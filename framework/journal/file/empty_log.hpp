// The empty log of SQLite that a connection which may not write leaves beside a database.
#pragma once

#include <string>

namespace halmark::journal {

// Goes after such a connection, and takes the log with it, unless it holds something, another
// process has the database open, or the file may not be written. Of an empty path it does nothing.
class EmptyLog {
 public:
  explicit EmptyLog(std::string path) : path_(std::move(path)) {}
  ~EmptyLog();
  EmptyLog(const EmptyLog&) = delete;
  EmptyLog& operator=(const EmptyLog&) = delete;

 private:
  std::string path_;
};

}  // namespace halmark::journal
