#include "fleet/sessions.hpp"

#include "core/version.hpp"
#include "sql/postgresql.hpp"

namespace halmark::fleet {
namespace {

constexpr auto waiting = std::chrono::seconds(1);

}  // namespace

std::unique_ptr<postgresql::Session> agent_session(const std::string& url) {
  auto out = std::make_unique<postgresql::Session>(
      url, postgresql::SessionWords{.store = "the fleet's table", .rows = "what was claimed last"});
  shorten_waiting(*out);
  return out;
}

void shorten_waiting(postgresql::Session& session) { session.set_reconnect_limit(waiting); }

std::string tool_text() { return std::string(tool_version) + " (" + tool_build + ')'; }

}  // namespace halmark::fleet
