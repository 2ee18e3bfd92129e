// Connections of agents: they keep measuring while the server is away, so none waits for it long.
#pragma once

#include <memory>
#include <string>

namespace halmark::postgresql {
class Session;
}

namespace halmark::fleet {

std::unique_ptr<postgresql::Session> agent_session(const std::string& url);
void shorten_waiting(postgresql::Session& session);

// "0.2.0 (1bf4d5a2)": what agents and tune have in common.
std::string tool_text();

}  // namespace halmark::fleet
