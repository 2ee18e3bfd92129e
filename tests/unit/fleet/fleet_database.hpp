// A shared database with units in it, in a server of this process.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "../postgres_server.hpp"
#include "fleet/sessions.hpp"
#include "fleet/work_table.hpp"
#include "journal/shared_store.hpp"
#include "sql/postgresql.hpp"

namespace halmark::fleet {

inline KernelCase unit_case(int m) {
  KernelCase out{.problem = {.op = "gemm"}, .backend = "fake"};
  out.problem.params.set("m", m);
  return out;
}

class FleetDatabase : public testing::Test {
 protected:
  void SetUp() override {
    auto* server = test::PostgresServer::get();
    if (server == nullptr) GTEST_SKIP() << "no PostgreSQL server could be started";
    url_ = server->database();
    store_ = open_shared_store(url_, "test:1");
    run_ = store_->begin_run({.command = "halmark tune s.toml",
                              .plan_hash = "p",
                              .plan_text = "{}",
                              .fingerprint = "cpu-1a@fleet",
                              .tool_version = "1",
                              .tool_build = "b",
                              .started_utc = "2026-11-27T00:00:00Z"});
    table_ = std::make_unique<WorkTable>(store_->session());
  }

  std::vector<WorkUnit> units(int count, const std::string& batch = "b", int round = 0) const {
    std::vector<WorkUnit> out;
    for (int i = 0; i < count; ++i) {
      const KernelCase k = unit_case(i + 1);
      out.push_back({.run = run_, .name = k.key(), .batch = batch, .round = round, .cases = {k}});
    }
    return out;
  }

  Agent enter(const std::string& node, double lease_s = 60, Fitness offer = need()) {
    Agent out{.node = node, .pid = 1, .offer = std::move(offer), .state = "idle"};
    out.lease_s = lease_s;
    out.id = table_->enter(out);
    return out;
  }

  static Fitness need() { return {{"cpu-1a"}, {{"fake", "h1"}}, "1"}; }

  Measurement row_of(const WorkUnit& unit) const {
    Measurement out{.kernel_case = unit.cases.at(0), .round = unit.round};
    out.status = Status::ok;
    out.duration_ns_median = 1000;
    return out;
  }

  // As agents store: row and unit in one transaction.
  void finish(const Agent& agent, const WorkUnit& unit) {
    const Measurement row = row_of(unit);
    store_->append_with(run_, std::span(&row, 1), [&](postgresql::Session& session) {
      WorkTable::finish(session, {.agent = agent.id, .unit = unit.id, .attempt = unit.attempt});
    });
  }

  void pass_time(double seconds) {  // of leases: they end so much earlier
    test::PostgresServer::get()->sql(
        url_, "UPDATE halmark.unit SET lease_until = lease_until - interval '" +
                  std::to_string(seconds) + " seconds'");
  }

  std::string url_;
  std::unique_ptr<SharedStore> store_;
  std::int64_t run_ = 0;
  std::unique_ptr<WorkTable> table_;
};

}  // namespace halmark::fleet
