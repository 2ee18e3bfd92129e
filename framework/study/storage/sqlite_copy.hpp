// A file of studies copied while others may write it.
#pragma once

#include <cstdint>
#include <string>

namespace halmark {

struct CopiedStudies {
  std::int64_t studies = 0, trials = 0;
};

// All of `from` in one state, as the new file `to`, which is then read as every command reads it.
// Throws Error: exit 2 where `from` holds no studies, is damaged, or `to` exists; exit 1 for a
// storage error. Nothing is left of a copy that does not read.
CopiedStudies copy_study_file(const std::string& from, const std::string& to);

}  // namespace halmark
