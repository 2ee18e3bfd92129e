#include "simulate/schedule/program/piece_writer.hpp"

#include <cmath>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "kernels/contract.hpp"

namespace halmark::schedule {

using simulate::Collective;

std::uint32_t PieceWriter::label(const std::string& text, double flops, double bytes) {
  const auto [at, is_new] = labels_.try_emplace(text, as_uint32(programs_.labels.size()));
  if (is_new) programs_.labels.push_back({text, flops, bytes});
  is_new_ = is_new;
  return at->second;
}

void PieceWriter::add_part(std::int32_t op, double passes) {
  programs_.parts.push_back({op, passes});
}

void PieceWriter::add_collective(std::int32_t index, double passes, const std::string& text,
                                 std::vector<Piece>& to) {
  const Operator& op = step_.graph.operators[as_size(index)];
  const auto collective = simulate::collective_named(op.local.op);
  if (!collective) {
    throw refused("operator '" + op.name + "' is no collective that a schedule knows", {},
                  "its op is " + op.local.op);
  }
  const std::int64_t ranks = op.local.params.value_or("ranks", 1);
  if (ranks < 2) return;
  may_join_ = false;
  to.push_back(
      {.kind = events::EventKind::collective,
       .among = Among::block,
       .group = {ranks, op.group_stride},
       .collective = *collective,
       .message_bytes = passes * op.local_work.message_bytes,
       .label = label(text, passes * op.rank_work.flops(), passes * op.local_work.transfer_bytes),
       .part = as_uint32(programs_.parts.size())});
  add_part(index, passes);
}

void PieceWriter::add(std::int32_t index, double passes, const std::string& prefix,
                      const std::string& suffix, std::vector<Piece>& to) {
  if (passes <= 0) return;
  const Operator& op = step_.graph.operators[as_size(index)];
  const std::string text = prefix + op.name + suffix;
  if (op.kind == OperatorKind::collective) return add_collective(index, passes, text, to);
  const double flops = passes * op.rank_work.flops(), bytes = passes * op.rank_work.bytes();
  if (grain_ == Grain::layer && may_join_) {
    Piece& last = to.back();
    ++last.parts;
    add_part(index, passes);
    if (!is_new_) return;
    programs_.labels[last.label].flops += flops;
    programs_.labels[last.label].bytes += bytes;
    return;
  }
  // All kernels of a layer between two collectives are called by the first.
  const std::string shown = grain_ == Grain::layer ? prefix + "from " + op.name + suffix : text;
  to.push_back({.label = label(shown, flops, bytes), .part = as_uint32(programs_.parts.size())});
  add_part(index, passes);
  may_join_ = true;
}

void PieceWriter::add_hand_over(std::int32_t index, const std::string& text,
                                std::vector<Piece>& to) {
  const Operator& op = step_.graph.operators[as_size(index)];
  may_join_ = false;
  to.push_back({.kind = events::EventKind::p2p,
                .among = Among::next_stage,
                .group = {2, op.group_stride},
                .collective = Collective::send_recv,
                .message_bytes = op.local_work.message_bytes,
                .label = label(text, 0, op.local_work.message_bytes),
                .part = as_uint32(programs_.parts.size())});
  add_part(index, 1);
}

Piece PieceWriter::over_copies(Collective collective, double message_bytes, Dtype dtype,
                               const DeviceGrid& grid, const std::string& text) {
  const std::int64_t ranks = grid.copy_count();
  const std::int64_t values =
      as_int64(std::ceil(message_bytes / as_double(dtype_bytes(dtype, ranks))));
  // What an all_gather is given is one rank's part.
  const std::int64_t parts = collective == Collective::all_gather ? 1 : ranks;
  const Params params{{"bytes", dtype_bytes(dtype, std::max<std::int64_t>(1, values) * parts)},
                      {"ranks", ranks},
                      {"dtype", as_int64(dtype)}};
  const Problem problem =
      complete_problem({std::string(simulate::collective_name(collective)), params});
  const Work work = find_contract(problem.op)->work(problem.params);
  Piece out{.kind = events::EventKind::collective,
            .among = Among::copies,
            .group = {ranks, grid.copy_stride()},
            .collective = collective,
            .message_bytes = work.message_bytes,
            .label = label(text, work.flops(), work.transfer_bytes),
            .part = as_uint32(programs_.parts.size())};
  add_part(as_int(step_.graph.operators.size() + programs_.extra.size()), 1);
  programs_.extra.push_back({problem, work, grid.copy_stride()});
  return out;
}

}  // namespace halmark::schedule
