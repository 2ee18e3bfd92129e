// Every bad plugin with the one outcome it must have.
#pragma once

#include <string_view>

namespace halmark::abi_test {

enum class Ending {
  refused,    // the loader says why; no table entry was called
  failed,     // a call came back with a judged error
  crashed,    // the process that loaded it died of `signal`
  timed_out,  // it was killed at its limit
  exited,     // it left without an answer
  accepted,   // tolerated, with the damage cut off
};

struct BadPlugin {
  std::string_view file;  // in tests/plugins/bad, without "bad_" and ".so"
  Ending ending;
  std::string_view text = {};  // part of the reason; for `accepted`, of what was described
  int signal = 0;
};

inline constexpr BadPlugin bad_plugins[] = {
    // loading
    {"wrong_major", Ending::refused, "ABI 99.0"},
    {"struct_size_8", Ending::refused, "struct_size is 8"},
    {"null_required_entry", Ending::refused, "kernel.prepare"},
    {"null_group", Ending::refused, "plugin.memory"},
    {"short_group", Ending::refused, "kernel.enqueue"},
    {"half_a_comm_group", Ending::refused, "comm."},
    {"missing_symbol", Ending::refused, "hm_plugin_entry"},
    {"not_a_library", Ending::refused, "bad_not_a_library.so"},
    {"unresolved_symbol", Ending::refused, "symbol_that_nobody_defines"},
    {"entry_returns_null", Ending::refused, "hm_plugin_entry"},
    {"versions_disagree", Ending::refused, "1.1"},
    {"null_name", Ending::refused, "plugin.name"},
    {"endless_name", Ending::refused, "plugin.name"},
    {"reserved_in_use", Ending::refused, "kernel.reserved"},
    {"constructor_aborts", Ending::crashed, "", 6},
    {"constructor_hangs", Ending::timed_out},
    {"entry_crashes", Ending::crashed, "", 11},
    {"entry_exits", Ending::exited},
    {"short_table_with_garbage", Ending::accepted, "probe=absent comm=absent fill=absent"},
    {"destructor_aborts", Ending::accepted, "device 0"},
    // create and describe
    {"create_makes_nothing", Ending::failed, "create"},
    {"status_999", Ending::failed, "unknown status 999"},
    {"error_without_message", Ending::failed, "launch_failed"},
    {"unterminated_error", Ending::failed, "xxxxxxxx"},
    {"endless_devices", Ending::failed, "4294967295"},
    {"writes_past_struct", Ending::failed, "past"},
    {"unknown_timer", Ending::failed, "timer"},
    {"events_without_entries", Ending::failed, "event"},
    {"two_devices_one_id", Ending::failed, "'0'"},
    {"two_kernels_one_name", Ending::failed, "'copy'"},
    {"unterminated_text", Ending::accepted, "xxxxxxxx"},
    {"open_makes_nothing", Ending::failed, "open"},
    // domains
    {"million_values", Ending::failed, "1000000"},
    {"endless_range", Ending::failed, "block"},
    {"empty_domain", Ending::failed, "empty"},
    {"duplicate_labels", Ending::failed, "brgemm"},
    {"default_outside", Ending::failed, "default"},
    // prepare
    {"throws_unguarded", Ending::crashed, "", 6},
    {"empty_implementation", Ending::failed, "implementation"},
    {"no_operands", Ending::failed, "0 operands"},
    {"unknown_dtype", Ending::failed, "4711"},
    {"rank_of_9", Ending::failed, "rank 9"},
    {"unknown_role", Ending::failed, "role"},
};

}  // namespace halmark::abi_test
