#include "serve/answers.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "serve/page_files.hpp"

namespace halmark::serve {
namespace {

PageAnswer json_answer(int status, const Json& document) {
  return {.status = status,
          .type = "application/json",
          .body = std::make_shared<const std::string>(dump_json(document))};
}

// What people see who open an address that is none.
PageAnswer not_found() { return rejected({404, "there is no such page", "open /"}); }

PageAnswer file_answer(const std::string& path) {
  const std::string name = path == "/" ? "index.html" : path.substr(1);
  const auto files = page_files();
  const auto* file = find_or_null(files, name, &PageFile::name);
  if (!file) return not_found();
  return {.status = 200,
          .type = std::string(content_type(name)),
          .body = std::make_shared<const std::string>(file->text)};
}

// A POST says what it wants as a flat object of words, like a query.
PageQuestion acted_question(PageQuestion question, std::string_view body) {
  const Json document = parse_json(body, "the request");
  if (!document.is_object()) throw refused("the request is no object");
  for (const auto& [name, value] : document.items()) {
    if (!value.is_string()) throw refused("'" + printable(name) + "' of the request is no text");
    question.values[name] = value.get<std::string>();
  }
  return question;
}

std::string_view reason_of(int status) {
  struct Row {
    int status;
    std::string_view reason;
  };
  constexpr std::array rows = {Row{200, "OK"},
                               Row{400, "Bad Request"},
                               Row{403, "Forbidden"},
                               Row{404, "Not Found"},
                               Row{405, "Method Not Allowed"},

                               Row{413, "Content Too Large"},
                               Row{415, "Unsupported Media Type"},
                               Row{422, "Unprocessable Content"},
                               Row{431, "Request Header Fields Too Large"},
                               Row{500, "Internal Server Error"},
                               Row{503, "Service Unavailable"}};
  const auto* row = find_or_null(rows, status, &Row::status);
  return !row ? "Error" : row->reason;
}

}  // namespace

PageAnswer rejected(const Rejection& rejection) {
  return json_answer(rejection.status, {{"error", rejection.what}, {"remedy", rejection.remedy}});
}

PageAnswer answered(PageValues& values, const RequestHead& head, std::string_view body) {
  try {
    const std::string path = path_of(head.target);
    if (!path.starts_with("/api/")) {
      return head.method == "POST" ? not_found() : file_answer(path);
    }
    auto question = parse_question(head.target);
    if (!question) return rejected({400, "the query of the address cannot be read", ""});
    if (head.method != "POST") return json_answer(200, values.answer(*question));
    return json_answer(200, values.act(acted_question(std::move(*question), body)));
  } catch (const std::out_of_range&) {
    return not_found();
  } catch (const Error& error) {
    // A state that cannot be is an answer: browsers would tell their console of another status.
    return json_answer(head.method == "POST" ? 422 : 200,
                       {{"error", error.line()}, {"remedy", error.remedy()}});
  } catch (const std::bad_alloc&) {
    return rejected({503, "there is not enough memory for this answer", "ask for less"});
  } catch (const std::exception& error) {
    return rejected({500, std::string("internal error: ") + error.what(),
                     "this is a defect of halmark; please report the address"});
  }
}

std::string head_text(const PageAnswer& answer, std::ptrdiff_t length, bool keeps_alive) {
  std::string out = "HTTP/1.1 " + std::to_string(answer.status) + ' ' +
                    std::string(reason_of(answer.status)) + "\r\nContent-Type: " + answer.type;
  if (length >= 0) out += "\r\nContent-Length: " + std::to_string(length);
  out += keeps_alive ? "\r\nConnection: keep-alive" : "\r\nConnection: close";
  // Nothing but our own files, nothing inline, nobody's frame; pictures that the page draws itself
  // are data and blob.
  out +=
      "\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
      "connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
      "frame-ancestors 'none'\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer"
      "\r\nCross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin"
      "\r\nCache-Control: no-store\r\n\r\n";
  return out;
}

std::string event_text(const Json& document) { return "data: " + dump_json(document) + "\n\n"; }

}  // namespace halmark::serve
