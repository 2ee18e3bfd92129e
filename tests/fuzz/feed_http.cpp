// Requests of clients of `halmark serve`, as its connections read them, without a socket.
#include <boost/asio/buffer.hpp>
#include <stdexcept>

#include "core/json/json.hpp"
#include "feed.hpp"
#include "serve/connection.hpp"

namespace halmark::fuzz {
namespace {

class Echo : public serve::PageValues {
 public:
  Json answer(const serve::PageQuestion& question) override {
    if (question.path != "echo") throw std::out_of_range("none");
    return {{"values", question.values}};
  }
  Json act(const serve::PageQuestion& question) override { return {{"did", question.values}}; }
  Json progress() override { return {}; }
};

}  // namespace

void feed_http_request(std::string_view bytes) {
  serve::RequestParser parser;
  serve::set_limits(parser);
  parser.eager(true);  // header and body in one call
  boost::beast::error_code error;
  const std::size_t taken =
      parser.put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  if (taken > bytes.size()) throw std::logic_error("more was read than there was");
  if (error || !parser.is_header_done()) return;
  const serve::RequestHead head = serve::head_of(parser);
  const serve::Guard guard{.port = 8080, .hosts = {"box"}, .token = "secret"};
  if (const auto rejection = guard.rejection(head)) {
    (void)serve::head_text(serve::rejected(*rejection), 0, false);
    return;
  }
  Echo values;
  const serve::PageAnswer answer = serve::answered(values, head, parser.get().body());
  if (answer.status == 500) throw std::logic_error("an answer of a defect: " + *answer.body);
  if (answer.type == "application/json") (void)parse_json(*answer.body, "answer");
}

}  // namespace halmark::fuzz
