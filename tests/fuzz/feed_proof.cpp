// Proofs of fronts. Whatever one says, the check ends with a verdict.
#include "core/json/json.hpp"
#include "feed.hpp"
#include "plan/device/device_file.hpp"
#include "survive.hpp"
#include "verify/front_proof/front_proof_text.hpp"

namespace halmark::fuzz {

void feed_front_proof(std::string_view text) {
  survive([&] {
    const FrontProofCheck check =
        check_front_proof(text, {.read_device = [](std::string_view device) {
                            return parse_device(device, "device record");
                          }});
    (void)front_proof_text(check, "proof");
    (void)dump_json(front_proof_json(check, "proof"));
  });
}

}  // namespace halmark::fuzz
