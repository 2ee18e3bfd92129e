// Whether a path still names the file that was opened: a database that is deleted or replaced
// under its writer would swallow every further row without an error.
#pragma once

#include <sys/types.h>
#include <time.h>

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

  // Its bytes are those that its writer left. Whether somebody has written it since.
  void remember_content();
  bool has_other_content() const;

 private:
  struct Content {
    off_t bytes = 0;
    timespec written{};
  };
  Content content() const;

  std::string path_;
  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  Content content_;
};

}  // namespace halmark::journal
