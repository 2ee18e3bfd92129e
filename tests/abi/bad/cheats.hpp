// Plugins that load and run well, and whose answers or times are false: each a script of the fake
// plugin, with the one status that its row must have.
#pragma once

#include <string_view>

namespace halmark::abi_test {

enum class CheatCase {
  small,       // gemm 8 x 24 x 16, three argument sets
  one_set,     // the same with one set
  wide,        // gemm 1 x 2048 x 2048, one set, on a machine of known bandwidth
  rows,        // softmax 64 x 40
  fused,       // gated product of a feed-forward network
  collective,  // all_reduce of one rank
  copy,        // 4096 bytes
  long_gemm,   // gemm 1 x 1024 x 1024, one set: milliseconds, computed naively
  medium,      // gemm 16 x 128 x 128, one set: a quarter of a millisecond
  many_rows,   // softmax 64 x 512
};

struct Cheat {
  std::string_view name;
  std::string_view script;
  std::string_view status;
  std::string_view text;  // part of the reason
  CheatCase of = CheatCase::small;
  bool is_apart = false;  // with memory of its own
  int repeat = 0;         // executions per sample; 0: as fitted
};

inline constexpr Cheat cheats[] = {
    // answers
    {"zeros", "wrong=zeros", "wrong_result", "expected"},
    {"half_of_the_output", "wrong=half", "wrong_result", "dst["},
    {"last_element", "wrong=last_element", "wrong_result", "dst["},
    {"nan", "wrong=nan", "nan_result", "NaN"},
    {"infinite", "wrong=infinite", "nan_result", "infinite"},
    {"rounded_down", "wrong=rounded_down", "wrong_result", "dst["},
    {"first_row_unwritten", "wrong=first_row_unwritten", "wrong_result", "never written"},
    {"cached_output", "wrong=cached", "wrong_result", "dst["},
    {"mutates_inputs", "mutate_inputs=1", "wrong_result", "mutated its inputs"},
    {"writes_past_a_buffer", "overrun=1", "wrong_result", "out of bounds"},
    {"writes_before_a_buffer", "underrun=1", "wrong_result", "out of bounds"},
    {"writes_past_a_buffer_apart", "overrun=1", "wrong_result", "out of bounds", CheatCase::small,
     true},
    // answers that turn wrong, or seldom are
    {"last_element_later", "wrong=last_element_later;latency_ns=30000", "wrong_result", "dst["},
    {"last_element_later_softmax", "wrong=last_element_later;latency_ns=60000", "wrong_result",
     "dst[", CheatCase::rows},
    {"last_element_later_fused", "wrong=last_element_later;latency_ns=60000", "wrong_result",
     "dst[", CheatCase::fused},
    {"last_element_later_collective", "wrong=last_element_later;latency_ns=30000", "wrong_result",
     "of set", CheatCase::collective},
    {"every_tenth", "wrong=every_tenth;latency_ns=30000", "wrong_result", "dst["},
    {"every_tenth_in_repeats", "wrong=every_tenth", "wrong_result", "dst[", CheatCase::one_set,
     false, 10},
    {"every_tenth_element", "wrong=every_tenth_element;latency_ns=30000", "wrong_result", "dst["},
    {"every_tenth_softmax", "wrong=every_tenth_element;latency_ns=60000", "wrong_result", "dst[",
     CheatCase::rows},
    {"every_tenth_fused", "wrong=every_tenth_element;latency_ns=60000", "wrong_result", "dst[",
     CheatCase::fused},
    {"every_tenth_collective", "wrong=every_tenth;latency_ns=30000", "wrong_result", "of set",
     CheatCase::collective},
    {"every_tenth_apart", "wrong=every_tenth;latency_ns=30000", "wrong_result", "dst[",
     CheatCase::small, true},
    {"after_a_hundred", "wrong=after_a_hundred", "wrong_result", "dst["},
    {"only_the_first_buffer", "wrong=first_buffer;latency_ns=30000", "wrong_result", "dst["},
    {"remembers_constants", "wrong=remembers_constants;latency_ns=30000", "wrong_result", "dst["},
    {"remembers_by_half_of_the_inputs", "memoise=half;latency_ns=30000", "wrong_result",
     "changed, expected"},
    {"remembers_by_the_ends_of_the_inputs", "memoise=ends;latency_ns=60000", "wrong_result",
     "changed, expected", CheatCase::rows},
    // work outside the interval
    {"late", "wrong=late", "wrong_result", "dst["},
    {"soon_late", "wrong=soon_late", "wrong_result", "dst["},
    {"lazy_read", "wrong=lazy;latency_ns=300000", "quarantined", "when it is read",
     CheatCase::small, true, 1},
    {"half_at_read", "wrong=half_lazy;latency_ns=300000", "quarantined", "when it is read",
     CheatCase::small, true, 1},
    // times
    {"skips_repeats", "wrong=skip_repeats", "wrong_result", "", CheatCase::small, false, 6},
    {"skips_all_but_the_last", "wrong=all_but_the_last_skipped;latency_ns=30000", "quarantined",
     "repeats are skipped", CheatCase::one_set, false, 20},
    {"a_fifth_of_a_nanosecond", "wrong=all_but_the_last_skipped;latency_ns=1000", "quarantined",
     "timer", CheatCase::one_set},
    {"remembers_and_is_no_cpu", "memoise=1", "quarantined", "faster_than_roofline",
     CheatCase::wide},
    {"remembers_and_keeps_memory_apart", "memoise=1", "quarantined", "faster_than_roofline",
     CheatCase::wide, true},
    {"a_tenth_of_the_time", "timer=device_event;latency_ns=100000;elapsed_scale=0.1", "quarantined",
     "timer", CheatCase::copy},
    {"nine_tenths_of_the_time", "timer=device_event;latency_ns=100000;elapsed_scale=0.88",
     "quarantined", "timer", CheatCase::copy},
    {"constant_time", "timer=device_event;latency_ns=100000;elapsed=constant", "quarantined",
     "timer", CheatCase::copy},
    {"negative_time", "timer=device_event;latency_ns=100000;elapsed=negative", "quarantined",
     "timer", CheatCase::copy},
    {"nan_time", "timer=device_event;latency_ns=100000;elapsed=nan", "quarantined", "timer",
     CheatCase::copy},
    {"nine_of_ten_skipped", "wrong=nine_of_ten_skipped;latency_ns=30000", "quarantined",
     "repeats are skipped", CheatCase::one_set, false, 20},
    {"remembers_all_inputs_and_is_paced", "memoise=1;latency_ns=200000", "quarantined",
     "answers are remembered", CheatCase::long_gemm},
    {"remembers_all_inputs_apart", "memoise=1;latency_ns=200000", "quarantined",
     "answers are remembered", CheatCase::long_gemm, true},
    {"remembers_until_the_host_writes", "memoise=until_written;latency_ns=200000", "quarantined",
     "answers are remembered", CheatCase::long_gemm, true},
    {"remembers_until_the_host_writes_unpaced", "memoise=until_written", "quarantined",
     "answers are remembered", CheatCase::medium, true},
    {"remembers_until_the_output_is_poisoned", "memoise=until_poisoned;latency_ns=200000",
     "quarantined", "answers are remembered", CheatCase::long_gemm},
    {"remembers_until_the_output_is_poisoned_unpaced", "memoise=until_poisoned", "quarantined",
     "answers are remembered", CheatCase::medium},
    {"remembers_until_the_host_pauses", "memoise=until_paused;latency_ns=200000", "quarantined",
     "answers are remembered", CheatCase::long_gemm},
    {"remembers_all_inputs_unpaced", "memoise=1", "quarantined", "answers are remembered",
     CheatCase::medium},
    {"remembers_all_inputs_of_rows", "memoise=1;latency_ns=60000", "quarantined",
     "answers are remembered", CheatCase::many_rows},
    {"computes_when_the_host_writes", "memoise=when_written;latency_ns=200000", "suspect",
     "may be done when inputs are written", CheatCase::long_gemm, true},
    {"a_tenth_of_the_time_and_claims_to_wait",
     "timer=device_event;claims_synchronous=1;latency_ns=100000;elapsed_scale=0.1", "quarantined",
     "timer", CheatCase::copy},
    {"constant_time_and_claims_to_wait",
     "timer=device_event;claims_synchronous=1;latency_ns=100000;elapsed=constant", "quarantined",
     "timer", CheatCase::copy},
    {"a_tenth_of_the_time_of_a_collective",
     "timer=device_event;latency_ns=100000;elapsed_scale=0.1", "quarantined", "timer",
     CheatCase::collective},
    {"lazy_and_every_read_is_slow", "wrong=lazy;latency_ns=300000;read_ns=300000", "suspect",
     "may be done when", CheatCase::small, true, 1},
    {"a_constant_less", "timer=device_event;latency_ns=100000;elapsed_offset_ns=20000",
     "quarantined", "one execution more takes", CheatCase::copy},
};

}  // namespace halmark::abi_test
