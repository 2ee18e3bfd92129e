// An exported command of llama-server, started here with random weights, and its own clock: it
// tells for every token how long its slot has been generating.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/text/error.hpp"
#include "host/process/contained_process.hpp"

namespace halmark::deploy {

struct ServerCommand {
  std::string program;                 // path of llama-server
  std::vector<std::string> arguments;  // of the exported command, the model's path in its place
};

// What one request saw. Times of the server's clock in ns, of its slot.
struct TokenTimes {
  double prompt_ns = 0;
  std::vector<double> token_ns;  // the k-th: since the first token of the slot, at k-th token
  // Of this machine's clock, when each arrived, and when the request was sent.
  std::vector<std::int64_t> arrival_ns;
  std::int64_t sent_ns = 0;
};

class LlamaServer {
 public:
  // Waits until the weights are loaded. Throws Error (exit 5) with the end of its log where it
  // does not come up, (exit 130) when it is to stop.
  LlamaServer(const ServerCommand& command, std::stop_token stop);
  LlamaServer(const LlamaServer&) = delete;
  LlamaServer& operator=(const LlamaServer&) = delete;

  // All at once, each of its tokens and then `generated` more, greedily, whatever they say. Throws
  // Error (exit 5) where one is refused or the server ends.
  std::vector<TokenTimes> complete(const std::vector<std::vector<std::int64_t>>& prompts,
                                   std::int64_t generated);
  const std::string& build() const { return build_; }  // as the server says it: "b5163-8cf427ff"

 private:
  void check_stop() const;
  Error failure(const std::string& what);
  TokenTimes complete_one(const std::vector<std::int64_t>& prompt, std::int64_t generated) const;

  int port_ = 0;
  std::stop_token stop_;
  std::unique_ptr<ContainedProcess> process_;
  std::string build_;
};

}  // namespace halmark::deploy
