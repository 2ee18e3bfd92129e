// Where the ranks of a group come to after the MPI launcher has started them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/transport.hpp"

namespace halmark {

class RankAcceptor {
 public:
  virtual ~RankAcceptor() = default;
  // Of halmark-worker, so that it comes here.
  virtual std::vector<std::string> arguments() const = 0;
  // What the rank's hello has to carry.
  virtual const std::string& token() const = 0;
  // Nothing when nobody came within 50 ms.
  virtual std::optional<protocol::Channel> accept() = 0;
  // False while a rank has more to bring than its channel.
  virtual bool is_complete() const { return true; }

 protected:
  RankAcceptor() = default;
  RankAcceptor(const RankAcceptor&) = delete;
  RankAcceptor& operator=(const RankAcceptor&) = delete;
};

}  // namespace halmark
