// Bytes of both signs, and one verdict: only a set size of half a GiB and more is judged, because
// the libraries of a plugin take some MiB for themselves.
#include "report/text/memory_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/text/text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::report {
namespace {

std::string size_text(std::int64_t bytes) { return bytes_text(bytes); }

std::string signed_size_text(std::int64_t bytes) {
  std::string out(1, bytes < 0 ? '-' : '+');
  return out += size_text(bytes < 0 ? -bytes : bytes);
}

std::string verdict_text(const ProportionalSet& size) {
  switch (size.verdict()) {
    case SetSizeVerdict::within:
      return "within 5 %";
    case SetSizeVerdict::beyond:
      return "not within 5 %";
    case SetSizeVerdict::too_small:
      return "too small to judge";
  }
  return {};
}

std::string roles_text(const MemoryOfRank& rank) {
  TextTable table({"memory", ">model", ">allocated", "why they differ"});
  for (const RoleMemory& role : rank.roles) {
    table.add({role.role, size_text(role.modelled_bytes), size_text(role.allocated_bytes),
               causes_text(role)});
  }
  return table.text();
}

std::string set_size_line(const MemoryOfRank& rank) {
  std::string out = fmt::format("rank {}: ", rank.rank);
  if (!rank.set_size) return out + "no proportional set size: " + rank.set_size_reason + '\n';
  const ProportionalSet& size = *rank.set_size;
  out += fmt::format("the worker grew by {} over {}, {} were staged ({})\n",
                     size_text(size.grown_bytes), size_text(size.baseline_bytes),
                     size_text(size.expected_bytes), set_size_text(rank));
  return out;
}

std::string absence(const Validation& v) {
  return v.memory_reason.empty() ? "an earlier version did not measure it" : v.memory_reason;
}

}  // namespace

std::string set_size_text(const MemoryOfRank& rank) {
  if (!rank.set_size || !rank.set_size->difference()) return absent_text;
  return signed_percent_text(rank.set_size->difference()) + ": " + verdict_text(*rank.set_size);
}

std::string causes_text(const RoleMemory& role) {
  std::string out;
  const auto add = [&out](const std::string& name, std::int64_t bytes) {
    append_item(out, "; ", name + ' ' + signed_size_text(bytes));
  };
  for (const MemoryCause& cause : role.causes) add(cause.name, cause.bytes);
  if (role.unexplained_bytes() != 0) add("unexplained", role.unexplained_bytes());
  return out.empty() ? "exact" : out;
}

std::string memory_text(const Validation& v) {
  if (!v.memory) return "memory: not measured: " + absence(v) + '\n';
  const MemoryOfRank& largest = v.memory->largest();
  std::string out = '\n' + roles_text(largest);
  if (v.memory->ranks.size() > 1) {
    out += fmt::format("of rank {}, the largest of {}\n", largest.rank, v.memory->ranks.size());
  }
  if (largest.beside_bytes > 0) {
    out += fmt::format("staged for comparison alone: {}\n", size_text(largest.beside_bytes));
  }
  for (const MemoryOfRank& rank : v.memory->ranks) out += set_size_line(rank);
  return out;
}

std::string memory_line(const std::vector<Validation>& rows) {
  std::int64_t ranks = 0, unexplained = 0, judged = 0, within = 0;
  double worst = 0;
  for (const Validation& v : rows) {
    if (!v.memory) continue;
    for (const MemoryOfRank& rank : v.memory->ranks) {
      ranks += 1;
      unexplained += rank.unexplained_bytes();
      const bool is_judged = rank.set_size && rank.set_size->verdict() != SetSizeVerdict::too_small;
      if (!is_judged) continue;
      judged += 1;
      within += rank.set_size->verdict() == SetSizeVerdict::within ? 1 : 0;
      const double off = *rank.set_size->difference();
      if (std::abs(off) > std::abs(worst)) worst = off;
    }
  }
  if (ranks == 0) return {};
  std::string out = fmt::format(
      "memory of {} run ranks: {}; ", ranks,
      unexplained == 0 ? "every byte explained" : size_text(unexplained) + " unexplained");
  if (judged == 0) return out + "no set size of half a GiB or more to judge";
  return out + fmt::format("set size within 5 % of what was staged in {} of {} (worst {})", within,
                           judged, signed_percent_text(worst));
}

}  // namespace halmark::report
