#include "measure/links/link_probe.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/numeric/cast.hpp"
#include "core/numeric/clock.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"

namespace halmark::links {
namespace {

constexpr std::uint64_t magic = 0x4b4e494c4b524d48;  // "HMRKLINK"
constexpr std::uint64_t message_bytes_max = std::uint64_t{256} << 20;
constexpr std::size_t header_bytes = 16;
using Header = std::array<std::byte, header_bytes>;

Header header_of(std::uint64_t bytes) {
  Header out;
  std::memcpy(out.data(), &magic, sizeof magic);
  std::memcpy(out.data() + sizeof magic, &bytes, sizeof bytes);
  return out;
}

std::uint64_t bytes_in(const Header& header, const std::string& peer) {
  std::uint64_t sign = 0, bytes = 0;
  std::memcpy(&sign, header.data(), sizeof sign);
  std::memcpy(&bytes, header.data() + sizeof sign, sizeof bytes);
  if (sign != magic || bytes > message_bytes_max) {
    throw unfit(peer + " does not speak as halmark fabric probe does",
                "the same version of halmark belongs on both sides");
  }
  return bytes;
}

// Seconds from the first byte sent to the answer.
double timed_message(Socket& peer, std::span<const std::byte> payload) {
  const auto begin = SteadyClock::now();
  peer.send(header_of(payload.size()));
  if (!payload.empty()) peer.send(payload);
  Header answer;
  if (!peer.receive(answer)) throw unfit(peer.peer() + " has closed the connection");
  bytes_in(answer, peer.peer());
  return seconds_since(begin);
}

void answer(Socket& client) {
  std::vector<std::byte> payload;
  Header header;
  while (client.receive(header)) {
    payload.resize(bytes_in(header, client.peer()));
    if (!payload.empty() && !client.receive(payload)) return;
    client.send(header_of(0));
  }
}

}  // namespace

double LinkProbe::bytes_per_s() const {
  if (sizes.empty()) return 0;
  const double seconds = sizes.back().p50_s - round_trip_p50_s;
  return as_double(sizes.back().bytes) / std::max(seconds, 1e-9);
}

double LinkProbe::slow_bytes_per_s() const {
  if (sizes.empty()) return 0;
  const double seconds = sizes.back().p99_s - round_trip_p50_s;
  return as_double(sizes.back().bytes) / std::max(seconds, 1e-9);
}

LinkProbe probe_link(Socket& peer, const LinkProbeOptions& options) {
  constexpr std::int64_t small = 64, first_size = 1024;
  constexpr std::size_t messages_min = 5, messages_max = 2000;
  const auto stopped = [&] { return options.should_stop && options.should_stop(); };
  const std::vector<std::byte> payload(as_size(options.bytes_max));
  const auto part = [&](std::int64_t bytes) { return std::span(payload).first(as_size(bytes)); };
  for (int i = 0; i < options.round_trips / 10; ++i) timed_message(peer, part(small));
  std::vector<double> times;
  for (int i = 0; i < options.round_trips && !stopped(); ++i) {
    times.push_back(timed_message(peer, part(small)));
  }
  LinkProbe out{.round_trips = static_cast<int>(times.size())};
  if (times.empty()) return out;
  out.round_trip_p50_s = quantile(times, 0.5);
  out.round_trip_p99_s = quantile(times, 0.99);
  for (std::int64_t bytes = first_size; bytes <= options.bytes_max && !stopped(); bytes *= 4) {
    times.clear();
    timed_message(peer, part(bytes));
    const auto begin = SteadyClock::now();
    while (times.size() < messages_min ||
           (times.size() < messages_max && seconds_since(begin) < options.seconds_per_size)) {
      times.push_back(timed_message(peer, part(bytes)));
    }
    out.sizes.push_back({bytes, quantile(times, 0.5), quantile(times, 0.99)});
  }
  return out;
}

void answer_clients(Listener& listener, const std::function<bool()>& should_stop,
                    const std::function<void(const std::string&)>& say) {
  while (!should_stop()) {
    Socket client = listener.accept(should_stop);
    if (client.descriptor() < 0) return;
    try {
      answer(client);
    } catch (const Error& e) {
      say(e.what());
    }
  }
}

}  // namespace halmark::links
