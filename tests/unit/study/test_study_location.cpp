// Where studies are, as users and as Optuna write it. What SQLAlchemy itself makes of the same
// texts is asked in tests/integration/study/urls.py.
// How a writer of a journal waits for another one.
#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <ctime>
#include <filesystem>

#include "core/numeric/cast.hpp"
#include "study/storage/journal_lock.hpp"
#include "study/storage/location.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/postgres_server.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace halmark {
namespace {

using journal::study_place;
using journal::StudyBackend;
using namespace test;
using testing::HasSubstr;
using testing::Not;

struct Form {
  const char* location;
  StudyBackend backend;
  const char* target;
};

TEST(StudyLocation, forms_of_halmark_and_of_sqlalchemy_name_the_same_places) {
  const std::vector<Form> forms = {
      {"memory:", StudyBackend::memory, ""},
      {"sqlite://", StudyBackend::memory, ""},
      {"sqlite:///:memory:", StudyBackend::memory, ""},
      {"sqlite:a.db", StudyBackend::sqlite, "a.db"},
      {"sqlite:/tmp/a.db", StudyBackend::sqlite, "/tmp/a.db"},
      {"sqlite:///a.db", StudyBackend::sqlite, "a.db"},
      {"sqlite:///sub/a b.db", StudyBackend::sqlite, "sub/a b.db"},
      {"sqlite:////tmp/a.db", StudyBackend::sqlite, "/tmp/a.db"},
      {"sqlite+pysqlite:////tmp/a.db?timeout=30&check_same_thread=false", StudyBackend::sqlite,
       "/tmp/a.db"},
      {"journal:a.log", StudyBackend::journal, "a.log"},
      {"./absent/a.log", StudyBackend::journal, "./absent/a.log"},
      {"postgresql://u@h/d", StudyBackend::postgresql, "postgresql://u@h/d"},
      {"postgres://u@h/d", StudyBackend::postgresql, "postgres://u@h/d"},
      {"postgresql+psycopg2://u:p%40q@h:5433/d?host=/tmp", StudyBackend::postgresql,
       "postgresql://u:p%40q@h:5433/d?host=/tmp"},
      {"postgresql+psycopg://h/d", StudyBackend::postgresql, "postgresql://h/d"}};
  for (const Form& form : forms) {
    const journal::StudyPlace place = study_place(form.location);
    EXPECT_EQ(place.backend, form.backend) << form.location;
    EXPECT_EQ(place.target, form.target) << form.location;
  }
}

TEST(StudyLocation, what_names_no_place_is_refused_with_the_way_out) {
  const std::vector<std::pair<const char*, const char*>> refusals = {
      {"mysql+pymysql://u:secret@h/d", "MySQL"},
      {"mariadb://h/d", "copy_study"},
      {"oracle://h/d", "'oracle://'"},
      {"redis://h", "sqlite:PATH"},
      {"sqlite://a.db", "three and four"},
      {"sqlite:///a%20b.db", "sqlite:PATH"},
      {"sqlite:///file:a.db?uri=true", "'uri'"},
      {"sqlite+pysqlcipher://:key@/a.db", "pysqlcipher"},
      {"a.db", "does not say"},
      {"sqlite:", "does not say"},
      {"", "does not say"}};
  for (const auto& [location, expected] : refusals) {
    const Error error = error_of([&, text = location] { study_place(text); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused) << location;
    EXPECT_THAT(error.line(), HasSubstr(expected)) << location;
    EXPECT_THAT(error.line(), Not(HasSubstr("secret")));
    EXPECT_EQ(error.line().find('\n'), std::string::npos);
  }
}

TEST(StudyLocation, the_path_of_a_file_is_judged_by_its_first_bytes) {
  const ScratchFolder folder;
  make_study(*open_study_store("sqlite:" + (folder / "a"), StudyAccess::or_create));
  make_study(*open_study_store("journal:" + (folder / "b"), StudyAccess::or_create));
  for (const char* name : {"a", "b"}) {
    const auto store = open_study_store(folder / name, StudyAccess::existing);
    EXPECT_EQ(store->list().at(0).info.name, "s") << name;
  }
}

TEST(StudyLocation, a_url_of_sqlalchemy_opens_the_same_file_as_its_path) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_study(*open_study_store("sqlite:///" + path, StudyAccess::or_create));
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(open_study_store("sqlite:" + path, StudyAccess::existing)->list().size(), 1u);
}

TEST(StudyLocation, the_driver_of_a_server_is_of_no_consequence) {
  PostgresServer* server = PostgresServer::get();
  if (server == nullptr) GTEST_SKIP() << "there is no PostgreSQL server";
  const std::string url = server->database();
  std::string with_driver = url;
  with_driver.replace(0, std::string("postgresql").size(), "postgresql+psycopg2");
  try {
    make_study(*open_study_store(with_driver, StudyAccess::or_create));
  } catch (const Error& error) {
    if (error.exit_code() == ExitCode::unfit) GTEST_SKIP() << error.line();
    throw;
  }
  EXPECT_EQ(open_study_store(url, StudyAccess::existing)->list().at(0).info.name, "s");
}

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return as_double(t.tv_sec) + as_double(t.tv_nsec) * 1e-9;
}

// A tenth of the time at most is work, whether the lock or its link is another's.
TEST(StudyLockWait, is_spent_asleep) {
  const test::ScratchFolder folder;
  const std::string path = folder / "j.log";
  const int own = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const auto refusal = [&] {
    const double before = cpu_s();
    const Error error = test::error_of([&] {
      const journal::StudyJournalLock lock(path, own, {.grace_s = 5, .wait_max_s = 0.5});
    });
    EXPECT_LT(cpu_s() - before, 0.1);
    EXPECT_EQ(error.exit_code(), ExitCode::error);
    return error.line();
  };
  const int other = open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  EXPECT_THAT(refusal(), testing::HasSubstr("writes this journal and does not end"));
  close(other);
  test::write_file(path + ".lock", "");
  EXPECT_THAT(refusal(), testing::HasSubstr("another process keeps the lock of this journal"));
  std::filesystem::remove(path + ".lock");
  const journal::StudyJournalLock lock(path, own, {.grace_s = 5, .wait_max_s = 0.5});
  EXPECT_EQ(lock.note(), "") << "a wait that ended in vain keeps nothing";
  close(own);
}

}  // namespace
}  // namespace halmark
