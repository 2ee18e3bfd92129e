// halmark simulate serving: what a stream of requests experiences of a server.
#include <memory>

#include "cli/shared.hpp"
#include "pages/serve/state/served_state.hpp"
#include "pages/simulate/serving_page.hpp"
#include "report/report.hpp"
#include "simulate/serving/serving_json.hpp"
#include "simulate/timeline/timeline_export.hpp"

namespace halmark::cli {
namespace {

struct ServingFiles {
  std::string events, perfetto, html;
};

CommandResult execute(const GlobalOptions& global, tune::ServingQuestion q,
                      const ServingFiles& files) {
  q.latency.engine = parse_engine(q.latency.engine.name);
  if (!files.html.empty()) pages::check_served_page(q);
  if (q.latency.sources.empty()) q.latency.sources = tune::default_sources();
  q.keeps_timeline = !files.events.empty() || !files.perfetto.empty();
  const auto s = tune::simulate_serving(q, config_dirs("models"), config_dirs("devices"));
  CommandResult out = pages::serving_page({s.configuration, s.layout, s.plan, s.room, s.levels,
                                           s.record, s.summary, s.closed_form, s.keeps_ttft,
                                           s.keeps_tpot, s.ranges, s.basis, s.saturation});
  if (!files.events.empty()) {
    write_whole_file(serving::events_text(s.record.timeline), files.events);
    out.text += "events written to " + files.events + '\n';
  }
  if (!files.perfetto.empty()) {
    write_whole_file(simulate::chrome_trace(s.record.timeline), files.perfetto);
  }
  if (!files.html.empty()) {
    const pages::PageState state = pages::served_page(q, s, known_device(q.latency.device).id);
    write_page(global, state, files.html, out, q.latency.sources);
    if (state.shards > 1)
      out.text += "the page has the fastest layout of the same number of devices\n";
  }
  return out;
}

}  // namespace

Action add_simulate_serving(OptionSet& app) {
  auto q = std::make_shared<tune::ServingQuestion>();
  auto files = std::make_shared<ServingFiles>();
  app.add_option("model", q->model, "Shipped id, alias, or path of a config.json")->required();
  app.add_option("--device,--device-file", q->latency.device, "Known device")->required();
  app.add_option("--devices", q->devices, "Of the whole server: those of one engine by --tp");
  app.add_option("--tp", q->tp, "Devices that share every layer");
  app.add_option("--pp", q->pp, "Pipeline stages");
  app.add_option("--dp", q->dp, "Engines, each with a queue of its own");
  app.add_option("--ep", q->ep, "Ranks that experts are spread over, of tp and dp");
  app.add_option("--dtype", q->dtype, precision_help());
  const Option rate = app.add_option("--rate,--requests-per-s", q->load.rate_per_s,
                                     "Requests a second, by chance (default: clients that wait)");
  app.add_option("--burst", q->load.variation, "Of --rate: deviation over mean of the gaps (1)");
  app.add_option("--concurrency,--users", q->load.clients,
                 "Clients that each wait for their answer (1)");
  app.add_flag("--at-once", q->begins_at_once,
               "Clients begin together, as benchmarks do (with --engine)");
  app.add_flag("--spread", q->begins_spread, "Clients begin evenly over a request (with none)");
  app.add_option("--arrivals", q->trace, "CSV: arrival_s,input_tokens,output_tokens,...");
  app.add_option("--input", q->load.shape.input_tokens, "Prompt tokens of a request");
  app.add_option("--output", q->load.shape.output_tokens, "Generated tokens of a request");
  app.add_option("--requests", q->load.requests,
                 "How many (200; of clients that begin together 8 each)");
  app.add_option("--prefix-tokens", q->load.prefix_tokens, "That prompts begin with in common");
  app.add_option("--prefix-share", q->load.prefix_share, "Of requests that do (0)");
  app.add_option("--mode", q->mode, "aggregated, disaggregated, shared (by --prefill-share)");
  app.add_option("--prefill-share", q->prefill_share, "Of a shared device's time (0.5)");
  app.add_option("--prefill-workers", q->prefill_workers, "Disaggregated (1)");
  app.add_option("--decode-workers", q->decode_workers, "Disaggregated (1)");
  app.add_option("--prefill-tp", q->prefill.tp, "Of a worker that prefills (as --tp)");
  app.add_option("--prefill-pp", q->prefill.pp, "Of a worker that prefills (as --pp)");
  app.add_option("--prefill-dp", q->prefill.dp, "Of a worker that prefills (as --dp)");
  app.add_option("--prefill-ep", q->prefill.ep, "Of a worker that prefills (as --ep)");
  app.add_option("--link-gb-per-s", q->link_gb_per_s, "Of one device between workers (its link)");
  app.add_flag("--migrate", q->migrates, "Requests move between engines where that gains");
  app.add_option("--token-budget", q->engine.token_budget, "Most tokens of a step (fitted, 8192)");
  app.add_option("--kv-blocks", q->engine.blocks, "Of an engine's cache (what fits)");
  app.add_option("--block-tokens", q->engine.block_tokens, "Of a KV block (16)");
  app.add_option("--max-batch", q->engine.requests_max, "Requests in a batch (no limit)");
  app.add_option(
      "--engine", q->latency.engine.name,
      "Whose host and scheduler terms: sglang, trtllm, vllm, of a release vllm:0.19.0, none "
      "(the forecast's)");
  app.add_option("--cold-start", q->cold_start, "Weights from disk:GB/s or network:GB/s first");
  app.add_option("--ttft", q->ttft, "Level: time to the first token at most, 1s");
  app.add_option("--tpot", q->tpot, "Level: time between tokens at most, 30ms");
  app.add_option("--seed", q->load.seed, "Of arrivals (1)");
  add_latency_option(app, q->latency.sources);
  app.add_option("--events", files->events, "File for the events, one JSON line each");
  app.add_option("--perfetto", files->perfetto, "Writes a trace for ui.perfetto.dev");
  app.add_option("--html", files->html, "Writes the page of halmark serve around this server");
  return [=](const GlobalOptions& global) {
    q->has_rate = rate.is_given();
    return execute(global, *q, *files);
  };
}

}  // namespace halmark::cli
