// The HTTP server of the page, on this machine alone unless its user says otherwise. Two threads:
// one moves bytes, one computes answers.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "serve/request_guard.hpp"

namespace halmark::serve {

struct ServerSettings {
  std::string address = "127.0.0.1";
  unsigned short port = 0;         // 0: one that is free
  std::vector<std::string> hosts;  // see Guard
  std::string token;               // "" = nothing is started or stopped
};

class Server {
 public:
  // Listens at once. Throws Error (exit 2) for an address that is none or is in use, and for one
  // that other machines reach without a name of `hosts`. `values` must outlive it.
  Server(ServerSettings settings, PageValues& values);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  unsigned short port() const;
  std::string url() const;  // with the token, where there is one
  // Answers until `should_stop` says so, asked ten times a second.
  void run(const std::function<bool()>& should_stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halmark::serve
