// A PostgreSQL server of its own on a socket in a private folder, where its programs are installed.
// It ends with the process that started it, however that ends.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace halmark::test {

class PostgresServer {
 public:
  // The one of this process, started when it is first asked for; null where it cannot be had.
  // `is_durable`: what it acknowledges is on the disk; as the first call has it.
  static PostgresServer* get(bool is_durable = false);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // The URL of an empty database that nobody else uses.
  std::string database();
  // SQL past the store; whether the server took all of it.
  bool sql(const std::string& url, const std::string& text) const;
  // The first value of a query; "" where there is none.
  std::string value(const std::string& url, const std::string& query) const;
  // SIGKILL to the server and all that it started, as an operator or the kernel does it.
  void kill_now();
  // After that; returns when connections are taken.
  void start_again();

 private:
  PostgresServer(std::string programs, bool is_durable);
  // `out`: a descriptor for what it writes.
  pid_t start(const std::vector<std::string>& command, int out = -1) const;
  bool run(const std::vector<std::string>& command) const;
  bool make_data() const;
  void start_server();

  std::string programs_, root_;
  pid_t server_ = -1;
  int databases_ = 0;
  bool is_durable_ = false;
  bool is_ready_ = false;
};

}  // namespace halmark::test
