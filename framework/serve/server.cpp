#include "serve/server.hpp"

#include <fcntl.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "serve/connection.hpp"

namespace halmark::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::beast::error_code;

asio::ip::address parsed_address(const std::string& text) {
  error_code error;
  const auto out = asio::ip::make_address(text, error);
  if (error) throw refused("'" + printable(text) + "' is no address", "--listen", "127.0.0.1, ::1");
  return out;
}

}  // namespace

struct Server::State {
  Shared shared;
  tcp::acceptor acceptor{shared.io};
  asio::steady_timer watch{shared.io}, pause{shared.io};
  std::function<bool()> should_stop;
  bool is_asked = false;  // for progress, on the other thread
  int ticks = 0;

  void accept();
  void tick();
  void ask_progress();
  void tell(const std::string& text);
};

Server::Server(ServerSettings settings, PageValues& values) : state_(std::make_unique<State>()) {
  const tcp::endpoint at(parsed_address(settings.address), settings.port);
  if (!at.address().is_loopback() && settings.hosts.empty()) {
    throw refused("other machines would reach " + settings.address, "--listen",
                  "name the host by which they do with --allow-host as well");
  }
  const std::string address = at.address().to_string();
  settings.hosts.push_back(at.address().is_v6() ? '[' + address + ']' : address);
  error_code error;
  tcp::acceptor& acceptor = state_->acceptor;
  acceptor.open(at.protocol(), error);
  if (!error) fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(at, error);
  if (!error) acceptor.listen(static_cast<int>(connections_max), error);
  if (error) {
    throw refused("cannot listen on " + settings.address + " port " +
                      std::to_string(settings.port) + ": " + error.message(),
                  {}, "--port 0 takes one that is free");
  }
  state_->shared.guard = {.port = acceptor.local_endpoint().port(),
                          .hosts = std::move(settings.hosts),
                          .token = std::move(settings.token)};
  state_->shared.values = &values;
}

Server::~Server() {
  for (asio::thread_pool* threads : {&state_->shared.computing, &state_->shared.slow}) {
    threads->stop();
    threads->join();
  }
}

unsigned short Server::port() const { return state_->shared.guard.port; }

std::string Server::url() const {
  const tcp::endpoint at = state_->acceptor.local_endpoint();
  const std::string address = at.address().to_string();
  const Guard& guard = state_->shared.guard;
  return "http://" + (at.address().is_v6() ? '[' + address + ']' : address) + ':' +
         std::to_string(guard.port) + '/' + (guard.token.empty() ? "" : "#token=" + guard.token);
}

void Server::State::accept() {
  acceptor.async_accept([this](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {
      // Out of descriptors, most likely: trying at once would only spin.
      pause.expires_after(std::chrono::milliseconds(50));
      return pause.async_wait([this](error_code) { accept(); });
    }
    shared.make_room();
    const auto connection = std::make_shared<Connection>(std::move(socket), shared);
    shared.connections.push_back(connection);
    connection->start();
    accept();
  });
}

void Server::State::tell(const std::string& text) {
  const auto event = std::make_shared<const std::string>(text);
  for (const auto& one : shared.connections) {
    const auto connection = one.lock();
    if (connection && connection->is_stream()) connection->send_event(event);
  }
}

void Server::State::ask_progress() {
  if (is_asked) return;
  is_asked = true;
  asio::post(shared.computing, [this] {
    std::string text = ": nothing to say\n\n";
    try {
      text = event_text(shared.values->progress());
    } catch (const std::exception&) {
      // A database that is being replaced: the next second knows more.
    }
    asio::post(shared.io, [this, text = std::move(text)] {
      is_asked = false;
      tell(text);
    });
  });
}

void Server::State::tick() {
  if (should_stop()) return shared.io.stop();
  if (++ticks % 10 == 0 && shared.streams > 0) ask_progress();
  watch.expires_after(std::chrono::milliseconds(100));
  watch.async_wait([this](error_code error) {
    if (!error) tick();
  });
}

void Server::run(const std::function<bool()>& should_stop) {
  state_->should_stop = should_stop;
  state_->accept();
  state_->tick();
  state_->shared.io.run();
}

}  // namespace halmark::serve
