// Units of work and those who measure them, in tables beside the journal's: leases by the server's
// clock, fenced by the number of the attempt.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "fleet/work_unit.hpp"

namespace halmark::postgresql {
class Session;
}

namespace halmark::fleet {

inline constexpr int claim_max = 8;    // units at once
inline constexpr int losses_max = 3;   // agents that a unit may cost
inline constexpr double lease_s = 60;  // unless an agent is told otherwise

// What a unit needs and what an agent has: classes of hardware, the hash of each plugin by its
// backend, and the version of halmark, which must be the same.
struct Fitness {
  std::vector<std::string> classes;
  std::map<std::string, std::string> plugins;
  std::string tool;
};

// "cpu-2f...": fingerprints without their host, each once.
std::vector<std::string> classes_of(const std::string& fingerprint);

struct Agent {
  std::int64_t id = 0;
  std::string node;  // as people call the machine
  std::int64_t pid = 0;
  Fitness offer;
  std::string state;  // "idle", "measuring", "sentinel", "unfit", "left", "refused"
  std::string doing;  // the case at hand
  std::int64_t measured = 0, failed = 0, lost = 0;
  double since_s = 0,
         silent_s = 0;  // since it began, since it was last heard, by the server's clock
  double lease_s = fleet::lease_s;
  // What it tells of its machine when it enters (nodes/node_facts.hpp), and the class of the rows
  // of each of its devices: {"fake:0": "device-7f..."}.
  std::string facts = {};
  std::map<std::string, std::string> places = {};
};

// What an agent is that was turned away when it entered, and one whose sentinel moved: it claims
// nothing until that passes. `doing` says why.
inline constexpr const char* refused_state = "refused";
inline constexpr const char* unfit_state = "unfit";

// It has not left, was not turned away, and was heard within three leases.
bool is_present(const Agent& agent);

struct UnitCounts {
  std::int64_t ready = 0, leased = 0, done = 0, failed = 0;
  bool operator==(const UnitCounts&) const = default;
};

struct FailedUnit {
  WorkUnit unit;
  std::vector<std::string> nodes;  // that were lost while they had it
};

struct RunProgress {
  std::int64_t run = 0;
  std::string command, fingerprint;
  UnitCounts units;
  double per_minute = 0;  // that were done within the last minute
  Fitness need;
};

// Somebody else has the unit by now, or had it finished.
class LostLease : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// By this very attempt: the answer to an earlier commit was lost.
class AlreadyStored : public LostLease {
 public:
  using LostLease::LostLease;
};

// Every call is one transaction, but for `finish`, which is part of the one that stores the rows.
// Throws Error (exit 1) where the server cannot be reached.
class WorkTable {
 public:
  // Makes the tables where there are none, beside the journal's, and adds to those of earlier
  // versions what they lack: else it needs no right to make any. Refers to the session.
  explicit WorkTable(postgresql::Session& session);
  // Whether this database was ever a fleet's; nothing is made.
  static bool is_there(postgresql::Session& session);
  // Whether it has all that this version's has.
  static bool is_of_this_version(postgresql::Session& session);

  // Ids in order; what another command has added before stays as it is.
  std::vector<std::int64_t> add(std::span<const WorkUnit> units, const UnitSettings& settings,
                                const Fitness& need);
  UnitCounts counts(std::span<const std::int64_t> ids);
  // Leases that ran out: the unit is free again, or has failed where it has cost enough agents.
  // After a start of the server every agent has the time of a lease to come back.
  void expire();
  std::vector<FailedUnit> failed(std::span<const std::int64_t> ids);
  // Within the transaction that stores a row which says so. False: another command was faster.
  static bool give_up(postgresql::Session& session, std::int64_t unit);

  struct Claim {
    std::vector<WorkUnit> units;  // of one batch; empty = there is nothing to do
    UnitSettings settings;
  };
  Claim claim(const Agent& agent, int units_max = claim_max);
  // Prolongs, also what has run out and nobody has taken. Gives the units that it still has.
  std::vector<std::int64_t> renew(const Agent& agent, std::span<const WorkUnit> held);
  // Unmeasured ones are free at once.
  void release(const Agent& agent, std::span<const WorkUnit> held);
  // Within the transaction that stores the unit's rows, of which so many are failures. Throws
  // LostLease, AlreadyStored.
  struct Finished {
    std::int64_t agent = 0, unit = 0;
    int attempt = 0;
    std::int64_t rows = 1, failures = 0;
  };
  static void finish(postgresql::Session& session, const Finished& finished);

  std::int64_t enter(const Agent& agent);
  void say(const Agent& agent);
  void leave(const Agent& agent);
  std::vector<Agent> agents();  // those that have not left, and those of the last day
  // Those that told of their machine, in the order in which they entered, whenever that was; and
  // what one of them told.
  static std::vector<Agent> agents_with_places(postgresql::Session& session);
  static std::string facts(postgresql::Session& session, std::int64_t agent);
  std::vector<RunProgress> runs();  // that have units, the latest first, ten at most

 private:
  int id_of(const Fitness& need);

  postgresql::Session& session_;
};

}  // namespace halmark::fleet
