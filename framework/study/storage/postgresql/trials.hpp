// Trials in Optuna's tables on a server: a statement per table however many trials there are.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "postgresql/session.hpp"
#include "study/storage/backends.hpp"
#include "study/storage/postgresql/columns.hpp"
#include "study/storage/tables.hpp"

namespace halmark::journal {

using postgresql::text_at;

// Pairs of key and JSON text that a statement selects for one id.
Attributes read_attributes(postgresql::Session& session, const char* sql, std::int64_t id);

// Every call is part of the transaction that is open.
class PostgresqlTrials {
 public:
  explicit PostgresqlTrials(postgresql::Session& session)
      : session_(session), texts_(session.location()) {}

  std::vector<TrialRow> read(std::int64_t study, TrialCursor& cursor);
  void create(std::int64_t study, std::span<TrialRow> rows);
  void change(std::span<const TrialChange> changes);
  void beat(std::span<const std::int64_t> ids);
  std::vector<TrialLease> leases(std::span<const std::int64_t> ids);

 private:
  // The rows beside `trials`, column by column.
  struct Details {
    Column param_trial, param_name, param_value, distribution;
    Column value_trial, objective, value, value_type;
    Column step_trial, step, step_value, step_type;
    Column user_trial, user_key, user_text, system_trial, system_key, system_text;
  };
  // Those that are new to the cursor or may have changed, by their ids; without what is beside
  // them.
  std::vector<TrialRow> changed_rows(std::int64_t study, const TrialCursor& cursor);
  void read_details(std::vector<TrialRow>& rows);
  void add(Details& to, std::int64_t id, const std::vector<TrialParam>& params,
           const std::vector<double>& values, const Attributes& user, const Attributes& system);
  void store(const Details& details);

  postgresql::Session& session_;
  DistributionTexts texts_;
};

}  // namespace halmark::journal
