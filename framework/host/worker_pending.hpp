// One request in flight, for the parts of Worker: sent as a message, answered as one.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "host/worker_client.hpp"

namespace halmark {

inline WorkerFailure malformed(std::string reason) {
  return {Status::worker_lost, "the worker's answer is malformed: " + std::move(reason), "", 0,
          true};
}

template <class Message>
Outcome<Message> decoded(std::string_view payload) {
  try {
    return protocol::decode<Message>(payload);
  } catch (const protocol::ProtocolError& error) {
    return malformed(error.what());
  }
}

template <class Message>
void Worker::begin(protocol::Type type, protocol::Type expected, const Message& message,
                   double limit_s, const char* phase, int fd) {
  begin_frame(type, expected, protocol::encode(message), limit_s, phase, fd);
}

template <class Message>
Outcome<Message> Worker::finish() {
  if (auto failure = settle()) return *failure;
  auto message = decoded<Message>(pending_.answer->payload);
  if (!message) return kill_for(Status::worker_lost, message.failure.reason);
  return message;
}

}  // namespace halmark
