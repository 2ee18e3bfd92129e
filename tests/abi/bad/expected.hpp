// Every bad plugin with the one outcome it must have.
#pragma once

#include <string_view>

namespace halmark::abi_test {

enum class Outcome {
  refused,    // the loader says why; no table entry was called
  failed,     // a call came back with a judged error
  crashed,    // the process that loaded it died of `signal`
  timed_out,  // it was killed at its limit
  exited,     // it left without an answer
  accepted,   // tolerated, with the damage cut off
};

struct BadPlugin {
  std::string_view file;  // in tests/plugins/bad, without "bad_" and ".so"
  Outcome outcome;
  std::string_view text = {};  // part of the reason; for `accepted`, of what was described
  int signal = 0;
};

inline constexpr BadPlugin bad_plugins[] = {
    // loading
    {"wrong_major", Outcome::refused, "ABI 99.0"},
    {"struct_size_8", Outcome::refused, "struct_size is 8"},
    {"null_required_entry", Outcome::refused, "kernel.prepare"},
    {"null_group", Outcome::refused, "plugin.memory"},
    {"short_group", Outcome::refused, "kernel.enqueue"},
    {"half_a_comm_group", Outcome::refused, "comm."},
    {"missing_symbol", Outcome::refused, "hm_plugin_entry"},
    {"not_a_library", Outcome::refused, "bad_not_a_library.so"},
    {"unresolved_symbol", Outcome::refused, "symbol_that_nobody_defines"},
    {"entry_returns_null", Outcome::refused, "hm_plugin_entry"},
    {"versions_disagree", Outcome::refused, "1.1"},
    {"null_name", Outcome::refused, "plugin.name"},
    {"endless_name", Outcome::refused, "plugin.name"},
    {"reserved_in_use", Outcome::refused, "kernel.reserved"},
    {"constructor_aborts", Outcome::crashed, "", 6},
    {"constructor_hangs", Outcome::timed_out},
    {"entry_crashes", Outcome::crashed, "", 11},
    {"entry_exits", Outcome::exited},
    {"short_table_with_garbage", Outcome::accepted, "probe=absent comm=absent fill=absent"},
    {"destructor_aborts", Outcome::accepted, "device 0"},
    // create and describe
    {"create_makes_nothing", Outcome::failed, "create"},
    {"status_999", Outcome::failed, "unknown status 999"},
    {"error_without_message", Outcome::failed, "launch_failed"},
    {"unterminated_error", Outcome::failed, "xxxxxxxx"},
    {"endless_devices", Outcome::failed, "4294967295"},
    {"writes_past_struct", Outcome::failed, "past"},
    {"unknown_timer", Outcome::failed, "timer"},
    {"events_without_entries", Outcome::failed, "event"},
    {"two_devices_one_id", Outcome::failed, "'0'"},
    {"two_kernels_one_name", Outcome::failed, "'copy'"},
    {"unterminated_text", Outcome::accepted, "xxxxxxxx"},
    {"open_makes_nothing", Outcome::failed, "open"},
    // domains
    {"million_values", Outcome::failed, "1000000"},
    {"endless_range", Outcome::failed, "block"},
    {"empty_domain", Outcome::failed, "empty"},
    {"duplicate_labels", Outcome::failed, "brgemm"},
    {"default_outside", Outcome::failed, "default"},
    // prepare
    {"throws_unguarded", Outcome::crashed, "", 6},
    {"empty_implementation", Outcome::failed, "implementation"},
    {"no_operands", Outcome::failed, "0 operands"},
    {"unknown_dtype", Outcome::failed, "4711"},
    {"rank_of_9", Outcome::failed, "rank 9"},
    {"unknown_role", Outcome::failed, "role"},
};

}  // namespace halmark::abi_test
