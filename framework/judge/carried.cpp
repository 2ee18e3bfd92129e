#include "judge/carried.hpp"

// The assembler reads the files as they are: a language of text would take seconds over the object.
asm(R"(
  .section .rodata
halmark_judge_object:
  .incbin ")" HALMARK_JUDGED_OBJECT R"("
halmark_judge_map:
  .incbin ")" HALMARK_JUDGED_MAP R"("
halmark_judge_end:
  .previous
)");

namespace halmark::judge {
namespace {

extern "C" {
extern const char halmark_judge_object[], halmark_judge_map[], halmark_judge_end[];
}

}  // namespace

std::string_view host_object() { return {halmark_judge_object, halmark_judge_map}; }
std::string_view symbol_map() { return {halmark_judge_map, halmark_judge_end}; }

}  // namespace halmark::judge
