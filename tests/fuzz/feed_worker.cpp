// What a worker answers: frames over a socket, and the messages in them.
#include <sys/socket.h>

#include <stdexcept>

#include "feed.hpp"
#include "host/transport.hpp"

namespace halmark::fuzz {
namespace {

using namespace protocol;

// A message that was read can be written, and is the same when it is read again.
template <class Message>
void decode_as(std::string_view payload) {
  std::string once;
  try {
    once = encode(decode<Message>(payload));
  } catch (const ProtocolError&) {
    return;
  }
  if (encode(decode<Message>(once)) != once) {
    throw std::logic_error("a message does not survive its own text");
  }
}

void decode_answers(std::string_view payload) {
  decode_as<Hello>(payload);
  decode_as<PluginDescription>(payload);
  decode_as<Refused>(payload);
  decode_as<DeviceDescription>(payload);
  decode_as<DomainsAnswer>(payload);
  decode_as<SupportsAnswer>(payload);
  decode_as<Staged>(payload);
  decode_as<Revealed>(payload);
  decode_as<Measured>(payload);
  decode_as<TokenAnswer>(payload);
  decode_as<ProbeAnswer>(payload);
  decode_as<MemoryAnswer>(payload);
  decode_as<PhaseNote>(payload);
  decode_as<Failed>(payload);
  (void)unpack_doubles(payload);
}

}  // namespace

// The bytes of a stream; where they begin with a bracket, the payload of a frame.
void feed_worker_frame(std::string_view bytes) {
  if (bytes.starts_with('{')) return decode_answers(bytes);
  constexpr std::size_t buffered = 64u << 10;  // a socket takes so much without a reader
  bytes = bytes.substr(0, buffered);
  auto [ours, theirs] = socket_pair();
  if (::send(theirs.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) < 0 && !bytes.empty()) return;
  theirs.reset();
  Channel channel(std::move(ours));
  for (Received got; (got = channel.receive(deadline_after(5)));) {
    decode_answers(got.frame.payload);
  }
}

}  // namespace halmark::fuzz
