#include "bisect/revisions.hpp"

#include <filesystem>
#include <sstream>

#include "bisect/stored_file.hpp"
#include "core/numeric/clock.hpp"
#include "core/text/error.hpp"

namespace halmark::bisect {
namespace {

namespace fs = std::filesystem;

constexpr double git_limit_s = 600;
// git's output is read from its end, 64 KiB of it: these hashes fit, and titles one by one.
constexpr std::size_t commits_max = 1000;

class Git {
 public:
  Git(std::string repository, std::stop_token stop)
      : repository_(std::move(repository)), limits_{git_limit_s, "git", stop} {}
  Result<std::string, ShellFailure> run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"git", "-c", "log.showSignature=false"});
    return run_words(words, repository_, limits_);
  }
  std::string resolved(const std::string& revision, const char* option) const {
    auto found =
        run({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"});
    if (!found) {
      throw refused("'" + revision + "' is no revision of this repository", option,
                    "name a commit, a tag or a branch: git log --oneline");
    }
    return found->substr(0, found->find('\n'));
  }
  std::string text(std::vector<std::string> words) const {
    const auto found = run(std::move(words));
    if (!found) throw Error(ExitCode::error, "git failed: " + found.failure.reason, repository_);
    return *found.value;
  }

 private:
  std::string repository_;
  ShellLimits limits_;
};

Commit commit_of(const Git& git, const std::string& hash) {
  std::istringstream lines(git.text({"log", "-1", "--format=%cs%n%P%n%s", hash}));
  Commit out{.hash = hash, .date = {}, .title = {}};
  std::string parents;
  std::getline(lines, out.date);
  std::getline(lines, parents);
  std::getline(lines, out.title);
  out.is_merge = parents.find(' ') != std::string::npos;
  return out;
}

}  // namespace

std::string short_hash(const Commit& commit) { return commit.hash.substr(0, 10); }

std::string git_folder(const std::string& folder, std::stop_token stop) {
  const auto found = Git(folder, stop).run({"rev-parse", "--git-common-dir"});
  if (!found) {
    throw refused("this is no git repository: " + found.failure.reason, folder,
                  "call it in one, or name one with --repository");
  }
  return fs::canonical(fs::path(folder) / found->substr(0, found->find('\n'))).string();
}

std::vector<Commit> commits_between(const std::string& repository, const std::string& good,
                                    const std::string& bad, std::stop_token stop) {
  const Git git(repository, stop);
  const std::string first = git.resolved(good, "--good"), last = git.resolved(bad, "--bad");
  if (first == last) throw refused("--good and --bad are the same commit", last.substr(0, 10));
  if (!git.run({"merge-base", "--is-ancestor", first, last})) {
    throw refused("the good revision " + first.substr(0, 10) + " is no ancestor of the bad one " +
                      last.substr(0, 10),
                  "--good", "name an earlier commit of the same branch, or exchange the two");
  }
  std::vector<Commit> out{commit_of(git, first)};
  std::istringstream hashes(
      git.text({"rev-list", "--first-parent", "--reverse", first + ".." + last}));
  for (std::string hash; std::getline(hashes, hash);) {
    if (out.size() > commits_max) {
      throw refused("there are more than " + std::to_string(commits_max) +
                        " commits between --good and --bad",
                    repository, "name two that are nearer: tags of releases between them");
    }
    out.push_back(commit_of(git, hash));
  }
  return out;
}

Builds::Builds(std::string repository, std::string command, std::string folder, ShellLimits limits)
    : repository_(std::move(repository)),
      command_(std::move(command)),
      folder_(std::move(folder)),
      limits_(std::move(limits)) {}

std::string Builds::folder(const Commit& commit) const {
  return (fs::path(folder_) / commit.hash).string();
}

std::string Builds::record(const Commit& commit) const { return folder(commit) + ".json"; }

bool Builds::has(const Commit& commit) const { return fs::exists(record(commit)); }

Build Builds::build(const Commit& commit) const {
  if (has(commit)) {
    return read_stored<Build>(record(commit));
  }
  const std::string where = folder(commit);
  fs::remove_all(where);  // of a build that was interrupted
  fs::create_directories(folder_);
  const auto begin = SteadyClock::now();
  Build out;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"git", "clone", "--quiet", "--shared", "--no-checkout",
                                 repository_, where},
        {"git", "-C", where, "checkout", "--quiet", "--detach", commit.hash}}) {
    if (const auto ran = run_words(words, folder_, limits_); !ran) {
      throw Error(ExitCode::error, "git failed: " + ran.failure.reason, where);
    }
  }
  if (const auto ran = run_words({"sh", "-c", command_}, where, limits_); !ran) {
    out.failure = ran.failure.reason;
  }
  out.seconds = seconds_since(begin);
  // What was missing may be there the next time.
  if (out.failure.empty()) write_stored(out, record(commit));
  return out;
}

}  // namespace halmark::bisect
