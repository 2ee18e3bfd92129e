// Writes pieces of programs: labels and parts are shared by all that are alike.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "simulate/schedule/program/stage_program.hpp"

namespace halmark::schedule {

class PieceWriter {
 public:
  PieceWriter(const PricedStep& step, Grain grain, Programs& programs)
      : step_(step), grain_(grain), programs_(programs) {}

  // `passes` of an operator at the end of `to`. Kernels join the last piece where the grain is
  // layer and that one is a kernel of the same layer and pass.
  void add(std::int32_t op, double passes, const std::string& prefix, const std::string& suffix,
           std::vector<Piece>& to);
  // A piece ends here: what comes next is of another layer.
  void cut() { may_join_ = false; }
  // Activations, or their gradients, to another stage.
  void add_hand_over(std::int32_t op, const std::string& text, std::vector<Piece>& to);
  // Over the copies of a stage's weights. `message_bytes`: as in collective.hpp, rounded up to
  // whole values for every rank.
  Piece over_copies(simulate::Collective collective, double message_bytes, Dtype dtype,
                    const DeviceGrid& grid, const std::string& text);

 private:
  std::uint32_t label(const std::string& text, double flops, double bytes);
  void add_part(std::int32_t op, double passes);
  void add_collective(std::int32_t op, double passes, const std::string& text,
                      std::vector<Piece>& to);

  const PricedStep& step_;
  Grain grain_;
  Programs& programs_;
  bool may_join_ = false;
  bool is_new_ = false;  // the label of the last piece
  std::map<std::string, std::uint32_t> labels_;
};

}  // namespace halmark::schedule
