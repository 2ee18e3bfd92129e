// tools/server/README.md of llama.cpp: GET /health, GET /props, POST /completion.
#include "deploy/engine/llama_server.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <thread>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "host/process/interrupt.hpp"
#include "serve/http_client.hpp"

namespace halmark::deploy {
namespace {

constexpr double millisecond_ns = 1e6;
constexpr auto load_time_max = std::chrono::minutes(10);
constexpr auto poll_interval = std::chrono::milliseconds(100);

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The engine measures as users start it: nothing of the settings that our own workers get.
Environment plain_environment() {
  Environment out;
  for (const char* name : {"PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name)) out[name] = value;
  }
  return out;
}

// The line of a log that says why: the last that speaks of a failure, before a debugger's lines.
std::string reason_in(const std::string& log) {
  std::string last = "it said nothing", reason;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    last = line;
    for (const char* word : {"error", "failed", "ASSERT", "not found", "unable"}) {
      if (line.find(word) != std::string::npos) reason = line;
    }
  }
  return reason.empty() ? last : reason;
}

// Server-sent events: a line "data: {...}" each, an empty line behind.
class EventReader {
 public:
  explicit EventReader(TokenTimes& out) : out_(out) {}

  void add(std::string_view piece) {
    pending_ += piece;
    for (std::size_t end; (end = pending_.find('\n')) != std::string::npos;) {
      const std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      if (line.starts_with("data: ")) take(Json::parse(line.substr(6), nullptr, false));
    }
  }

 private:
  // The last event repeats the times of the last token. Tokens whose text is no whole character yet
  // come together with the one that ends it: they share its time evenly.
  void take(const Json& event) {
    if (!event.is_object() || !event.contains("timings")) return;
    const Json& timings = event.at("timings");
    const auto tokens = timings.value("predicted_n", std::size_t{0});
    const double until = timings.value("predicted_ms", 0.0) * millisecond_ns;
    out_.prompt_ns = timings.value("prompt_ms", 0.0) * millisecond_ns;
    if (tokens <= out_.token_ns.size()) return;
    const double since = out_.token_ns.empty() ? 0 : out_.token_ns.back();
    const std::size_t together = tokens - out_.token_ns.size();
    for (std::size_t i = 1; i <= together; ++i) {
      out_.token_ns.push_back(since + (until - since) * as_double(i) / as_double(together));
      out_.arrival_ns.push_back(now_ns());
    }
  }

  TokenTimes& out_;
  std::string pending_;
};

}  // namespace

LlamaServer::LlamaServer(const ServerCommand& command, std::stop_token stop)
    : port_(serve::free_port()), stop_(std::move(stop)) {
  ProcessSpec spec{.program = command.program,
                   .arguments = command.arguments,
                   .environment = plain_environment(),
                   .cpus = {}};
  for (const std::string& word : {std::string("--host"), std::string("127.0.0.1"),
                                  std::string("--port"), std::to_string(port_)}) {
    spec.arguments.push_back(word);
  }
  process_ = ContainedProcess::start(spec);
  const auto deadline = std::chrono::steady_clock::now() + load_time_max;
  const auto ignore = [](std::string_view) {};
  while (serve::ask_loopback(port_, "/health", "", ignore, stop_) != 200) {
    check_stop();
    if (!process_->running()) throw failure("ended while it loaded");
    if (std::chrono::steady_clock::now() > deadline) throw failure("did not come up");
    std::this_thread::sleep_for(poll_interval);
  }
  std::string props;
  serve::ask_loopback(
      port_, "/props", "", [&](std::string_view s) { props += s; }, stop_);
  const Json said = Json::parse(props, nullptr, false);
  if (said.is_object()) build_ = said.value("build_info", "");
}

void LlamaServer::check_stop() const {
  if (stop_.stop_requested()) throw Error(interrupt_exit_code(), "interrupted");
}

Error LlamaServer::failure(const std::string& what) {
  const std::string log = process_->log_tail();
  return unfit("llama-server " + what + ": " + reason_in(log));
}

TokenTimes LlamaServer::complete_one(const std::vector<std::int64_t>& prompt,
                                     std::int64_t generated) const {
  TokenTimes out{.sent_ns = now_ns()};
  const Json request = {{"prompt", prompt},   {"n_predict", generated},
                        {"temperature", 0},   {"samplers", Json::array({"temperature"})},
                        {"ignore_eos", true}, {"cache_prompt", false},
                        {"stream", true},     {"timings_per_token", true}};
  EventReader events(out);
  std::string answer;
  const int status = serve::ask_loopback(
      port_, "/completion", dump_json(request),
      [&](std::string_view piece) {
        if (answer.size() < 4096) answer += piece;
        events.add(piece);
      },
      stop_);
  if (status != 200) {
    throw unfit("llama-server refused a request (status " + std::to_string(status) +
                "): " + printable(answer));
  }
  return out;
}

std::vector<TokenTimes> LlamaServer::complete(const std::vector<std::vector<std::int64_t>>& prompts,
                                              std::int64_t generated) {
  std::vector<TokenTimes> out(prompts.size());
  std::vector<std::exception_ptr> failures(prompts.size());
  {
    std::vector<std::jthread> threads;
    for (const auto i : indices(prompts)) {
      threads.emplace_back([&, i] {
        try {
          out[i] = complete_one(prompts[i], generated);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    }
  }
  check_stop();
  const bool has_failed = std::ranges::any_of(failures, [](const auto& f) { return f != nullptr; });
  // Of a server that dies the connection ends a moment before the process does.
  const double patience_s = has_failed ? 0.5 : 0;
  if (process_->wait(protocol::deadline_after(patience_s))) throw failure("ended");
  for (const std::exception_ptr& failed : failures) {
    if (failed) std::rethrow_exception(failed);
  }
  return out;
}

}  // namespace halmark::deploy
