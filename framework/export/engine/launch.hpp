// How an engine is started as a point of a front says: flags with the figure that chose each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/chosen/deployment.hpp"
#include "export/engine/engine_table.hpp"

namespace halmark::exports {

struct LaunchFlag {
  std::string flag, value;  // value "": a switch
  std::string why;
};

// How a server runs on several nodes: the same command on each, with these flags of its own.
struct SpanFlags {
  std::string nodes, rank, address, follower;  // follower: switch of all but the first; "" = none
  int address_port = 0;                        // "host:port" in the address; 0 = the host alone
};

// One server of a deployment; all of its servers are alike.
struct Launch {
  std::string engine, version, source;
  bool is_verified = true;
  std::vector<std::string> command;  // words in front of the flags, the model among them
  std::vector<LaunchFlag> flags;
  int servers = 1;  // that the deployment has, each with a port of its own
  int devices_per_server = 1;
  int group_devices = 1;          // of one tensor-parallel group, which has to stay within a node
  std::optional<SpanFlags> span;  // nothing: a server has to stay within a node
  std::string options_name, options;   // a file of further options and its text; "" = none
  std::vector<std::string> notes;      // where the engine differs from what was priced
  std::vector<std::string> own_lines;  // what it measured of itself; none = nothing is known of it
};

// Engines that points are written for: "vllm", ...
const std::vector<std::string>& engine_names();

// Throws Error (exit 2) with the reason where the engine cannot do what the point says, and where
// its release has no such flag or value.
Launch launch_of(const Deployment& deployment, const EngineTable& table);

// Of one engine each; what launch_of chooses among.
Launch vllm_launch(const Deployment& deployment, const EngineTable& table);
Launch sglang_launch(const Deployment& deployment, const EngineTable& table);
Launch trtllm_launch(const Deployment& deployment, const EngineTable& table);
Launch llamacpp_launch(const Deployment& deployment, const EngineTable& table);

}  // namespace halmark::exports
