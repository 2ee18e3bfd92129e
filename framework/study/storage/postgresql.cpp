// Studies in a PostgreSQL server.
#include "sql/postgresql.hpp"
#include "core/text/error.hpp"
#include "study/storage/backends.hpp"
#include "study/storage/sql_studies.hpp"
#include "study/storage/tables.hpp"

namespace halmark::journal {
namespace {

bool has_table(postgresql::Session& session, std::string_view name) {
  return !session.exec("SELECT to_regclass(?)", name)[0][0].is_null();
}

void prepare_tables(postgresql::Session& session, StudyAccess access) {
  if (!has_table(session, "studies")) {
    if (access == StudyAccess::or_create) {
      return session.exec_all(study_tables(session.dialect()));
    }
    throw refused("this database holds no studies", session.location(),
                  "name another place with --study");
  }
  const sql::Rows revision = has_table(session, "alembic_version")
                                 ? session.exec("SELECT version_num FROM alembic_version")
                                 : sql::Rows();
  require_study_revision(revision.empty() ? "" : revision[0][0].text(), session.location());
}

}  // namespace

std::unique_ptr<StudyStore> open_postgresql_studies(const std::string& url, StudyAccess access) {
  auto session = std::make_unique<postgresql::Session>(
      url, postgresql::SessionWords{.instead = "keep the studies in sqlite:PATH",
                                    .turn = static_cast<int>(postgresql::Turn::studies)});
  session->write([&] { prepare_tables(*session, access); });
  std::string location = session->location();
  return studies_in(std::move(session), std::move(location));
}

}  // namespace halmark::journal
