// What can be asked of a job, in the words of the options that state it.
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "model/sizing/job_size.hpp"

namespace halmark {
namespace {

void require_positive(std::string_view option, std::optional<double> value) {
  if (!value || (std::isfinite(*value) && *value > 0)) return;
  throw refused(std::string(option) + " is " + number_text(*value) +
                ": a positive number is expected");
}

}  // namespace

void require_answerable(const Job& o) {
  if (o.tokens.has_value() + o.requests_per_s.has_value() + o.users.has_value() != 1) {
    throw refused("name one job", {},
                  "--tokens for a training run; --requests-per-s or --users for a served load");
  }
  constexpr std::int64_t tokens_max = 1 << 22;
  for (const auto& [name, tokens] :
       {std::pair{"--input", o.input_tokens}, std::pair{"--output", o.output_tokens}}) {
    if (o.tokens || (tokens >= 1 && tokens <= tokens_max)) continue;
    throw refused(std::string(name) + " is " + std::to_string(tokens) + ": from 1 to 4194304");
  }
  if (o.users && (*o.users < 1 || o.states_mfu())) {
    throw refused(*o.users < 1 ? "--users is " + std::to_string(*o.users) + ": at least 1"
                               : "users wait for tokens, which a stated MFU says nothing of",
                  {}, "--requests-per-s goes with --mfu and --decode-mfu");
  }
  if (o.tokens && o.days.has_value() == (o.devices != 0)) {
    throw refused("a training run needs either a time or a number of devices", {},
                  "--days D, or --devices N");
  }
  if (!o.tokens && o.devices != 0) {
    throw refused("--devices is asked of a served load, whose answer it is", {},
                  "leave it out; --devices goes with --tokens");
  }
  if (o.devices < 0 || o.sequence < 1) {
    throw refused(o.devices < 0 ? "--devices is " + std::to_string(o.devices) + ": at least 1"
                                : "--sequence is " + std::to_string(o.sequence) + ": at least 1");
  }
  require_positive("--tokens", o.tokens);
  require_positive("--requests-per-s", o.requests_per_s);
  require_positive("--days", o.days);
  require_positive("--power-w", o.power_w);
  require_positive("--price-per-device-hour", o.price_per_device_hour);
  require_positive("--carbon-g-per-kwh", o.carbon_g_per_kwh);
  for (const auto& [name, value] :
       {std::pair{"--mfu", o.mfu}, std::pair{"--decode-mfu", o.decode_mfu}}) {
    require_positive(name, value);
    if (value && *value > 1)
      throw refused(std::string(name) + " is " + number_text(*value) + ": at most 1");
  }
  if (!std::isfinite(o.pue) || o.pue < 1) {
    throw refused("--pue is " + number_text(o.pue) +
                  ": facility power is at least device power, 1");
  }
}

}  // namespace halmark
