// A device may state several links (to its domain, to the host). A rank's collective is bounded by
// the fastest: it may use whichever it likes.
//
// What passes, of a message of S bytes of n ranks in domains of g (message as in nccl-tests):
//   reduce    every rank receives the sum of what the others have: S, and S into its domain from
//             outside. Where nothing on the way adds, no algorithm gets below 2(n-1)/n S a rank
//             (Patarasuk and Yuan, 2009).
//   gather    (n-1)/n S a rank; a domain receives (or, scattering, sends) what n-g others have
//   personal  (n-1)/n S a rank, of which (n-g)/n S leave its domain
//   copy      S a rank, S a domain
//   shift     S a rank; of a domain one rank's S crosses its border
// A domain's border has g devices' shares of the network.
#include "roofline/links.hpp"

#include <algorithm>

#include "core/numeric/cast.hpp"

namespace halmark::roofline {

Links::Links(const Device& device, std::optional<double> network) : network_bytes_per_s(network) {
  for (const Link& link : device.links) {
    if (link.bytes_per_s <= link_bytes_per_s.value_or(0)) continue;
    link_bytes_per_s = link.bytes_per_s;
    link_bytes_per_s_max = std::max(link.bytes_per_s, link.bytes_per_s_high.value_or(0));
    domain_devices = link.domain_devices.value_or(0);
    reduces_in_switch = link.reduces_in_switch;
    name = link.name;
    source = link.source;
  }
}

double Links::domain_of(std::int64_t ranks) const {
  if (!link_bytes_per_s) return 1;
  return as_double(domain_devices > 0 ? std::min(domain_devices, ranks) : ranks);
}

namespace {

// Through the border of a domain of `g`, over its `g` devices.
double border_bytes(const Work& work, double n, double g) {
  const double message = work.message_bytes;
  switch (work.exchange) {
    case Exchange::gather:
      return (n - g) / n * message / g;
    case Exchange::personal:
      return (n - g) / n * message;
    case Exchange::reduce:  // switches of the network may add
    case Exchange::copy:
    case Exchange::shift:
      return message / g;
    case Exchange::none:
      break;
  }
  return 0;
}

}  // namespace

std::array<Passage, 2> Links::least(const Work& work, std::int64_t ranks) const {
  const bool adds = work.exchange == Exchange::reduce;
  if (!takes_network(ranks)) {
    return {Passage{adds && reduces_in_switch ? work.message_bytes : work.transfer_bytes}};
  }
  const double rank_bytes = adds ? work.message_bytes : work.transfer_bytes;
  const double border = border_bytes(work, as_double(ranks), domain_of(ranks));
  const Passage::Over over = link_bytes_per_s ? Passage::Over::both : Passage::Over::network;
  return {Passage{rank_bytes, over}, Passage{border, Passage::Over::network}};
}

}  // namespace halmark::roofline
