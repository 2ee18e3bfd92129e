// An agent looks at its node: one that is not what its own history says claims nothing, and what it
// measured before that was seen is suspect.
#include <filesystem>

#include "fleet_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

class FleetSentinel : public FleetTest {
 protected:
  // Its kernels are large: they are executed less often where the host's clock times them.
  void SetUp() override {
    FleetTest::SetUp();
    base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=3000000";
  }
  std::unique_ptr<Process> watched() const { return agent("one", "2", {"--sentinel", "600"}); }

  // The agent that entered last: those before it had the same name.
  Json now() const {
    const Json all = fleet();
    return all["agents"].empty() ? Json::object() : all["agents"].back();
  }

  // As if all that was seen before had taken `factor` of its time.
  void scale_history(double factor) const {
    Json document = Json::parse(read("state/halmark/sentinel-one.json"));
    for (auto& [name, looks] : document["looks_ns"].items()) {
      for (Json& ns : looks) ns = factor * ns.get<double>();
    }
    write("state/halmark/sentinel-one.json", document.dump());
  }
  // One look before a batch and one behind it, of each of the four cases; as if there had been six.
  void learn() const {
    const auto one = watched();
    expect_front(tune()->wait());
    // Two seconds after the last row; its figures are there when it is idle again.
    const auto looks_behind = [&] { return now()["state"] == "sentinel"; };
    ASSERT_TRUE(await(looks_behind));
    ASSERT_TRUE(await([&] { return now()["state"] == "idle"; }));
    end(*one);
    Json document = Json::parse(read("state/halmark/sentinel-one.json"));
    ASSERT_EQ(document["looks_ns"].size(), 4u) << document;
    for (auto& [name, looks] : document["looks_ns"].items()) {
      // One that a neighbour disturbed is no look.
      ASSERT_THAT(looks.size(), testing::AllOf(testing::Ge(1u), testing::Le(2u))) << document;
      EXPECT_THAT(name, HasSubstr("on fake:0"));
      const std::size_t seen = looks.size();
      while (looks.size() < 6) looks.push_back(looks[looks.size() % seen]);
    }
    write("state/halmark/sentinel-one.json", document.dump());
  }
  std::unique_ptr<Process> tune_again() const {
    const std::string text = read("tiny.toml");
    write("again.toml", "name = \"again\"" + text.substr(text.find('\n')));
    return std::make_unique<Process>(launch({"tune", "again.toml", "--fleet", url_}));
  }
};

TEST_F(FleetSentinel, that_moved_keeps_its_node_from_claiming_until_it_passes) {
  learn();
  scale_history(0.5);
  const auto one = watched();
  const auto waiting = tune_again();
  ASSERT_TRUE(await([&] { return now()["state"] == "unfit"; })) << one->err();
  EXPECT_THAT(now()["doing"].get<std::string>(), HasSubstr("W-NODE-01"));
  EXPECT_EQ(now()["measured"], 0);
  EXPECT_TRUE(waiting->await_lines("one is unfit: W-NODE-01", 1)) << waiting->err();
  scale_history(2);
  expect_front(waiting->wait());
  EXPECT_EQ(count("SELECT count(*) FROM halmark.entry WHERE kind = 'doubt'"), 0);
  end(*one);
}

TEST_F(FleetSentinel, that_moved_behind_a_batch_makes_its_rows_suspect) {
  learn();
  const auto one = watched();
  const auto waiting = tune_again();
  // Asked of the server: the program that shows the agents takes as long as the batch.
  const std::string rows = "SELECT count(*) FROM halmark.entry WHERE kind = 'measurement'";
  ASSERT_TRUE(await([&] { return count(rows) > trials_; })) << one->err();
  scale_history(0.5);
  expect_front(waiting->wait());
  ASSERT_TRUE(await([&] { return now()["state"] == "unfit"; })) << one->err();
  EXPECT_EQ(count("SELECT count(*) FROM halmark.entry WHERE kind = 'doubt'"),
            now()["measured"].get<std::int64_t>());
  const Json verified = data_of({"verify", url_});
  EXPECT_TRUE(verified["findings"].empty()) << verified;
  const Json report = data_of({"report", "--db", url_});
  for (const Json& kernel : report["kernels"]) {
    EXPECT_NE(kernel["status"], "ok") << kernel;
  }
  EXPECT_THAT(report.dump(), HasSubstr("W-NODE-01"));
  end(*one);
}

TEST_F(FleetSentinel, has_a_history_that_is_read_as_any_file_of_a_user) {
  write("state/halmark/sentinel-one.json", "{\"schema\": \"halmark.sentinel\"}");
  const auto one = watched();
  const auto waiting = tune();
  const Outcome o = one->wait();
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_THAT(o.err, HasSubstr("no history of a sentinel"));
  EXPECT_THAT(o.err, HasSubstr("sentinel-one.json"));
  waiting->signal(SIGTERM);
  waiting->wait();
}

}  // namespace
}  // namespace halmark::integration
