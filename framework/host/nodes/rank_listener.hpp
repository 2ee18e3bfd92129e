// Where ranks on other nodes connect: a TCP socket on one stated address, open while the group
// starts. Nothing is read of a caller but the fixed opening below until it has shown the token.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "host/nodes/rank_acceptor.hpp"

namespace halmark {

// The variable in which the launcher hands the token to the ranks: a command line is seen by all
// users of a node.
inline constexpr const char* group_token_variable = "HALMARK_GROUP_TOKEN";

// What one connection of a rank is for: requests, or the meetings before samples.
enum class RankLine : std::uint32_t { requests = 1, meetings = 2 };

class RankListener : public RankAcceptor {
 public:
  // `address`: an address or name of this machine that the nodes reach; not a wildcard. Throws
  // Error (exit 2 for what is no address of one, 5 where nothing can listen there).
  RankListener(const std::string& address, int ranks);

  std::vector<std::string> arguments() const override;
  const std::string& token() const override { return token_; }
  std::optional<protocol::Channel> accept() override;
  bool is_complete() const override;
  const std::string& address() const { return address_; }
  int port() const { return port_; }
  // One per rank, once is_complete().
  std::vector<FileDescriptor> take_meetings() { return std::move(meetings_); }

 private:
  static constexpr std::size_t opening_bytes = 80;
  struct Caller {
    FileDescriptor socket;
    std::array<char, opening_bytes> opening{};
    std::size_t read = 0;
    std::chrono::steady_clock::time_point until;
  };
  void admit_callers();
  // False when the caller is to be closed.
  bool read_handshake(Caller& caller);
  std::optional<protocol::Channel> opened(Caller& caller);

  std::string token_, address_;
  int port_ = 0;
  FileDescriptor listener_;
  std::vector<Caller> callers_;
  std::vector<FileDescriptor> meetings_;
};

// The rank's side: an empty descriptor when no listener is there.
FileDescriptor connect_rank(const std::string& address, int port, const std::string& token,
                            int rank, RankLine line);

}  // namespace halmark
