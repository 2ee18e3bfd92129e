// halmark serve: the page over everything that is computed here, for the browsers of this machine.
#include "cli/shared.hpp"

#include <memory>

#include "pages/serve/static_page.hpp"
#include "report/report.hpp"
#include "serve/server.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::cli {
namespace {

struct ServeOptions {
  serve::ServerSettings server;
  int port = 0;
  bool is_writable = false;
  std::string html, state;
  std::vector<std::string> latency;
};

pages::PageSettings page_settings(const GlobalOptions& global, const ServeOptions& o) {
  return {.sources = {.models = config_dirs("models"),
                      .devices = config_dirs("devices"),
                      .fabrics = config_dirs("fabrics"),
                      .engines = config_dirs("engines"),
                      .here = local_machine().measured,
                      .latency = o.latency.empty() ? tune::default_sources() : o.latency},
          .sweeps = {.folders = config_dirs("sweeps"),
                     .program = program_path().string(),
                     .database = database_path(global),
                     .is_writable = o.is_writable}};
}

pages::PageState stated(const ServeOptions& o) {
  const auto question = serve::parse_question("/api/step?" + o.state);
  if (!question) throw refused("the state cannot be read", "--state", "words of a copied link");
  return pages::parse_state(question->values);
}

CommandResult execute(const GlobalOptions& global, ServeOptions o) {
  if (!o.html.empty()) {
    CommandResult out;
    write_page(global, stated(o), o.html, out, o.latency);
    return out;
  }
  if (global.json) throw refused("serve answers by HTTP", {}, "leave --json away");
  pages::SimulatorPage page(page_settings(global, o));
  o.server.port = static_cast<unsigned short>(o.port);
  if (o.is_writable) o.server.token = serve::random_token();
  serve::Server server(o.server, page);
  const HeldInterrupts until_closed;
  write_stdout(server.url() + '\n');
  say(global, page.opening_line());
  server.run(interrupted);
  return {};
}

}  // namespace

void write_page(const GlobalOptions& global, const pages::PageState& state, const std::string& file,
                CommandResult& result, const std::vector<std::string>& latency) {
  pages::SimulatorPage page(page_settings(global, {.latency = latency}));
  result.data["written"] = file;
  result.write({file}, [&](const std::string& path) {
    write_whole_file(pages::static_page(page, state), path);
  });
}

Action add_serve(OptionSet& app) {
  auto o = std::make_shared<ServeOptions>();
  app.add_option("--port", o->port, "Port (default 0: one that is free)").check(within(0, 65535));
  app.add_option("--listen", o->server.address, "Address (default 127.0.0.1: this machine alone)");
  app.add_option("--allow-host", o->server.hosts, "Further name by which browsers reach it");
  app.add_flag("--writable", o->is_writable, "The page may start and stop sweeps, by its token");
  app.add_option("--html", o->html, "Instead of serving: one file with a grid of states");
  add_latency_option(app, o->latency);
  app.add_option("--state", o->state, "With --html: of the grid, the words behind # of a link")
      .with("--html");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
