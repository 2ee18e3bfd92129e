#include "fleet/nodes/peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "fleet/sessions.hpp"
#include "fleet/work_table.hpp"
#include "sql/postgresql.hpp"

namespace halmark::fleet {
namespace {

constexpr double day_s = 86400;
constexpr std::size_t peers_max = 16;

}  // namespace

std::vector<Peer> peers_of(postgresql::Session& session, const NodeFacts& own,
                           const std::string& node) {
  const auto places = classes_by_place(own);
  const auto is_peer = [&](const Agent& a) {
    return a.node != node && a.state != refused_state && a.silent_s < day_s &&
           a.offer.tool == tool_text() && std::ranges::any_of(places, [&](const auto& p) {
             return contains(a.offer.classes, p.second);
           });
  };
  std::vector<Peer> out;
  const std::vector<Agent> all = WorkTable::agents_with_places(session);
  for (const Agent& a : std::views::reverse(all)) {
    if (out.size() == peers_max) break;
    if (!is_peer(a) || contains(out, a.node, &Peer::node)) continue;
    try {
      const std::string where = fmt::format("agent {}", a.id);
      out.push_back({a.node, read_facts(WorkTable::facts(session, a.id), where)});
    } catch (const Error& error) {
      // What nobody can read says nothing of others; a server that is away is told of elsewhere.
      if (error.exit_code() == ExitCode::error) throw;
    }
  }
  return out;
}

}  // namespace halmark::fleet
