// One client: requests in, answers out, each within its limits. All members run on the thread of
// the io_context.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <deque>
#include <list>
#include <memory>
#include <optional>

#include "serve/answers.hpp"
#include "serve/limits.hpp"

namespace halmark::serve {

class Connection;

using RequestParser = boost::beast::http::request_parser<boost::beast::http::string_body>;
void set_limits(RequestParser& parser);
// Of a parser that has read the whole header.
RequestHead head_of(const RequestParser& parser);

// What connections of one server share.
struct Shared {
  // Before the io_context, whose last handlers let go of connections.
  std::size_t unread_bytes = 0;  // of answers
  std::size_t streams = 0;
  Guard guard;
  PageValues* values = nullptr;
  std::list<std::weak_ptr<Connection>> connections;  // the oldest first
  boost::asio::io_context io{1};
  boost::asio::thread_pool computing{1};
  boost::asio::thread_pool slow{1};  // see PageValues::is_slow

  // Makes room for one more where all places are taken.
  void make_room();
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, Shared& shared);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() { await_request(); }
  void close();
  // It waits for a request, or for the rest of one: nobody loses an answer when it is closed.
  bool is_incomplete() const { return phase_ == Phase::reading; }
  bool is_stream() const { return phase_ == Phase::stream; }
  // To a stream. One that has not read the last event yet misses this one.
  void send_event(std::shared_ptr<const std::string> text);

 private:
  enum class Phase { reading, answering, stream, closed };

  void await_request();
  void read_header();
  void on_header(boost::beast::error_code error);
  void on_body(boost::beast::error_code error);
  void fail(boost::beast::error_code error);
  RequestHead head() const { return head_of(*parser_); }
  void compute();
  bool is_slow() const;
  void watch_reader();
  void begin_stream();
  void await_end();
  void answer(PageAnswer answer, bool keeps_alive);
  void write();
  void on_written(boost::beast::error_code error, std::size_t bytes);
  void forget_answer();

  Shared& shared_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_{header_bytes_max + body_bytes_max};
  std::optional<RequestParser> parser_;
  Phase phase_ = Phase::reading;
  std::size_t requests_ = 0, accounted_ = 0;
  bool keeps_alive_ = false, is_head_ = false, is_writing_ = false;
  std::string head_;  // of the answer
  std::shared_ptr<const std::string> body_;
  std::size_t written_ = 0;
  std::shared_ptr<std::atomic<bool>> is_gone_;  // nobody waits for the answer any more
};

}  // namespace halmark::serve
