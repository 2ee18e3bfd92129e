#include "serve/connection.hpp"
#include "core/text/text.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace halmark::serve {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::beast::error_code;

// One whose time is up gets no answer: its socket is closed already.
std::optional<Rejection> rejection_of(const error_code& error) {
  if (error == http::error::header_limit) return Rejection{431, "the headers are too long", ""};
  if (error == http::error::body_limit) return Rejection{413, "the body is too long", ""};
  if (error.category() == http::make_error_code(http::error::bad_method).category() &&
      error != http::error::end_of_stream && error != http::error::partial_message) {
    return Rejection{400, "the request cannot be read", ""};
  }
  return std::nullopt;
}

}  // namespace

void set_limits(RequestParser& parser) {
  parser.header_limit(static_cast<std::uint32_t>(header_bytes_max));
  parser.body_limit(body_bytes_max);
}

RequestHead head_of(const RequestParser& parser) {
  const auto& message = parser.get();
  RequestHead out{.method = std::string(message.method_string()),
                  .target = std::string(message.target())};
  for (const auto& field : message) {
    const std::string name(field.name_string());
    out.headers.emplace_back(lower_case(name), std::string(field.value()));
  }
  return out;
}

void Shared::make_room() {
  connections.remove_if([](const auto& one) { return one.expired(); });
  if (connections.size() < connections_max) return;
  // Those that wait for a client first, then whoever came first: an honest one is never kept out.
  auto oldest = std::ranges::find_if(connections, [](const auto& one) {
    const auto connection = one.lock();
    return connection && connection->is_incomplete();
  });
  if (oldest == connections.end()) oldest = connections.begin();
  if (const auto connection = oldest->lock()) connection->close();
  connections.erase(oldest);
}

Connection::Connection(asio::ip::tcp::socket socket, Shared& shared)
    : shared_(shared), stream_(std::move(socket)) {
  // A sweep that the page starts inherits no client.
  fcntl(stream_.socket().native_handle(), F_SETFD, FD_CLOEXEC);
}

Connection::~Connection() {
  forget_answer();
  if (phase_ == Phase::stream) --shared_.streams;
}

void Connection::close() {
  if (phase_ == Phase::stream) --shared_.streams;
  phase_ = Phase::closed;
  error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  stream_.close();
}

void Connection::forget_answer() {
  shared_.unread_bytes -= accounted_;
  accounted_ = 0;
  body_.reset();
}

void Connection::await_request() {
  phase_ = Phase::reading;
  parser_.emplace();
  set_limits(*parser_);
  if (buffer_.size() > 0) return read_header();
  stream_.expires_after(idle_limit);
  stream_.async_read_some(buffer_.prepare(1024),
                          [self = shared_from_this()](error_code error, std::size_t bytes) {
                            if (error) return self->close();
                            self->buffer_.commit(bytes);
                            self->read_header();
                          });
}

void Connection::read_header() {
  stream_.expires_after(header_limit);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, std::size_t) { self->on_header(error); });
}

void Connection::on_header(error_code error) {
  if (phase_ == Phase::closed) return;
  if (error) return fail(error);
  // Turned away before a byte of the body is read.
  if (const auto rejection = shared_.guard.rejection(head())) {
    return answer(rejected(*rejection), false);
  }
  stream_.expires_after(body_limit);
  http::async_read(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](error_code after, std::size_t) { self->on_body(after); });
}

void Connection::fail(error_code error) {
  const auto rejection = rejection_of(error);
  if (!rejection) return close();
  answer(rejected(*rejection), false);
}

void Connection::on_body(error_code error) {
  if (phase_ == Phase::closed) return;
  if (error) return fail(error);
  stream_.expires_never();
  phase_ = Phase::answering;
  keeps_alive_ = parser_->get().keep_alive() && ++requests_ < requests_max;
  is_head_ = parser_->get().method() == http::verb::head;
  const RequestHead asked = head();
  if (path_of(asked.target) == events_path && asked.method == "GET") return begin_stream();
  if (shared_.unread_bytes > unread_bytes_max) {
    return answer(rejected({503, "too many answers wait for their readers", "come again"}), false);
  }
  compute();
}

bool Connection::is_slow() const {
  const auto question = parse_question(std::string(parser_->get().target()));
  return question && shared_.values->is_slow(*question);
}

// A page whose slider moved on closes the connection on which it waited.
void Connection::watch_reader() {
  stream_.socket().async_wait(asio::ip::tcp::socket::wait_read,
                              [self = shared_from_this(), is_gone = is_gone_](error_code error) {
                                if (error || self->phase_ != Phase::answering) return;
                                char next = 0;
                                const int fd = self->stream_.socket().native_handle();
                                if (::recv(fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) != 0) return;
                                *is_gone = true;
                                self->close();
                              });
}

void Connection::compute() {
  is_gone_ = std::make_shared<std::atomic<bool>>(false);
  const bool takes_long = is_slow();
  if (takes_long) watch_reader();
  asio::post(takes_long ? shared_.slow : shared_.computing,
             [self = shared_from_this(), asked = head(), body = parser_->get().body(),
              is_gone = is_gone_] {
               auto made = *is_gone ? PageAnswer() : answered(*self->shared_.values, asked, body);
               // Released by the thread that owns it, answered or not.
               asio::post(self->shared_.io, [self, made = std::move(made)]() mutable {
                 if (self->phase_ == Phase::answering)
                   self->answer(std::move(made), self->keeps_alive_);
               });
             });
}

void Connection::begin_stream() {
  if (shared_.streams >= streams_max) {
    return answer(rejected({503, "too many pages listen already", "close one of them"}), false);
  }
  ++shared_.streams;
  phase_ = Phase::stream;
  head_ = head_text({.type = "text/event-stream"}, -1, false);
  body_ = std::make_shared<const std::string>(": halmark\n\n");
  written_ = 0;
  await_end();
  write();
}

// Keeps the stream alive, and ends it when its reader leaves.
void Connection::await_end() {
  stream_.expires_never();
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(256),
                          [self = shared_from_this()](error_code error, std::size_t) {
                            if (self->phase_ != Phase::stream) return;
                            if (error) return self->close();
                            self->await_end();
                          });
}

void Connection::send_event(std::shared_ptr<const std::string> text) {
  if (phase_ != Phase::stream || is_writing_) return;
  head_.clear();
  body_ = std::move(text);
  written_ = 0;
  write();
}

void Connection::answer(PageAnswer made, bool keeps_alive) {
  phase_ = Phase::answering;
  keeps_alive_ = keeps_alive;
  head_ = head_text(made, static_cast<std::ptrdiff_t>(made.body->size()), keeps_alive);
  body_ = is_head_ ? std::make_shared<const std::string>() : std::move(made.body);
  accounted_ = body_->size();
  shared_.unread_bytes += accounted_;
  written_ = 0;
  write();
}

void Connection::write() {
  is_writing_ = true;
  stream_.expires_after(write_limit);
  const std::size_t of_body = written_ > head_.size() ? written_ - head_.size() : 0;
  const std::size_t of_head = std::min(written_, head_.size());
  const std::array<asio::const_buffer, 2> rest = {
      asio::buffer(head_) + of_head,
      asio::const_buffer(body_->data() + of_body, body_->size() - of_body)};
  stream_.async_write_some(rest, [self = shared_from_this()](error_code error, std::size_t bytes) {
    self->on_written(error, bytes);
  });
}

void Connection::on_written(error_code error, std::size_t bytes) {
  is_writing_ = false;
  if (phase_ == Phase::closed) return;
  if (error) return close();
  written_ += bytes;
  if (written_ < head_.size() + body_->size()) return write();
  if (phase_ == Phase::stream) return stream_.expires_never();
  forget_answer();
  if (!keeps_alive_) return close();
  await_request();
}

}  // namespace halmark::serve
