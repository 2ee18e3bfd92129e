// How long a simulation would be, before anything is made.
#include <map>
#include <tuple>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "simulate/schedule/program/piece_visits.hpp"
#include "simulate/schedule/step_lowering.hpp"

namespace halmark::schedule {
namespace {

using simulate::Collective;

class Counting {
 public:
  Counting(const DeviceGrid& grid, const Site& site, bool has_messages)
      : grid_(grid), site_(site), has_messages_(has_messages) {}

  // Of all devices of a stage.
  double of(const Piece& piece) {
    const auto devices = as_double(grid_.pipelines * grid_.block);
    if (piece.among == Among::device || piece.among == Among::next_stage) return devices;
    return devices / as_double(piece.group.ranks) * of_group(piece);
  }

 private:
  double of_group(const Piece& piece) {
    const auto ranks = as_double(piece.group.ranks);
    if (!has_messages_) return 1 + ranks;
    if (piece.collective == Collective::send_recv) return ranks;
    const auto [at, is_new] = known_.try_emplace(
        {piece.collective, piece.message_bytes, piece.group.ranks, piece.group.stride}, 0);
    if (is_new) {
      // Ranks with several results join them before the next.
      at->second = ranks + simulate::events_of(way_of(site_, piece.collective, piece.message_bytes,
                                                      piece.group.ranks, piece.group.stride));
    }
    return at->second;
  }

  const DeviceGrid& grid_;
  const Site& site_;
  bool has_messages_;
  std::map<std::tuple<Collective, double, std::int64_t, std::int64_t>, double> known_;
};

}  // namespace

double events_of(const Programs& programs, const DeviceGrid& grid, const Site& site,
                 Carriage carriage) {
  Counting counting(grid, site, carriage == Carriage::messages);
  double out = 0;
  for_each_piece(programs, [&](std::int32_t, std::int32_t, const Piece& piece, double times) {
    out += times * counting.of(piece);
  });
  return out;
}

void require_within(double events, double events_max) {
  if (events <= events_max) return;
  throw refused("the simulation would have " + number_text(events) + " events, and its limit is " +
                    number_text(events_max),
                "--events-max", "raise it, use --by-layer, or simulate fewer replicas (--dp)");
}

}  // namespace halmark::schedule
