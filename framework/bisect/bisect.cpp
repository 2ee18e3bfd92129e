#include "bisect/bisect.hpp"

#include <filesystem>

#include "bisect/stored_file.hpp"
#include "core/input/places.hpp"
#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"

namespace halmark::bisect {
namespace {

namespace fs = std::filesystem;
using history::BisectState;

constexpr std::size_t digits = 16;  // of a digest, in names of files

struct Pairs {
  std::vector<Revision> revisions;
};
template <class V, Of<Pairs> M>
void fields(V& v, M& m) {
  v("revisions", m.revisions);
}

class Bisection {
 public:
  explicit Bisection(const BisectRequest& request)
      : request_(request),
        repository_(git_folder(request.repository, request.stop)),
        folder_(folder_of(request, repository_)),
        builds_(repository_, request.build, folder_ / sha256_of(request.build).substr(0, digits),
                {request.build_limit_s, "--build-limit", request.stop}) {
    for (Commit& commit : commits_between(repository_, request.good, request.bad, request.stop)) {
      search_.revisions.push_back({.commit = std::move(commit), .log_ratios = {}, .skipped = {}});
    }
    search_.confidence = request.confidence;
    search_.floor = request.floor;
    search_.is_bigger_better = request.is_bigger_better;
    search_.folder = folder_.string();
    resume();
  }

  Search run() {
    is_open();
    try {
      for (Revision* end : {&search_.revisions.front(), &search_.revisions.back()}) require(*end);
      while (is_open()) measure_at(next());
    } catch (const Error& error) {
      if (!request_.stop.stop_requested()) throw;
      search_.state = BisectState::open;
    }
    return std::move(search_);
  }

 private:
  static fs::path folder_of(const BisectRequest& request, const std::string& repository) {
    if (!request.folder.empty()) return fs::absolute(request.folder);
    return state_dir() / "bisect" / sha256_of(repository).substr(0, digits);
  }

  fs::path file() const {
    const std::string key = search_.revisions.front().commit.hash + '\n' +
                            search_.revisions.back().commit.hash + '\n' + request_.build + '\n' +
                            request_.measured;
    return folder_ / ("pairs-" + sha256_of(key).substr(0, digits) + ".json");
  }

  void resume() {
    require_writable(file(), "--folder");
    if (request_.measures_again || !fs::exists(file())) return;
    Pairs kept = read_stored<Pairs>(file().string());
    if (kept.revisions.size() != search_.revisions.size()) return;
    search_.revisions = std::move(kept.revisions);
    if (search_.pairs() > 0) note("resumes with " + std::to_string(search_.pairs()) + " pairs");
  }

  void keep() const { write_stored(Pairs{search_.revisions}, file().string()); }

  void note(const std::string& line) const {
    if (request_.note) request_.note(line);
  }

  std::vector<history::RevisionPairs> pairs() const {
    std::vector<history::RevisionPairs> out;
    for (const Revision& r : search_.revisions) {
      out.push_back({.log_ratios = r.log_ratios, .is_skipped = !r.skipped.empty()});
    }
    return out;
  }

  bool is_open() {
    const auto now = pairs();
    search_.posterior = history::bisect_posterior(now);
    search_.state =
        history::bisect_state(now, search_.posterior, request_.confidence, request_.floor);
    return search_.state == BisectState::open && !request_.stop.stop_requested() &&
           search_.pairs() < as_size(request_.pairs_max);
  }

  Revision& next() {
    std::vector<double> costs = mapped(search_.revisions, [&](const Revision& r) {
      return pair_s_ + (builds_.has(r.commit) ? 0 : build_s_);
    });
    return search_.revisions[history::next_revision(pairs(), search_.posterior, costs)];
  }

  // Its failure; "" = it is built.
  std::string build(const Revision& revision) {
    if (!builds_.has(revision.commit)) note("builds " + name(revision));
    const Build built = builds_.build(revision.commit);
    build_s_ = built.seconds;
    return built.failure.empty() ? "" : "it does not build: " + built.failure;
  }

  void require(const Revision& end) {
    const std::string failure = build(end);
    if (!failure.empty()) throw unusable(end, failure);
  }

  Error unusable(const Revision& end, const std::string& why) const {
    const bool is_good = &end == &search_.revisions.front();
    return Error(
        ExitCode::unfit,
        std::string("the ") + (is_good ? "good" : "bad") + " revision cannot be measured: " + why,
        name(end), "name one that builds and runs; it lies in " + builds_.folder(end.commit));
  }

  static std::string name(const Revision& r) {
    return short_hash(r.commit) + " (" + r.commit.title + ')';
  }

  void measure_at(Revision& revision) {
    const Revision& good = search_.revisions.front();
    std::string failure = build(revision);
    if (failure.empty()) {
      const auto begin = SteadyClock::now();
      const auto pair = request_.measure(builds_.folder(good.commit),
                                         builds_.folder(revision.commit), search_.pairs());
      if (request_.stop.stop_requested()) return;  // half of a pair is none
      pair_s_ = seconds_since(begin);
      if (pair) {
        revision.log_ratios.push_back(*pair);
      } else if (pair.failure.is_of_good) {
        throw unusable(good, pair.failure.reason);
      } else {
        failure = pair.failure.reason;
      }
    }
    if (!failure.empty()) {
      if (&revision == &search_.revisions.back()) throw unusable(revision, failure);
      revision.skipped = failure;
      revision.log_ratios.clear();
      note("skips " + name(revision) + ": " + failure);
    }
    keep();
    if (request_.progress) request_.progress(search_.pairs(), name(revision));
  }

  const BisectRequest& request_;
  std::string repository_;
  fs::path folder_;
  Builds builds_;
  Search search_;
  double pair_s_ = 1, build_s_ = 1;  // of the last ones: what one more costs
};

}  // namespace

std::size_t Search::pairs() const {
  std::size_t out = 0;
  for (const Revision& r : revisions) out += r.log_ratios.size();
  return out;
}

std::vector<const Commit*> Search::undistinguished() const {
  std::vector<const Commit*> out;
  for (std::size_t r = found(); r-- > 1 && !revisions[r].skipped.empty();) {
    out.push_back(&revisions[r].commit);
  }
  return out;
}

Search bisect(const BisectRequest& request) { return Bisection(request).run(); }

}  // namespace halmark::bisect
