// A study: a sampler that proposes and a store that remembers, shared by as many processes as like.
// Each transaction first learns what others have done, then asks the sampler, then stores: so no
// two processes ever propose the same thing, and numbers have no gaps. The sampler's state is a
// fold over the rows, so a study that is opened again goes on where it was.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "framework/study/outcome.hpp"
#include "search/sampler.hpp"
#include "study/values.hpp"

namespace halmark {

struct StudySettings {
  std::string name;
  std::string sampler = "auto";
  std::uint64_t seed = 1;
  std::size_t trials = 0;  // budget of the study, of all workers; 0 = the whole space
  double lease_s = 60;     // a running trial without a sign of life for so long is taken back
  // Looked at inside of asks, which then end with what they have. May be empty.
  std::function<bool()> should_stop = {};
};

struct StudyProposal {
  int trial = 0;  // its number
  Setting params;
};

class Study {
 public:
  // Creates the study or continues it. Throws Error (exit 2) when the study there has other
  // directions, or holds one of the parameters as another kind or with other choices.
  Study(StudyStore& store, const SpaceDescription& description, const StudySettings& settings);

  // Stored before they are returned. Trials that somebody enqueued or a lost worker left come
  // first. Fewer than asked for: see why_no_more().
  std::vector<StudyProposal> ask(std::size_t count);
  std::string why_no_more() const;

  // All are stored, or none. Throws Error (exit 2), naming the trial, for one that does not exist,
  // was told already or was taken back, and for values that are no outcome.
  void tell(std::span<const StudyVerdict> verdicts);

  // Puts configurations in front, whole or in part; their numbers. Throws Error (exit 2) for a
  // parameter or a value that the space does not have, for what no valid configuration has, and for
  // a whole configuration that is a trial already; then none is stored.
  std::vector<int> enqueue(std::span<const Setting> settings);

  // A sign of life for what this process runs; due every lease_s / 3.
  void beat();
  double beat_every_s() const { return settings_.lease_s / 3; }
  // Gives back what was asked and not told.
  void release();

  // Everything that `body` asks and tells is stored at once.
  void together(const std::function<void()>& body);

  // Every trial as it is stored, of all processes.
  std::vector<TrialRow> rows() const;

  const StudyInfo& info() const { return info_; }
  std::size_t size() const { return trials_.size(); }
  // Rows that are no points of this space, or repeat one: they stay, the sampler never sees them.
  std::size_t foreign_trials() const { return foreign_trials_; }
  std::size_t running() const { return mine_.size(); }

 private:
  struct Known {
    std::int64_t id = -1;
    bool is_done = false;
  };
  struct Pending {  // running elsewhere, or enqueued
    std::int64_t id = -1;
    std::optional<Point> point;
    TrialState state = TrialState::running;
  };

  struct News {
    std::vector<Told> pending;
    std::vector<std::pair<std::string, Told>> done;  // with the time of completion
  };

  void change(const std::function<void(StudyTransaction&)>& body);
  void open(const SpaceDescription& description);
  void check_compatible(const TrialRow& row);
  void catch_up(StudyTransaction& transaction);
  void absorb(const TrialRow& row, News& news);
  std::optional<Point> point_of(const TrialRow& row) const;
  TrialRow row_of(const Point& point) const;
  Told told_of(const TrialRow& row, const Point& point) const;
  void take_enqueued(StudyTransaction& transaction, std::size_t count,
                     std::vector<StudyProposal>& out);
  void take_back(StudyTransaction& transaction, std::size_t count, std::vector<StudyProposal>& out);
  void propose(StudyTransaction& transaction, std::size_t count, std::vector<StudyProposal>& out);
  std::optional<Point> completed(const std::string& fixed_params, int number) const;
  std::optional<Point> completed(const std::map<std::size_t, double>& given, int number) const;
  void check_enqueued(const Setting& setting, int number,
                      std::map<std::uint64_t, int>& earlier) const;
  void wait_for(int number, const Attributes& system);
  void give_up(StudyTransaction& transaction, int number, std::int64_t id,
               const std::string& reason);
  void check(const StudyVerdict& verdict, const std::set<int>& earlier) const;
  std::size_t budget_left() const;

  StudyStore& store_;
  StudySettings settings_;
  Space space_;
  std::vector<SearchObjective> objectives_;
  std::vector<std::shared_ptr<const ParamDistribution>> distributions_;  // per domain
  std::unique_ptr<Sampler> sampler_;
  StudyInfo info_;
  TrialCursor cursor_;
  ConstraintForm constraints_;
  StudyTransaction* open_ = nullptr;  // inside of together()
  std::string worker_;                // JSON text that names this process
  std::vector<Known> trials_;         // by number
  std::map<int, Pending> pending_;    // by number
  std::map<int, Point> mine_;         // asked here and not told
  // Enqueued, by number; the identity of those that are whole configurations.
  std::map<int, std::optional<std::uint64_t>> waiting_;
  std::unordered_map<std::uint64_t, int> holder_;  // identity of a point -> number of its trial
  std::set<const ParamDistribution*> checked_;
  std::chrono::steady_clock::time_point next_look_{};
  std::size_t foreign_trials_ = 0;
};

}  // namespace halmark
