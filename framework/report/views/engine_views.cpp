#include "report/views/engine_views.hpp"

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/measured/engine_step.hpp"
#include "core/text/text.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::report {
namespace {

constexpr std::size_t digest_digits = 12;

std::string count_text(std::int64_t count) {
  return count == 0 ? absent_text : std::to_string(count);
}

std::string known_text(const std::string& text) {
  return text.empty() ? std::string(absent_text) : clean_text(text);
}

std::string tokens_text(const EngineStep& s) {
  if (s.input_tokens + s.output_tokens == 0) return absent_text;
  std::string out;
  if (s.input_tokens > 0) out = std::to_string(s.input_tokens) + " prompt";
  if (s.output_tokens > 0) {
    append_item(out, " + ", std::to_string(s.output_tokens) + " generated");
  }
  return s.cached_tokens > 0 ? out + " behind " + std::to_string(s.cached_tokens) : out;
}

// "1: 27 of 28 rows taken; left out: 1 without a latency". Nothing of earlier imports.
std::string account_text(const EngineImport& imported, const std::string& number) {
  if (imported.unit.empty()) return {};
  std::string left = join(imported.left_out, ", ");
  return number + ": " + std::to_string(imported.taken) + " of " +
         std::to_string(imported.in_file) + ' ' + clean_text(imported.unit) + " taken" +
         (left.empty() ? "" : "; left out: " + clean_text(left)) + '\n';
}

std::string spread_text(const EngineStep& s) {
  if (s.deviation_ns) return "deviation " + duration_text(*s.deviation_ns);
  if (s.least_ns && s.most_ns) return duration_range_text(*s.least_ns, *s.most_ns);
  return absent_text;
}

}  // namespace

std::string origin_text(const EngineImport& i, const EngineStep& s) {
  return clean_text((i.tool == "deploy-check" ? "measured by " : "imported from ") + i.tool + ", " +
                    i.file + " (sha256 " + i.file_sha256.substr(0, digest_digits) + "), " +
                    (s.engine_version.empty() ? "version not stated" : s.engine_version));
}

std::string engine_step_text(const EngineStep& s) {
  return s.phase + ", batch " + count_text(s.batch) + ", " + tokens_text(s) + ": " +
         duration_text(s.step_ns) + ", " + spread_text(s);
}

View engine_steps_view(std::span<const EngineImport> imports) {
  TextTable table({"engine", "model", "phase", ">batch", "tokens", ">step", "spread", ">of",
                   "types", "device", ">from"});
  View out;
  std::string origins;
  Json list = Json::array();
  for (const auto i : indices(imports)) {
    const EngineImport& imported = imports[i];
    const std::string number = std::to_string(i + 1);
    list.push_back(imported);
    for (const EngineStep& s : imported.steps) {
      table.add({s.engine, known_text(s.model_id.empty() ? s.model : s.model_id), s.phase,
                 count_text(s.batch), tokens_text(s), duration_text(s.step_ns), spread_text(s),
                 count_text(s.samples), known_text(s.precision), known_text(s.device), number});
    }
    out.text += account_text(imported, number);
    if (imported.steps.empty()) continue;
    origins += number + ": " + origin_text(imported, imported.steps.front()) + "; " +
               clean_text(imported.imported_utc) + '\n';
    std::string last;
    for (const EngineStep& s : imported.steps) {
      if (s.how != last) origins += "   " + s.phase + ": " + clean_text(s.how) + '\n';
      last = s.how;
    }
  }
  out.data["imports"] = std::move(list);
  out.text =
      imports.empty() ? "no steps of engines are stored\n" : table.text() + out.text + origins;
  return out;
}

}  // namespace halmark::report
