// Who a worker is, whether it still lives, and what becomes of the trials that it holds.
#include "framework/study/worker.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "core/json/json.hpp"
#include "framework/study/study.hpp"
#include "study/storage/open.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::HasSubstr;

// proc(5): the fields behind the name count from 3 on, the start is the 22nd.
std::string start_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  std::istringstream fields(text.str().substr(text.str().rfind(')') + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  return field;
}

TEST(StudyWorker, is_named_by_its_machine_its_process_and_the_start_of_that) {
  const Json first = Json::parse(this_worker()), second = Json::parse(this_worker());
  EXPECT_EQ(first.at("pid"), getpid());
  EXPECT_EQ(first.at("start"), start_of(getpid()));
  EXPECT_EQ(second.at("instance"), first.at("instance").get<int>() + 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, boot);
  EXPECT_EQ(first.at("boot"), boot);
  EXPECT_THAT(first.at("namespace").get<std::string>(), HasSubstr("pid:["));
  char host[128] = {};
  gethostname(host, sizeof host - 1);
  EXPECT_EQ(first.at("host"), host);
}

TEST(StudyWorker, is_known_dead_only_when_its_process_of_this_machine_is_gone) {
  const Json alive = Json::parse(this_worker());
  const auto with = [&](const char* key, const Json& value) {
    Json out = alive;
    out[key] = value;
    return out.dump();
  };
  EXPECT_FALSE(is_known_dead(alive.dump()));
  EXPECT_TRUE(is_known_dead(with("start", "1"))) << "the number was given to another process";
  EXPECT_TRUE(is_known_dead(with("pid", 0x7ffffff0)));
  for (const char* key : {"host", "boot", "namespace"}) {
    Json other = alive;
    other["start"] = "1";
    other[key] = "elsewhere";
    EXPECT_FALSE(is_known_dead(other.dump())) << key << ": nothing is known of another machine";
    other.erase(key);
    EXPECT_FALSE(is_known_dead(other.dump()));
  }
  for (const char* text : {"", "\"\"", "[]", "{", "{}", R"({"pid":"x"})"}) {
    EXPECT_FALSE(is_known_dead(text)) << text;
  }
}

TEST(StudyWorker, that_has_ended_is_dead_before_anyone_waited_for_it) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string own = this_worker();
    const bool is_written = write(ends[1], own.data(), own.size()) > 0;
    char byte = 0;
    if (is_written) pause();
    (void)byte;
    _exit(0);
  }
  close(ends[1]);
  char text[1024];
  const ssize_t n = read(ends[0], text, sizeof text);
  close(ends[0]);
  ASSERT_GT(n, 0);
  const std::string worker(text, static_cast<std::size_t>(n));
  EXPECT_FALSE(is_known_dead(worker));
  kill(child, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(is_known_dead(worker)) << "a zombie";
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_known_dead(worker));
}

SpaceDescription sixteen() {
  SpaceDescription out;
  out.domains = {{.name = "a", .kind = DomainKind::integer, .low = 0, .high = 15}};
  out.objectives = {{.name = "time"}};
  return out;
}

class Claims : public testing::Test {
 protected:
  std::unique_ptr<StudyStore> open() const {
    return open_study_store("sqlite:" + (folder_ / "a"), StudyAccess::or_create);
  }
  StudySettings settings(double lease_s = 600) const {
    return {.name = "s", .sampler = "random", .seed = 3, .lease_s = lease_s};
  }
  ScratchFolder folder_;
};

// Proposed, enqueued and taken from another: a worker holds all three and gives all three back.
TEST_F(Claims, of_every_origin_are_given_back_and_go_to_the_next) {
  std::vector<std::unique_ptr<StudyStore>> stores;
  std::vector<std::unique_ptr<Study>> workers;
  const auto next = [&]() -> Study& {
    stores.push_back(open());
    workers.push_back(std::make_unique<Study>(*stores.back(), sixteen(), settings()));
    return *workers.back();
  };
  Study* holder = &next();
  const std::vector<Setting> wanted = {{{"a", std::int64_t{11}}}};
  holder->enqueue(wanted);
  const auto asked = holder->ask(2);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].params, wanted[0]);
  for (int i = 0; i < 4; ++i) {
    holder->release();
    holder = &next();
    const auto again = holder->ask(2);
    ASSERT_EQ(again.size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(again[k].trial, asked[k].trial) << "given back often is not lost often";
      EXPECT_EQ(again[k].params, asked[k].params);
    }
  }
  const StudyVerdict verdict{.trial = asked[1].trial, .values = {1}};
  holder->tell({&verdict, 1});
  holder->release();
  EXPECT_EQ(next().ask(1).at(0).trial, asked[0].trial);
}

TEST_F(Claims, as_many_as_are_asked_for_and_the_rest_later) {
  const auto a = open(), b = open();
  Study first(*a, sixteen(), settings()), second(*b, sixteen(), settings());
  EXPECT_TRUE(first.ask(0).empty());
  first.ask(3);
  first.release();
  EXPECT_EQ(second.ask(1).at(0).trial, 0);
  const auto rest = second.ask(3);
  ASSERT_EQ(rest.size(), 3u);
  EXPECT_EQ(rest[0].trial, 1);
  EXPECT_EQ(rest[1].trial, 2);
  EXPECT_EQ(rest[2].trial, 3);
}

TEST_F(Claims, what_another_took_meanwhile_keeps_none_behind_it_from_being_given_back) {
  const auto a = open(), b = open();
  Study first(*a, sixteen(), settings());
  const auto asked = first.ask(3);
  ASSERT_EQ(asked.size(), 3u);
  TrialCursor cursor;
  const TrialChange taken{.id = a->trials(first.info().id, cursor)[0].id,
                          .system = {{std::string(worker_attribute), R"({"host":"elsewhere"})"}}};
  a->transact([&](StudyTransaction& t) { t.change({&taken, 1}); });
  first.release();
  const auto again = Study(*b, sixteen(), settings()).ask(2);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].trial, asked[1].trial);
  EXPECT_EQ(again[1].trial, asked[2].trial);
}

// Two seconds of lease, and one for clocks of whole seconds.
TEST_F(Claims, a_sign_of_life_keeps_each_of_them) {
  const auto a = open(), b = open();
  Study keeper(*a, sixteen(), settings());
  const std::vector<Setting> wanted = {{{"a", std::int64_t{5}}}};
  keeper.enqueue(wanted);
  ASSERT_EQ(keeper.ask(2).size(), 2u);
  usleep(3'500'000);
  keeper.beat();
  {
    Study taker(*b, sixteen(), settings(2));
    EXPECT_EQ(taker.ask(1).at(0).trial, 2) << "both were heard of just now";
    taker.release();
  }
  usleep(5'000'000);
  Study taker(*b, sixteen(), settings(2));
  std::set<int> trials;
  for (const StudyProposal& p : taker.ask(3)) trials.insert(p.trial);
  EXPECT_EQ(trials, (std::set<int>{0, 1, 2}));
  keeper.beat();
  keeper.release();
  EXPECT_EQ(keeper.ask(1).at(0).trial, 3) << "what was taken is no more the keeper's to give back";
}

// The worker of a trial is a process that has ended: no lease is waited for.
TEST_F(Claims, of_a_process_that_is_gone_are_taken_at_once) {
  const pid_t child = fork();
  if (child == 0) {
    const auto own = open();
    Study lost(*own, sixteen(), settings());
    lost.ask(1);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  const auto a = open();
  Study taker(*a, sixteen(), settings());
  EXPECT_EQ(taker.ask(1).at(0).trial, 0);
}

TEST(StudyLocations, name_a_kind_and_a_path) {
  const ScratchFolder folder;
  EXPECT_NO_THROW(open_study_store("journal:" + (folder / "j"), StudyAccess::or_create));
  EXPECT_NO_THROW(open_study_store("memory:", StudyAccess::or_create));
  for (const char* none : {"sqlite:", "journal:", "sqlite", "", ":", "a.db", "redis:x"}) {
    EXPECT_THAT(error_of([&] { open_study_store(none, StudyAccess::or_create); }).line(),
                HasSubstr("does not say where studies are kept"))
        << none;
  }
  EXPECT_THAT(error_of([&] { open_study_store("oracle://h/d", StudyAccess::or_create); }).line(),
              HasSubstr("studies cannot be kept at 'oracle://'"));
}

}  // namespace
}  // namespace halmark
