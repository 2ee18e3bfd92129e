// How long bytes take from here to a peer: ping-pong for latency, a sweep of sizes for bandwidth.
// The peer answers every message by an empty one, so that one direction is timed.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "measure/links/socket.hpp"

namespace halmark::links {

struct SizeTime {
  std::int64_t bytes = 0;
  double p50_s = 0, p99_s = 0;  // from the first byte sent to the empty answer received
};

struct LinkProbe {
  int round_trips = 0;  // of 64 bytes there and nothing back
  double round_trip_p50_s = 0, round_trip_p99_s = 0;
  std::vector<SizeTime> sizes;  // ascending

  // Half of the median round trip.
  double latency_s() const { return round_trip_p50_s / 2; }
  double latency_p99_s() const { return round_trip_p99_s / 2; }
  // What the largest message needs beyond a round trip; p50, and of the slowest percent.
  double bytes_per_s() const;
  double slow_bytes_per_s() const;
};

struct LinkProbeOptions {
  int round_trips = 20'000;
  std::int64_t bytes_max = std::int64_t{64} << 20;
  double seconds_per_size = 0.5;  // at least five messages of each size
  std::function<bool()> should_stop;
};

// Throws Error (exit 5) where the peer is lost or answers something else. Ends early, with what it
// has, once `should_stop` says so.
LinkProbe probe_link(Socket& peer, const LinkProbeOptions& options = {});

// Answers one client after the other until `should_stop`; at most one at a time, messages of at
// most 256 MiB. A client that breaks the protocol is dropped and named through `say`.
void answer_clients(Listener& listener, const std::function<bool()>& should_stop,
                    const std::function<void(const std::string&)>& say);

}  // namespace halmark::links
