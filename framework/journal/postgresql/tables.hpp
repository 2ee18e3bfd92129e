// The tables of the journal in a PostgreSQL database, in its schema `halmark`, and their versions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql/postgresql.hpp"

namespace halmark::journal {

// From the version before to this one, as statements; versions count from 1, the first has none.
struct TableMigration {
  const char* statements;
};
std::span<const TableMigration> table_migrations();

// Present version: that of a database to which all migrations were applied.
int table_version(std::span<const TableMigration> migrations);

// Makes the tables where there are none and migrates older ones, in one transaction; processes that
// do so at once wait for each other. Throws Error (exit 2) for newer tables, and for ones that are
// none of halmark's: triggers and rules could change what is stored.
void prepare_tables(postgresql::Session& session,
                    std::span<const TableMigration> migrations = table_migrations());
// For a reader, in an open transaction: throws Error (exit 2) where there are none, or newer ones.
void require_tables(postgresql::Session& session);

// What stands at the journal's tables that is not of halmark's making: "the trigger t on entry".
std::vector<std::string> foreign_table_parts(postgresql::Session& session);

}  // namespace halmark::journal
