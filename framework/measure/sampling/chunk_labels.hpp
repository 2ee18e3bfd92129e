// Which samples others disturbed: counters of the kernel are read at the borders of chunks of
// samples, outside the timed intervals, and what they say holds for the chunk. How long a sample
// lasted is never a reason to set it aside.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "host/timed_sample.hpp"

namespace halmark {

// What the kernel has counted for this process, or the growth of it over some time.
struct CounterReading {
  double wall_ns = 0;
  double cpu_ns = 0;                   // of all threads
  double thread_cpu_ns = 0;            // of the thread that samples
  std::optional<double> run_delay_ns;  // runnable and not running, of all threads
  std::optional<double> involuntary_switches;
};
CounterReading growth(const CounterReading& from, const CounterReading& to);
// Absent where it is absent in either.
CounterReading sum(const CounterReading& a, const CounterReading& b);

class DisturbanceCounters {
 public:
  virtual ~DisturbanceCounters() = default;
  virtual CounterReading read() = 0;
};

// Of the run-queue delay, what others can have caused. Threads that share the process's only CPU
// wait for each other there: what they use of it nobody took from them.
std::optional<double> delay_by_others_ns(const CounterReading& counted, bool is_on_one_cpu);

struct ChunkRule {
  double shortest_ns = 500e3;     // of samples; a longer sample is a chunk by itself
  double disturbed_share = 0.01;  // of a chunk's wall time, above which it is disturbed
  // False where threads sleep by themselves: beside a device that works alone, in a collective.
  bool counts_lost_cpu = true;
  bool is_on_one_cpu = false;
};
// The same with chunks so long that a reading of the counters at each border costs 1 % at most.
ChunkRule affordable(ChunkRule rule, double reading_ns);

// The larger of two shares of the wall time: waiting for others, and (where it counts) on no CPU at
// all, which is what a stopped process and a stolen CPU look like. 0 where nothing can be read.
double disturbed_share(const CounterReading& chunk, const ChunkRule& rule);

// Labels the samples of one series while they are taken, block by block.
class ChunkLabels {
 public:
  // Without counters nothing gets a label.
  ChunkLabels(DisturbanceCounters* counters, const ChunkRule& rule,
              std::vector<TimedSample>& samples);

  void begin_block();  // before its first sample: what lies between blocks is not counted
  // A sample was appended. True when it ended a chunk: the counters were read.
  bool add_newest();
  // Every sample has its label then. What is left over and too short for a chunk joins the one
  // before; a block that is shorter than a chunk is one.
  void end_block();

  // Growth of the counters over the clean chunks; nothing when there is none.
  const std::optional<CounterReading>& clean() const { return clean_; }

 private:
  struct Chunk {
    std::size_t begin = 0;  // its first sample; the last is the one before the next chunk
    CounterReading counted;
  };
  void close();
  void keep_clean(const Chunk& chunk);
  void label(const Chunk& chunk);
  bool is_clean(const CounterReading& counted) const;

  DisturbanceCounters* counters_;
  ChunkRule rule_;
  std::vector<TimedSample>& samples_;
  std::size_t begin_ = 0;          // first sample of the open chunk
  CounterReading border_;          // where it begins
  std::optional<Chunk> previous_;  // of this block; not yet in clean_
  std::optional<CounterReading> clean_;
};

}  // namespace halmark
