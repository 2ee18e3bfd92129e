// The commits of a git repository between two revisions, and each of them built once, in a folder
// of its own that stays.
#pragma once

#include <string>
#include <vector>

#include "bisect/shell.hpp"
#include "core/fields/fields.hpp"

namespace halmark::bisect {

struct Commit {
  std::string hash, date, title;
  bool is_merge = false;
};
template <class V, Of<Commit> M>
void fields(V& v, M& m) {
  v("hash", m.hash);
  v("date", m.date);
  v("title", m.title);
  v("is_merge", m.is_merge);
}
std::string short_hash(const Commit& commit);

// The folder of objects of the repository that `folder` lies in. Throws Error (exit 2) where it
// lies in none.
std::string git_folder(const std::string& folder, std::stop_token stop);

// From the good one to the bad one, along first parents: a merge is one change. Throws Error (exit
// 2) where a revision is unknown or the good one is no ancestor of the bad.
std::vector<Commit> commits_between(const std::string& repository, const std::string& good,
                                    const std::string& bad, std::stop_token stop);

struct Build {
  std::string failure;  // "" = it was built
  double seconds = 0;
};
template <class V, Of<Build> M>
void fields(V& v, M& m) {
  v("failure", m.failure);
  v("seconds", m.seconds);
}

// Builds of one repository by one command, by revision: FOLDER/HASH, and HASH.json beside it once
// it has succeeded. Clones share the objects of the repository, which is not written to.
class Builds {
 public:
  Builds(std::string repository, std::string command, std::string folder, ShellLimits limits);
  bool has(const Commit& commit) const;
  // The one that is kept, else a new one.
  Build build(const Commit& commit) const;
  std::string folder(const Commit& commit) const;

 private:
  std::string record(const Commit& commit) const;
  std::string repository_, command_, folder_;
  ShellLimits limits_;
};

}  // namespace halmark::bisect
