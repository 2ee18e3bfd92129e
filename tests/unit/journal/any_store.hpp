// Tests of what holds wherever the rows are: in a file, and on a server where there is one.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/postgres_server.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::test {

class AnyStore : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "sqlite") {
      path_ = folder_ / "a.db";
    } else {
      PostgresServer* server = PostgresServer::get();
      if (server == nullptr) GTEST_SKIP() << "no PostgreSQL server can be started";
      path_ = server->database();
    }
  }

  ScratchFolder folder_;
  std::string path_;
};

}  // namespace halmark::test
