// A results database in a PostgreSQL server, by its URL.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "journal/store.hpp"

namespace halmark {

namespace postgresql {
class Session;  // sql/postgresql.hpp
}

// A results database that several processes write at once, each with a chain of its own in every
// run. A row that an append returned of is committed; where the server is lost meanwhile, the
// append finds out whether it is, and goes on.
class SharedStore : public Store {
 public:
  using Store::Store;
  // The run of this plan and fingerprint, begun if there is none: processes that start at once
  // share one.
  virtual std::int64_t find_or_begin_run(const RunInfo& run) = 0;
  // Appends the rows and runs `also` in the same transaction; what it throws undoes both. It runs
  // again where the server was lost before the transaction ended.
  virtual void append_with(std::int64_t run, std::span<const Measurement> rows,
                           const std::function<void(postgresql::Session&)>& also) = 0;
  // For tables that stand beside the journal's in the schema halmark.
  virtual postgresql::Session& session() = 0;
};

// Opens the tables, and makes or migrates them first. `node`: who writes, for the table of writers
// (host and pid). Throws Error: exit 2 for tables of a newer or of no halmark, exit 1 where the
// server cannot be reached, exit 5 without the client library.
std::unique_ptr<SharedStore> open_shared_store(const std::string& url, const std::string& node);
// Makes nothing and changes nothing. Exit 2 where there are no tables.
std::unique_ptr<Store> open_shared_store_read_only(const std::string& url);

// "HOST pid N" of this process.
std::string this_node();

}  // namespace halmark
