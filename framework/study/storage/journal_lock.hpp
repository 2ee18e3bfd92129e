// The lock of a journal file, as Optuna's writers keep it: a symbolic link PATH.lock. Beside it
// Halmark's own writers queue at an advisory lock on the file itself, which the system takes from a
// killed one: so a link of Halmark's that nobody queues behind is the rest of a killed writer.
#pragma once

#include <string>

namespace halmark::journal {

struct StudyLockTimes {
  double grace_s = 30;  // a foreign lock that has not moved for so long belongs to nobody any more
  double wait_max_s = 120;
};

class StudyJournalLock {
 public:
  // `fd` is the journal, open. Throws Error (exit 1) when it is not free within wait_max_s.
  StudyJournalLock(const std::string& path, int fd, const StudyLockTimes& times = {});
  ~StudyJournalLock();
  StudyJournalLock(const StudyJournalLock&) = delete;
  StudyJournalLock& operator=(const StudyJournalLock&) = delete;
  // What was taken over, for a person; "" = nothing.
  const std::string& note() const { return note_; }

 private:
  bool make_link();
  std::string path_, link_, target_, note_;
  int fd_;
};

}  // namespace halmark::journal
