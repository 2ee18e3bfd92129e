// Every piece of the programs, and how often a device of its stage executes it in one step.
#pragma once

#include "core/numeric/cast.hpp"
#include "simulate/schedule/program/stage_program.hpp"

namespace halmark::schedule {

// visit(stage, to_stage, piece, times); to_stage: where a hand-over goes, else the stage.
template <class Visit>
void for_each_piece(const Programs& programs, const Visit& visit) {
  const Pipeline& pipeline = programs.pipeline;
  const auto passes = as_double(pipeline.micro_batches);
  for (std::int32_t stage = 0; stage < pipeline.stages; ++stage) {
    const auto s = as_size(stage);
    for (std::int32_t c = 0; c < pipeline.chunks; ++c) {
      const ChunkProgram& chunk = programs.chunks[s][as_size(c)];
      for (const auto* pieces : {&chunk.forward, &chunk.backward, &chunk.weight}) {
        for (const Piece& piece : *pieces) {
          const bool is_once = piece.among == Among::copies && !programs.reduces_every_pass &&
                               piece.collective != simulate::Collective::all_gather;
          visit(stage, stage, piece, is_once ? 1 : passes);
        }
      }
      const std::int32_t number = pipeline.number(stage, c);
      if (number + 1 < pipeline.chunks_in_all()) {
        for (const Piece& piece : chunk.hand_on) {
          visit(stage, (number + 1) % pipeline.stages, piece, passes);
        }
      }
      if (number == 0 || chunk.backward.empty()) continue;
      for (const Piece& piece : chunk.hand_back) {
        visit(stage, (number - 1) % pipeline.stages, piece, passes);
      }
    }
    for (const Piece& piece : programs.after_step[s]) visit(stage, stage, piece, 1.0);
  }
}

}  // namespace halmark::schedule
