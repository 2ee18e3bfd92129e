// What needs no database: classes of hardware, texts of launchers.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/url.hpp"
#include "fleet/fleet.hpp"
#include "fleet/work_table.hpp"

namespace halmark::fleet {

std::vector<std::string> classes_of(const std::string& fingerprint) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (begin <= fingerprint.size()) {
    const std::size_t end = std::min(fingerprint.find('+', begin), fingerprint.size());
    std::string one = fingerprint.substr(begin, end - begin);
    one = one.substr(0, one.find('@'));
    if (!contains(out, one)) out.push_back(std::move(one));
    begin = end + 1;
  }
  return out;
}

// HALMARK_NODE: where the host name is that of a container.
std::string node_name(const std::string& named) {
  if (!named.empty()) return named;
  if (const char* given = std::getenv("HALMARK_NODE"); given != nullptr && *given != '\0') {
    return given;
  }
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "node";
}

void require_shared(const std::string& url) {
  if (is_postgresql_url(url)) return;
  throw refused("a fleet works over a database in a server, and this names none",
                without_password(url), "give postgresql://USER@HOST/DATABASE");
}

namespace {

Launched started_view(std::span<const Started> started) {
  Launched out{.view = {.data = {{"started", Json::array()}}}};
  for (const Started& s : started) {
    out.view.data["started"].push_back({{"place", s.place}, {"detail", s.detail}, {"ok", s.is_ok}});
    out.view.text += fmt::format("{}: {}{}\n", s.place, s.is_ok ? "" : "failed: ", s.detail);
    out.are_all_started = out.are_all_started && s.is_ok;
  }
  return out;
}

Launched text_view(const std::string& text) {
  return {.view = {.data = {{"text", text}}, .text = text}};
}

}  // namespace

Launched launch(LaunchOrder order, const std::string& program_here) {
  check_url(order.url);
  if ((order.slurm > 0) + (order.kubernetes > 0) + !order.hosts.empty() != 1) {
    throw refused("agents are launched by one of --slurm, --ssh and --kubernetes", "launch");
  }
  order.nodes = order.slurm + order.kubernetes;
  if (order.program.empty()) order.program = program_here;
  if (order.kubernetes > 0) return text_view(kubernetes_manifest(order));
  if (order.prints) {
    return text_view(order.slurm > 0 ? slurm_script(order) : ssh_line(order) + '\n');
  }
  if (order.slurm == 0) return started_view(start_by_ssh(order));
  const Started job = submit_to_slurm(order);
  return started_view(std::span(&job, 1));
}

}  // namespace halmark::fleet
