#include "cli/console/command.hpp"
#include "core/json/json.hpp"
#include "core/text/clean_text.hpp"
#include "core/version.hpp"

namespace halmark::cli {
namespace {

Json warning_json(const Warning& warning) {
  return {{"code", warning.code},
          {"subject", warning.subject},
          {"text", warning.text},
          {"remedy", warning.remedy}};
}

Json error_json(const Error& error) {
  return {{"code", exit_name(error.exit_code())},
          {"text", message_text(error.what())},
          {"where", error.where().empty() ? Json(nullptr) : Json(cut_front(error.where()))},
          {"remedy", error.remedy().empty() ? Json(nullptr) : Json(message_text(error.remedy()))}};
}

}  // namespace

CommandResult shown(report::View view, ExitCode exit_code) {
  return {.exit_code = exit_code, .data = std::move(view.data), .text = std::move(view.text)};
}

std::string envelope(const Command& command, const CommandResult& result, const Error* error) {
  const Json warnings = json_list(result.warnings, warning_json);
  const ExitCode code = error != nullptr ? error->exit_code() : result.exit_code;
  const Json out = {
      {"schema", "halmark." + std::string(command.name)},
      {"version", command.schema_version},
      {"tool", {{"name", "halmark"}, {"version", tool_version}, {"build", tool_build}}},
      {"status", exit_name(code)},
      {"exit_code", static_cast<int>(code)},
      {"data", error != nullptr ? Json::object() : result.data},
      {"error", error != nullptr ? error_json(*error) : Json(nullptr)},
      {"warnings", warnings},
  };
  return terminal_json(dump_json(out, 2)) + '\n';
}

}  // namespace halmark::cli
