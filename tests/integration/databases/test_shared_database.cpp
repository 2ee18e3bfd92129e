// The program with its results in a PostgreSQL server, beside the same in a file.
#include <algorithm>
#include <csignal>

#include "tests/integration/halmark_fixture.hpp"
#include "tests/unit/postgres_server.hpp"

namespace halmark::integration {
namespace {

using test::PostgresServer;
using testing::HasSubstr;
using testing::Not;

class SharedDatabase : public HalmarkTest {
 protected:
  void SetUp() override {
    server_ = PostgresServer::get();
    if (server_ == nullptr) GTEST_SKIP() << "no PostgreSQL server can be started";
    if (halmark({"report", "--db", "postgresql:///x?host=/nowhere"}).exit_code == 5) {
      GTEST_SKIP() << "this halmark was built without libpqxx";
    }
    url_ = database();
    tiny_sweep("fake", "shards = [1]");
    base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=500000;timer=device_event";
  }

  // An empty one, with a password that the server does not ask for.
  std::string database() const {
    std::string out = server_->database();
    return out.insert(out.find('@'), ":" + std::string(secret));
  }
  Outcome with_url(Arguments arguments) const {
    arguments.insert(arguments.end(), {"--db", url_});
    Outcome out = halmark(std::move(arguments));
    EXPECT_THAT(out.out + out.err, Not(HasSubstr(secret)));
    return out;
  }
  std::int64_t count(const std::string& what) const {
    return std::stoll(server_->value(url_, "SELECT count(*) FROM " + what));
  }

  static constexpr const char* secret = "hunter2";
  PostgresServer* server_ = nullptr;
  std::string url_;
};

TEST_F(SharedDatabase, a_sweep_that_is_stopped_goes_on_and_ends_as_in_a_file) {
  Process process(launch({"tune", "tiny.toml", "--db", url_}));
  ASSERT_TRUE(process.await_lines("tune ", 4)) << process.err();
  process.signal_group(SIGINT);
  const Outcome stopped = process.wait();
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  const std::int64_t told = told_trials(stopped.err);
  EXPECT_GE(count("halmark.entry WHERE kind = 'measurement'"), told);
  const Outcome ended = with_url({"tune", "tiny.toml"});
  // 4 where neighbours of this machine spoiled a row: it is one all the same.
  EXPECT_THAT(ended.exit_code, testing::AnyOf(0, 4)) << ended.err;
  const Outcome in_file = halmark({"tune", "tiny.toml", "--db", "r.db"});
  EXPECT_THAT(in_file.exit_code, testing::AnyOf(0, 4)) << in_file.err;
  // One run, of two writers; as many rows as in a file, none of them measured twice.
  EXPECT_EQ(count("halmark.run"), 1);
  EXPECT_EQ(count("halmark.writer"), 2);
  EXPECT_EQ(count("halmark.entry WHERE kind = 'measurement'"),
            sql_count(path("r.db"), "SELECT count(*) FROM entry WHERE kind = 'measurement'"));
  EXPECT_EQ(count("(SELECT DISTINCT key, body::json->>'round' FROM halmark.entry WHERE kind = "
                  "'measurement') x"),
            count("halmark.entry WHERE kind = 'measurement'"));
  EXPECT_EQ(count("halmark.entry WHERE kind = 'evaluation'") > 0, true);
  EXPECT_EQ(server_->value(url_, "SELECT count(*) FROM halmark.run WHERE command LIKE '%hunter2%'"),
            "0");
  EXPECT_GT(count("trials"), 0) << "the studies of a server lie in the same database";
  EXPECT_THAT(files(), Not(testing::Contains(HasSubstr("postgres"))));
}

TEST_F(SharedDatabase, every_command_that_reads_results_reads_them_there) {
  const Outcome tuned = undisturbed([&] {
    url_ = database();
    return with_url({"tune", "tiny.toml"});
  });
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const Outcome verified = with_url({"verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out;
  EXPECT_THAT(verified.out, HasSubstr("everything matches"));
  EXPECT_EQ(halmark({"verify", url_}).exit_code, 0) << "as an argument too";
  const Outcome report = with_url({"report", "--json"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_FALSE(envelope_of(report.out)["data"].empty());
  EXPECT_EQ(with_url({"history", "--list"}).exit_code, 0);
  EXPECT_EQ(with_url({"winners"}).exit_code, 0);
  EXPECT_EQ(with_url({"export"}).exit_code, 0);
  EXPECT_EQ(with_url({"study", "list"}).exit_code, 0);
  ASSERT_THAT(with_url({"tune", "tiny.toml", "--again"}).exit_code, testing::AnyOf(0, 4));
  const Outcome compared = halmark({"compare", url_ + ":1", url_ + ":2"});
  EXPECT_EQ(compared.exit_code, 4) << "two rounds are too few to compare: " << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("series (floor"));
  EXPECT_THAT(compared.out + compared.err, Not(HasSubstr(secret)));
  const Outcome retired = with_url({"retire", "--keep-runs", "1"});
  EXPECT_EQ(retired.exit_code, 0) << retired.err;
  const Outcome again = with_url({"verify"});
  EXPECT_EQ(again.exit_code, 0) << again.out;
  EXPECT_THAT(again.out, HasSubstr("run 1: samples retired"));
}

TEST_F(SharedDatabase, measured_kernels_are_kept_there_and_an_edit_is_named) {
  const Outcome bench = with_url({"bench", "--op", "gemm", "--params", "m=16,n=16,k=16", "--dtype",
                                  "f32", "--backend", "fake"});
  EXPECT_THAT(bench.exit_code, testing::AnyOf(0, 4)) << bench.err;
  EXPECT_EQ(count("halmark.run"), 1);
  ASSERT_TRUE(server_->sql(url_,
                           "UPDATE halmark.entry SET body = body || ' ' WHERE kind = "
                           "'measurement'"));
  const Outcome verified = with_url({"verify"});
  EXPECT_EQ(verified.exit_code, 2);
  EXPECT_THAT(verified.out, HasSubstr("table entry"));
  EXPECT_THAT(verified.out, HasSubstr("column checksum"));
}

TEST_F(SharedDatabase, what_a_server_cannot_do_is_refused_with_the_remedy) {
  const Outcome salvage = halmark({"salvage", url_, "new.db"});
  EXPECT_EQ(salvage.exit_code, 2);
  EXPECT_THAT(salvage.err, HasSubstr("pg_dump"));
  EXPECT_THAT(salvage.err, Not(HasSubstr(secret)));
  const Outcome empty = with_url({"report"});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.err, HasSubstr("holds no results"));
  const Outcome other = halmark({"report", "--db", "postgresq://h/d"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("did you mean 'postgresql'"));
  const Outcome away = halmark({"report", "--db", "postgresql://u:hunter2@/d?host=/nowhere"});
  EXPECT_EQ(away.exit_code, 1);
  EXPECT_TRUE(is_one_line(away.err)) << away.err;
  EXPECT_THAT(away.err, Not(HasSubstr(secret)));
}

}  // namespace
}  // namespace halmark::integration
