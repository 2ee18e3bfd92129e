// The writing half of a results database on a server: rows of this process get a chain of their own
// in each run, so that nobody waits for another one's commit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "journal/rows/stored_row.hpp"
#include "sql/postgresql.hpp"

namespace halmark::journal {

class PostgresqlWriter {
 public:
  // Refers to `session`.
  PostgresqlWriter(postgresql::Session& session, std::string node)
      : session_(session), node_(std::move(node)) {}

  std::int64_t begin_run(const RunInfo& run);
  std::int64_t find_or_begin_run(const RunInfo& run);
  // In one transaction, with what else belongs to it.
  void append(std::int64_t run, const std::vector<Entry>& entries,
              const std::function<void(postgresql::Session&)>& also = {});
  RunSamples retire_samples(std::int64_t run, const std::string& policy);

 private:
  struct Place {
    std::int64_t writer = 0;
    std::string chain;    // of the last row that is known to be stored
    std::string pending;  // behind rows of which the server did not say whether they are
  };
  std::int64_t insert(const RunInfo& run);
  Place& place_in(std::int64_t run);
  // Until it is known whether it was stored. False: earlier rows were, so that `chain_after` is no
  // longer what follows.
  bool commit(Place& place, const std::string& chain_after, const std::function<void()>& body);
  std::string insert(std::int64_t run, const Place& place, const std::string& chain_before,
                     const std::vector<Entry>& entries);

  postgresql::Session& session_;
  std::string node_;
  std::map<std::int64_t, Place> places_;  // by run
};

}  // namespace halmark::journal
