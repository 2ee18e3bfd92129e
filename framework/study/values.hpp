// Studies as values, and the interface through which the search reaches their storage. A study is a
// named search whose rows any tool of Optuna can open and continue: numbers, states, distributions
// and attributes mean what they mean there.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/chosen/search_domain.hpp"

namespace halmark {

// In the order of Optuna's enumerations: the integers are part of its journal format.
enum class StudyDirection { not_set, minimize, maximize };
enum class TrialState { running, complete, pruned, fail, waiting };
inline constexpr std::size_t trial_states = 5;

std::string_view state_name(TrialState state);  // "RUNNING", ...
constexpr bool is_finished(TrialState state) {
  return state != TrialState::running && state != TrialState::waiting;
}

// What a parameter could have been. Choices are compared by type and value, in their order.
struct ParamDistribution {
  enum class Kind { integer, real, categorical } kind = Kind::categorical;
  double low = 0, high = 0;  // integer and real, both included
  double step = 0;           // integer: at least 1; real: 0 = none
  bool is_log = false;
  std::vector<ParamValue> choices = {};

  // The value that an internal number stands for: itself, or the choice of that index. Throws Error
  // (exit 2) on an index that no choice has.
  ParamValue value(double internal) const;
  // One study may hold both for one name: same kind, same log, same choices.
  bool is_compatible(const ParamDistribution& other) const;
  bool operator==(const ParamDistribution&) const = default;
};
ParamDistribution distribution_of(const SearchDomain& domain);

struct TrialParam {
  std::string name;
  double internal = 0;
  std::shared_ptr<const ParamDistribution> distribution;  // shared by the rows of a study
};

// Key and JSON text.
using Attributes = std::vector<std::pair<std::string, std::string>>;
// The text of a key, or nothing.
const std::string* find_attribute(const Attributes& attributes, std::string_view key);

struct TrialRow {
  std::int64_t id = 0;  // the storage's own
  int number = 0;       // 0, 1, 2, ... per study, without gaps
  TrialState state = TrialState::running;
  std::string started_utc, completed_utc;  // "2026-11-21 10:20:30.123456", "" = not yet
  std::vector<TrialParam> params;          // of active parameters only
  std::vector<double> values;              // in the order of the directions; finite or infinite
  std::vector<std::pair<std::int64_t, double>> intermediate;  // step and value; NaN is possible
  Attributes user, system;
};

struct StudyInfo {
  std::int64_t id = 0;
  std::string name;
  std::vector<StudyDirection> directions;
  Attributes user, system;
};

struct StudySummary {
  StudyInfo info;
  std::array<std::int64_t, trial_states> counts{};  // by state
  std::int64_t trials() const;
};

// What a reader of a study has seen; the store brings it forward.
struct TrialCursor {
  struct Seen {
    TrialState state = TrialState::running;
    std::size_t params = 0;
  };
  std::int64_t last_id = -1;
  std::map<std::int64_t, Seen> unfinished;
  // The store's own: up to where its changes of unfinished trials were looked at, and at which
  // version of others' changes. -1 = not yet.
  std::int64_t log_at = -1, version = -1;
  void see(const TrialRow& row);
};

// What is set on one trial; what is empty stays as it was.
struct TrialChange {
  std::int64_t id = 0;
  std::optional<TrialState> state = {};  // the time of start or completion is set with it
  std::vector<double> values = {};
  std::vector<TrialParam> params = {};
  Attributes user = {}, system = {};
};

// Who runs a trial. `owner` is the JSON text of the system attribute worker_attribute, "" when the
// trial has none: then somebody else's rules hold for it.
struct TrialLease {
  std::int64_t id = 0;
  TrialState state = TrialState::running;
  std::string owner;
  std::optional<double> beat_age_s;  // by the storage's clock; nothing without a heartbeat
  Attributes system;
};
inline constexpr std::string_view worker_attribute = "halmark:worker";
// JSON text: who proposed the trial, as Sampler::answered_by says. With it a replay is exact.
inline constexpr std::string_view proposer_attribute = "halmark:proposer";

// All of it is stored, or nothing. Nobody else writes the study meanwhile.
class StudyTransaction {
 public:
  virtual ~StudyTransaction() = default;
  virtual std::optional<StudyInfo> find(std::string_view name) = 0;
  virtual StudyInfo create_study(const StudyInfo& study) = 0;  // fills in the id
  virtual void set_attributes(std::int64_t study, const Attributes& user,
                              const Attributes& system) = 0;
  // Trials that are new or changed since the cursor, in order of their numbers.
  virtual std::vector<TrialRow> trials(std::int64_t study, TrialCursor& cursor) = 0;
  // Fills in number and id; running and finished trials get their times when they have none.
  virtual void create(std::int64_t study, std::span<TrialRow> rows) = 0;
  virtual void change(std::span<const TrialChange> changes) = 0;
  virtual void beat(std::span<const std::int64_t> ids) = 0;
  virtual std::vector<TrialLease> leases(std::span<const std::int64_t> ids) = 0;
};

class StudyStore {
 public:
  virtual ~StudyStore() = default;
  virtual std::string_view location() const = 0;  // as a person named it
  virtual std::vector<StudySummary> list() = 0;
  virtual std::vector<TrialRow> trials(std::int64_t study, TrialCursor& cursor) = 0;
  // Waits its turn among the writers of all processes. Durable when it returns. Throws Error (exit
  // 1) when it cannot be stored; what `body` throws undoes the transaction and is passed on.
  virtual void transact(const std::function<void(StudyTransaction&)>& body) = 0;
  // What a person should know of: a lock taken over, half a line cut off. Each is said once.
  virtual std::vector<std::string> take_notes() { return {}; }
};

// Times as rows have them.
std::string utc_microseconds(std::chrono::system_clock::time_point time);
std::string utc_microseconds_now();

}  // namespace halmark
