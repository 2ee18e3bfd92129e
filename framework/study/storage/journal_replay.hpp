// The state that the lines of a journal file add up to, by Optuna's own rules: what a line may not
// change it does not change, and it is no error.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json_type.hpp"
#include "study/storage/backends.hpp"

namespace halmark::journal {

class StudyReplay {
 public:
  explicit StudyReplay(std::string path) : texts_(path), path_(std::move(path)) {}

  // Throws Error (exit 2) for a line that is no operation.
  void apply(std::string_view line, std::size_t line_number);

  std::vector<StudySummary> list() const;
  const StudyInfo* find(std::string_view name) const;
  const StudyInfo* find(std::int64_t id) const;
  std::vector<TrialRow> trials(std::int64_t study, TrialCursor& cursor) const;
  const TrialRow* trial(std::int64_t id) const;
  std::int64_t next_trial_id() const { return static_cast<std::int64_t>(trials_.size()); }
  const std::string& text(const std::shared_ptr<const ParamDistribution>& distribution) {
    return texts_.text(distribution);
  }

 private:
  struct Study {
    std::optional<StudyInfo> info;  // nothing once it was deleted
    std::vector<std::int64_t> trials;
    std::map<std::string, std::shared_ptr<const ParamDistribution>, std::less<>> first;  // by name
  };
  void operate(const Json& line);
  void create_study(const Json& line);
  void set_study_attribute(const Json& line, bool is_user);
  void create_trial(const Json& line);
  void set_param(const Json& line);
  void set_state(const Json& line);
  void set_intermediate(const Json& line);
  void set_attribute(const Json& line, bool is_user);
  Study* study_of(const Json& line);
  TrialRow* updatable(const Json& line);

  DistributionTexts texts_;
  std::string path_;
  std::vector<Study> studies_;
  std::vector<TrialRow> trials_;
  std::vector<std::size_t> study_of_trial_;
  std::vector<std::int64_t> log_;  // trials that changed, oldest first
};

}  // namespace halmark::journal
