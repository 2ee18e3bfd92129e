// Studies in Optuna's journal file: one JSON object per line, appended under a lock, read from the
// beginning. A trial is one line when it begins and at most a few when it ends, in one write.
#include <unistd.h>

#include <ctime>
#include <utility>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "study/storage/journal_file.hpp"
#include "study/storage/journal_lock.hpp"
#include "study/storage/journal_replay.hpp"

namespace halmark::journal {
namespace {

constexpr std::string_view beat_attribute = "halmark:heartbeat";

std::string json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// One object, its members as JSON texts.
class Object {
 public:
  Object& add(std::string_view key, std::string_view json) {
    text_ += text_.size() > 1 ? "," : "";
    text_.append(json_string(key)).append(":").append(json);
    return *this;
  }
  Object& add(std::string_view key, std::int64_t value) { return add(key, std::to_string(value)); }
  std::string text() const { return text_ + '}'; }

 private:
  std::string text_ = "{";
};

std::string object_of(const Attributes& attributes) {
  Object out;
  for (const auto& [key, text] : attributes) out.add(key, text);
  return out.text();
}

std::string list_of(const std::vector<double>& values) {
  std::string out = "[";
  for (const double value : values) out += (out.size() > 1 ? "," : "") + number_text(value);
  return out + ']';
}

// "2026-11-21T10:20:30.123456" in quotes; null for none.
std::string time_json(std::string text) {
  if (text.empty()) return "null";
  if (text.size() > 10) text[10] = 'T';
  return json_string(text);
}

std::optional<double> age_s(const std::string& utc) {
  std::tm parts{};
  const char* rest = strptime(utc.c_str(), "%Y-%m-%d %H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return as_double(now.tv_sec - timegm(&parts)) + as_double(now.tv_nsec) / 1e9;
}

class JournalStudies : public StudyStore, private StudyTransaction {
 public:
  JournalStudies(std::string location, std::string path, StudyAccess access)
      : location_(std::move(location)),
        path_(std::move(path)),
        replay_(path_),
        file_(path_, access) {
    read_new();
  }

  std::string_view location() const override { return location_; }

  std::vector<StudySummary> list() override {
    read_new();
    return replay_.list();
  }

  std::vector<TrialRow> trials(std::int64_t study, TrialCursor& cursor) override {
    if (!in_transaction_) read_new();
    return replay_.trials(study, cursor);
  }

  void transact(const std::function<void(StudyTransaction&)>& body) override {
    const StudyJournalLock lock(path_, file_.fd());
    if (!lock.note().empty()) file_.notes.push_back(path_ + ": " + lock.note());
    read_new();
    file_.cut_half_line();
    in_transaction_ = true;
    try {
      body(*this);
      file_.append(buffer_, buffered_lines_);
      in_transaction_ = false;
    } catch (...) {
      in_transaction_ = false;
      forget();
      throw;
    }
    buffer_.clear();
    buffered_lines_ = 0;
  }

  std::vector<std::string> take_notes() override { return std::exchange(file_.notes, {}); }

 private:
  void read_new() {
    file_.read([&](std::string_view line, std::size_t number) { replay_.apply(line, number); });
  }

  void add(const std::string& line) {
    buffer_.append(line).push_back('\n');
    replay_.apply(line, file_.lines() + ++buffered_lines_);
  }

  // After an undone transaction the state is read again from the beginning.
  void forget() {
    buffer_.clear();
    buffered_lines_ = 0;
    replay_ = StudyReplay(path_);
    file_.rewind();
    read_new();
  }

  Object operation(int code) const {
    return Object().add("op_code", code).add("worker_id", worker_);
  }

  std::optional<StudyInfo> find(std::string_view name) override {
    const StudyInfo* study = replay_.find(name);
    return study != nullptr ? std::optional(*study) : std::nullopt;
  }

  StudyInfo create_study(const StudyInfo& study) override {
    std::string directions = "[";
    for (const StudyDirection direction : study.directions) {
      directions += (directions.size() > 1 ? "," : "") + std::to_string(as_int(direction));
    }
    add(operation(0)
            .add("study_name", json_string(study.name))
            .add("directions", directions + ']')
            .text());
    StudyInfo out = study;
    out.id = replay_.find(study.name)->id;
    set_attributes(out.id, study.user, study.system);
    return out;
  }

  void set_attributes(std::int64_t study, const Attributes& user,
                      const Attributes& system) override {
    for (const auto& item : user) {
      add(operation(2).add("study_id", study).add("user_attr", object_of({item})).text());
    }
    for (const auto& item : system) {
      add(operation(3).add("study_id", study).add("system_attr", object_of({item})).text());
    }
  }

  void create(std::int64_t study, std::span<TrialRow> rows) override {
    const std::string now = utc_microseconds_now();
    for (TrialRow& row : rows) {
      if (row.state != TrialState::waiting && row.started_utc.empty()) row.started_utc = now;
      if (is_finished(row.state) && row.completed_utc.empty()) row.completed_utc = now;
      Object distributions, params, steps;
      for (const TrialParam& param : row.params) {
        distributions.add(param.name, json_string(replay_.text(param.distribution)));
        params.add(param.name, number_text(param.internal));
      }
      for (const auto& [step, value] : row.intermediate) {
        steps.add(std::to_string(step), number_text(value));
      }
      Object line = operation(4);
      line.add("study_id", study).add("datetime_start", time_json(row.started_utc));
      line.add("state", as_int(row.state));
      line.add("value", row.values.size() == 1 ? number_text(row.values[0]) : "null");
      line.add("values", row.values.size() > 1 ? list_of(row.values) : "null");
      if (is_finished(row.state)) line.add("datetime_complete", time_json(row.completed_utc));
      line.add("distributions", distributions.text()).add("params", params.text());
      line.add("user_attrs", object_of(row.user)).add("system_attrs", object_of(row.system));
      line.add("intermediate_values", steps.text());
      row.id = replay_.next_trial_id();
      add(line.text());
      row.number = replay_.trial(row.id)->number;
    }
  }

  void change(std::span<const TrialChange> changes) override {
    for (const TrialChange& c : changes) {
      for (const TrialParam& param : c.params) {
        add(operation(5)
                .add("trial_id", c.id)
                .add("param_name", json_string(param.name))
                .add("param_value_internal", number_text(param.internal))
                .add("distribution", json_string(replay_.text(param.distribution)))
                .text());
      }
      for (const auto& item : c.user) {
        add(operation(8).add("trial_id", c.id).add("user_attr", object_of({item})).text());
      }
      for (const auto& item : c.system) {
        add(operation(9).add("trial_id", c.id).add("system_attr", object_of({item})).text());
      }
      if (!c.state) continue;
      // Last, because a finished trial takes no more changes.
      Object line = operation(6);
      line.add("trial_id", c.id).add("state", as_int(*c.state));
      line.add("values", c.values.empty() ? "null" : list_of(c.values));
      const std::string now = time_json(utc_microseconds_now());
      if (*c.state == TrialState::running) line.add("datetime_start", now);
      if (is_finished(*c.state)) line.add("datetime_complete", now);
      add(line.text());
    }
  }

  void beat(std::span<const std::int64_t> ids) override {
    const std::string now = json_string(utc_microseconds_now());
    for (const std::int64_t id : ids) {
      const Attributes beat = {{std::string(beat_attribute), now}};
      add(operation(9).add("trial_id", id).add("system_attr", object_of(beat)).text());
    }
  }

  std::vector<TrialLease> leases(std::span<const std::int64_t> ids) override {
    std::vector<TrialLease> out;
    for (const std::int64_t id : ids) {
      const TrialRow* row = replay_.trial(id);
      if (row == nullptr) continue;
      TrialLease lease{.id = id, .state = row->state, .system = row->system};
      if (const auto* owner = find_attribute(row->system, worker_attribute)) lease.owner = *owner;
      const std::string* beat = find_attribute(row->system, beat_attribute);
      const bool is_quoted = beat != nullptr && beat->size() > 2;
      lease.beat_age_s = age_s(is_quoted ? beat->substr(1, beat->size() - 2) : row->started_utc);
      out.push_back(std::move(lease));
    }
    return out;
  }

  std::string location_, path_, buffer_;
  std::string worker_ = json_string("halmark-" + std::to_string(getpid()));
  StudyReplay replay_;
  StudyJournalFile file_;
  std::size_t buffered_lines_ = 0;
  bool in_transaction_ = false;
};

}  // namespace

std::unique_ptr<StudyStore> open_journal_studies(const std::string& location,
                                                 const std::string& path, StudyAccess access) {
  return std::make_unique<JournalStudies>(location, path, access);
}

}  // namespace halmark::journal
