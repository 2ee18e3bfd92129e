#include "pages/simulate/sharding_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "pages/simulate/shard_rows.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"
#include "simulate/sharding/plan_json.hpp"

namespace halmark::pages {
namespace {

using report::bytes_text;
using report::duration_text;
using report::signed_percent_text;
using simulate::PlanAnswer;
using simulate::PlannedLayout;

constexpr std::size_t layouts_shown = 6;

std::string fitted(const report::TextTable& table, int width) {
  return width > 0 ? table.text(width) : table.text();
}

std::string times_text(const PlannedLayout& layout) {
  return fmt::format("{} (compute {}, exchange {})", duration_text(layout.cost.ns()),
                     duration_text(layout.cost.step.compute_ns),
                     duration_text(layout.cost.step.communication_ns));
}

std::string head_text(const PlanAnswer& a) {
  const PlannedLayout& chosen = *a.plan.chosen();
  const auto counted = [](std::size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  std::string out =
      fmt::format("{}\n{} of {}{}: step {}, {} tokens/s, modelled\n", chosen.configuration.key(),
                  counted(as_size(a.question.shards), "shard"), a.device,
                  a.fabric.empty() ? "" : " over " + a.fabric, times_text(chosen),
                  report::significant_text(a.tokens_per_s()));
  out += fmt::format("the fastest of {}", counted(a.plan.layouts.size(), "possible layout"));
  if (!chosen.fits) {
    out += ", of which none fits";
  } else if (a.question.bytes_max) {
    out += fmt::format("; a shard holds {} of {}", bytes_text(chosen.largest.total()),
                       bytes_text(as_double(*a.question.bytes_max)));
  }
  out += fmt::format("; planned in {}\n", duration_text(a.planning_s * 1e9));
  for (const auto& [reason, count] : a.plan.refused) {
    out += fmt::format("refused {}: {}\n", count, reason);
  }
  return out;
}

std::string layouts_text(const PlanAnswer& a, const ShardingPage& page) {
  report::TextTable table(
      {"layout", ">step", ">compute", ">exchange", ">a shard", "fits", ">measured"});
  const std::size_t shown =
      page.shows_all ? a.plan.layouts.size() : std::min(layouts_shown, a.plan.layouts.size());
  for (const auto i : indices(shown)) {
    const PlannedLayout& l = a.plan.layouts[i];
    table.add({l.configuration.parallel.text(), duration_text(l.cost.ns()),
               duration_text(l.cost.step.compute_ns), duration_text(l.cost.step.communication_ns),
               bytes_text(l.largest.total()), l.fits ? "yes" : "no",
               l.measured_ns ? duration_text(*l.measured_ns) : report::absent_text});
  }
  std::string out = '\n' + fitted(table, page.width);
  if (shown < a.plan.layouts.size()) {
    out += fmt::format("{} more with --all\n", a.plan.layouts.size() - shown);
  }
  return out;
}

std::string stages_text(const PlanAnswer& a) {
  if (a.graph.stages.size() < 2) return {};
  std::string out = "\nstages";
  const std::vector<double>& ns = a.plan.chosen()->cost.stage_ns;
  constexpr std::size_t most = 8;
  for (const auto s : indices(ns)) {
    if (s == most) {
      out += fmt::format("; {} more", ns.size() - s);
      break;
    }
    const auto& stage = a.graph.stages[s];
    out += fmt::format("{} layers {}-{} on shards {}: {}", s == 0 ? ":" : ";", stage.first_layer,
                       stage.first_layer + stage.layers - 1, a.owners[s], duration_text(ns[s]));
  }
  return out + fmt::format(" a micro-batch\nisolated step, as run executes it: {}\n",
                           duration_text(a.plan.chosen()->cost.alone_ns));
}

std::string grouped_text(const PlanAnswer& a) {
  if (!a.plan.grouped) return {};
  std::string groups;
  int first = 0;
  for (const LayerGroup& g : a.plan.grouped->configuration.groups) {
    append_item(groups, ", ",
                fmt::format("layers {}-{} {}", first, first + g.layers - 1,
                            g.text().substr(g.text().find(':') + 1)));
    first += g.layers;
  }
  return fmt::format("\na strategy per group of layers: {} ({} a shard): {}; not executable here\n",
                     duration_text(a.plan.grouped->ns), bytes_text(a.plan.grouped->bytes), groups);
}

std::string factor_text(const char* kind, const simulate::Calibration& c) {
  if (!c.is_applied()) {
    return fmt::format("{}: {} of the 3 pairs that a correction needs", kind, c.pairs);
  }
  return fmt::format("{}: measured / predicted {} [{}, {}] over {} pairs", kind,
                     report::significant_text(c.factor), report::significant_text(c.interval->low),
                     report::significant_text(c.interval->high), c.pairs);
}

std::string journal_text(const PlanAnswer& a) {
  if (!a.reads_journal) return {};
  std::string out =
      fmt::format("\njournal: {}\n         {}\n", factor_text("compute", a.calibration.compute),
                  factor_text("exchange", a.calibration.communication));
  if (a.before) {
    out += fmt::format("before:  {} {}\nafter:   {} {}\n", a.before->configuration.parallel.text(),
                       times_text(*a.before), a.plan.chosen()->configuration.parallel.text(),
                       times_text(*a.plan.chosen()));
  }
  if (!a.plan.winner) return out;
  const auto slower = *a.plan.slower_than_winner();
  out += fmt::format("fastest measured: {} {}", a.plan.winner->first,
                     duration_text(a.plan.winner->second));
  if (a.plan.overruled) {
    return out + fmt::format("; takes the place of {}, the modelled choice, measured {}\n",
                             a.plan.overruled->configuration.parallel.text(),
                             signed_percent_text(slower));
  }
  if (a.plan.winner->first == a.plan.chosen()->configuration.key()) {
    return out + ", which is the choice\n";
  }
  return out + fmt::format("; the choice was not measured, and is said to take {}\n",
                           signed_percent_text(slower));
}

std::string offload_text(const PlanAnswer& a) {
  if (!a.offload) return {};
  std::string out = fmt::format("\nmoved to {}: {}, {} longer a step\n", a.offload->tier,
                                bytes_text(a.offload->bytes), duration_text(a.offload->ns));
  constexpr std::size_t most = 8;
  for (const auto i : indices(a.offloaded)) {
    if (i == most) {
      out += fmt::format("  {} more, in --json\n", a.offloaded.size() - i);
      break;
    }
    out +=
        fmt::format("  {} {} {}\n", a.offloaded[i].name,
                    bytes_text(as_double(a.offloaded[i].bytes)), duration_text(a.offloaded[i].ns));
  }
  return out;
}

std::string end_text(const PlanAnswer& a) {
  std::string out;
  if (a.placement && a.placement->has_domains && a.plan.chosen()->configuration.parallel.tp > 1) {
    out += fmt::format("\ntensor groups inside one NUMA domain: {} of {}\n", a.placement->in_domain,
                       a.placement->groups);
  }
  if (!a.places.empty() && a.places.size() <= 8) {
    out += "shards:";
    for (const auto i : indices(a.places)) {
      out += fmt::format("{} {} = {}", i == 0 ? "" : ",", i, a.places[i]);
    }
    out += '\n';
  }
  if (a.not_executable.empty()) return out + "\nrun executes it: " + a.command + '\n';
  out += "\nnot executable here: " + a.not_executable + '\n';
  if (a.command.empty()) return out;
  return out +
         fmt::format("the fastest that is, {} alone: {}\n", duration_text(a.command_ns), a.command);
}

}  // namespace

report::View sharding_page(const PlanAnswer& a, const ShardingPage& page) {
  std::string text = head_text(a) + layouts_text(a, page) + stages_text(a) + grouped_text(a) +
                     journal_text(a) + '\n' +
                     shard_rows_text(a.table, a.owners, page.width, page.shows_all) +
                     offload_text(a) + end_text(a);
  for (const std::string& line : a.basis) text += report::wrapped("times: " + line, page.width);
  return {.data = simulate::plan_json(a), .text = std::move(text)};
}

}  // namespace halmark::pages
