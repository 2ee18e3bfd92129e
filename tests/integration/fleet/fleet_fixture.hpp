// Agents of this machine over a PostgreSQL server of this process.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include "tests/integration/halmark_fixture.hpp"
#include "tests/unit/postgres_server.hpp"

namespace halmark::integration {

class FleetTest : public HalmarkTest {
 protected:
  void SetUp() override {
    server_ = test::PostgresServer::get();
    if (server_ == nullptr) GTEST_SKIP() << "no PostgreSQL server could be started";
    url_ = server_->database();
    base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=3000000;timer=device_event";
    base_.limit_s = 200;
    know_peaks();
    tiny_sweep("fake", "shards = [1]");
    trials_ =
        2 * static_cast<std::int64_t>(data_of({"tune", "tiny.toml", "--plan"})["kernels"].size());
  }

  std::unique_ptr<Process> agent(const std::string& name, const std::string& lease = "2",
                                 Arguments more = {"--sentinel", "0"}) const {
    Arguments all = {"agent",   url_,  "--node",  name,
                     "--lease", lease, "--spool", path(name + ".db")};
    all.insert(all.end(), more.begin(), more.end());
    return std::make_unique<Process>(launch(all));
  }
  std::unique_ptr<Process> tune() const {
    return std::make_unique<Process>(launch({"tune", "tiny.toml", "--fleet", url_}));
  }

  Json fleet() const { return data_of({"fleet", url_}); }
  Json agent_of(const std::string& name) const {
    const Json all = fleet();
    for (const Json& a : all["agents"]) {
      if (a["node"] == name) return a;
    }
    return Json::object();
  }
  bool await(const std::function<bool()>& is_so, double limit_s = 120) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
    while (std::chrono::steady_clock::now() < end) {
      if (is_so()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  bool await_rows(const std::string& name, int count) const {
    return await([&] { return agent_of(name).value("measured", 0) >= count; });
  }

  std::int64_t count(const std::string& query) const {
    return std::stoll(server_->value(url_, query));
  }
  // Every trial once, none left, nothing damaged.
  void expect_whole() const {
    EXPECT_EQ(count("SELECT count(*) FROM halmark.entry WHERE kind = 'measurement'"), trials_);
    EXPECT_EQ(count("SELECT count(*) FROM (SELECT DISTINCT key, body::json->>'round' FROM "
                    "halmark.entry WHERE kind = 'measurement') AS trial"),
              trials_);
    EXPECT_EQ(count("SELECT count(*) FROM halmark.unit WHERE state <> 'done'"), 0);
    EXPECT_TRUE(data_of({"verify", url_})["findings"].empty());
  }
  static void expect_front(const Outcome& o) {
    EXPECT_TRUE(o.exit_code == 0 || o.exit_code == 4) << o.exit_code << o.err;
    EXPECT_THAT(o.out, testing::HasSubstr("on the front"));
  }
  static void end(Process& agent) {
    agent.signal(SIGTERM);
    EXPECT_EQ(agent.wait().exit_code, 143);
  }

  test::PostgresServer* server_ = nullptr;
  std::string url_;
  std::int64_t trials_ = 0;
};

}  // namespace halmark::integration
