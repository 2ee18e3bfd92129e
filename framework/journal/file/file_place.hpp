// Whether a path still names the file that was opened: a database that is deleted or replaced
// under its writer would swallow every further row without an error.
#pragma once

#include <sys/types.h>

#include <string>

namespace halmark::journal {

class FilePlace {
 public:
  // Of the file that `path` names now. Opens it by path alone (O_PATH): closing any other
  // descriptor of a database would drop the locks that SQLite holds for this process.
  explicit FilePlace(std::string path);
  ~FilePlace();
  FilePlace(const FilePlace&) = delete;
  FilePlace& operator=(const FilePlace&) = delete;

  // Empty while all is well; else "deleted", "moved away" or "replaced by another file".
  std::string fault() const;

 private:
  std::string path_;
  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace halmark::journal
