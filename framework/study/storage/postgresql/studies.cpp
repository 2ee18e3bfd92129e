// Studies in a PostgreSQL server, in Optuna's tables.
#include <algorithm>

#include "core/text/error.hpp"
#include "core/version.hpp"
#include "study/storage/postgresql/trials.hpp"

namespace halmark::journal {
namespace {

class PostgresqlStudies : public StudyStore, private StudyTransaction {
 public:
  PostgresqlStudies(std::string url, StudyAccess access)
      : session_(std::move(url), {.turn = static_cast<int>(postgresql::Turn::studies)}),
        trials_(session_) {
    session_.write([&] { prepare_tables(access); });
  }

  std::string_view location() const override { return session_.location(); }

  std::vector<StudySummary> list() override {
    std::vector<StudySummary> out;
    session_.read([&] {
      for (const pqxx::row& row : session_.exec("SELECT study_id FROM studies ORDER BY study_id")) {
        out.push_back({.info = info_of(row[0].as<std::int64_t>())});
      }
      for (const pqxx::row& row :
           session_.exec("SELECT study_id, state, count(*) FROM trials GROUP BY study_id, state")) {
        const auto study = row[0].as<std::int64_t>();
        const auto it = std::ranges::find(out, study, [](const auto& s) { return s.info.id; });
        if (it == out.end()) continue;
        const TrialState state = state_of(row[1].c_str(), session_.location());
        it->counts[static_cast<std::size_t>(state)] = row[2].as<std::int64_t>();
      }
    });
    return out;
  }

  std::vector<TrialRow> trials(std::int64_t study, TrialCursor& cursor) override {
    std::vector<TrialRow> out;
    session_.read([&] { out = trials_.read(study, cursor); });
    return out;
  }

  void transact(const std::function<void(StudyTransaction&)>& body) override {
    session_.write([&] { body(*this); });
  }

 private:
  void prepare_tables(StudyAccess access) {
    const bool exists = !session_.exec("SELECT to_regclass('studies')")[0][0].is_null();
    if (!exists && access == StudyAccess::existing) {
      throw refused("this database holds no studies", session_.location(),
                    "name another place with --study");
    }
    if (exists) {
      const bool has_revision =
          !session_.exec("SELECT to_regclass('alembic_version')")[0][0].is_null();
      const auto row =
          has_revision ? session_.exec("SELECT version_num FROM alembic_version") : pqxx::result();
      require_study_revision(row.empty() ? "" : row[0][0].c_str(), session_.location());
    } else {
      session_.exec_all(std::string(postgresql_study_tables));
      session_.exec("INSERT INTO version_info VALUES (1, $1, $2)", study_schema_version,
                    std::string("halmark ") + tool_version);
      session_.exec("INSERT INTO alembic_version VALUES ($1)", study_revision);
    }
  }

  StudyInfo info_of(std::int64_t id) {
    StudyInfo out{.id = id};
    out.name =
        text_at(session_.exec("SELECT study_name FROM studies WHERE study_id = $1", id)[0], 0);
    for (const pqxx::row& row : session_.exec(
             "SELECT direction FROM study_directions WHERE study_id = $1 ORDER BY objective", id)) {
      out.directions.push_back(direction_of(row[0].c_str()));
    }
    out.user = read_attributes(
        session_,
        "SELECT key, value_json FROM study_user_attributes WHERE study_id = $1 ORDER BY "
        "study_user_attribute_id",
        id);
    out.system = read_attributes(
        session_,
        "SELECT key, value_json FROM study_system_attributes WHERE study_id = $1 ORDER BY "
        "study_system_attribute_id",
        id);
    return out;
  }

  std::optional<StudyInfo> find(std::string_view name) override {
    const auto found =
        session_.exec("SELECT study_id FROM studies WHERE study_name = $1", std::string(name));
    if (found.empty()) return std::nullopt;
    return info_of(found[0][0].as<std::int64_t>());
  }

  StudyInfo create_study(const StudyInfo& study) override {
    StudyInfo out = study;
    out.id = session_
                 .exec("INSERT INTO studies(study_name) VALUES ($1) RETURNING study_id",
                       study.name)[0][0]
                 .as<std::int64_t>();
    for (std::size_t i = 0; i < study.directions.size(); ++i) {
      session_.exec(
          "INSERT INTO study_directions(direction, study_id, objective) VALUES ($1, $2, $3)",
          direction_name(study.directions[i]), out.id, static_cast<int>(i));
    }
    set_attributes(out.id, study.user, study.system);
    return out;
  }

  void set_attributes(std::int64_t study, const Attributes& user,
                      const Attributes& system) override {
    for (const auto& [key, text] : user) {
      session_.exec(
          "INSERT INTO study_user_attributes(study_id, key, value_json) VALUES ($1, $2, $3) ON "
          "CONFLICT(study_id, key) DO UPDATE SET value_json = excluded.value_json",
          study, key, text);
    }
    for (const auto& [key, text] : system) {
      session_.exec(
          "INSERT INTO study_system_attributes(study_id, key, value_json) VALUES ($1, $2, $3) ON "
          "CONFLICT(study_id, key) DO UPDATE SET value_json = excluded.value_json",
          study, key, text);
    }
  }

  void create(std::int64_t study, std::span<TrialRow> rows) override {
    trials_.create(study, rows);
  }
  void change(std::span<const TrialChange> changes) override { trials_.change(changes); }
  void beat(std::span<const std::int64_t> ids) override { trials_.beat(ids); }
  std::vector<TrialLease> leases(std::span<const std::int64_t> ids) override {
    return trials_.leases(ids);
  }

  postgresql::Session session_;
  PostgresqlTrials trials_;
};

}  // namespace

std::unique_ptr<StudyStore> open_postgresql_studies(const std::string& url, StudyAccess access) {
  return std::make_unique<PostgresqlStudies>(url, access);
}

}  // namespace halmark::journal
