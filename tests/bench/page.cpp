// What the page waits for: a move of a slider, the front and the timeline of 64 devices, and the
// first answer of a pair of names; then what a browser draws.
#include <algorithm>
#include <chrono>

#include "child.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "pages/serve/simulator_page.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

using Words = std::map<std::string, std::string>;

double ms_of(pages::SimulatorPage& page, const char* path, const Words& words, std::size_t* bytes) {
  const auto began = std::chrono::steady_clock::now();
  const std::string text = dump_json(page.answer({path, words}));
  if (bytes != nullptr) *bytes = text.size();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
      .count();
}

// Served by the program itself.
void measure_browser(Figures& figures) {
  const ScratchFolder folder(test::in_build());
  const std::string seen = folder.path() / "seen.json";
  const ChildRun run =
      run_program({"/bin/sh", "-c",
                   "command -v chromium > /dev/null && command -v python3 > /dev/null || exit 127; "
                   "\"$0\" serve > \"$1/address\" & trap \"kill $!\" EXIT; "
                   "until grep -q http \"$1/address\"; do sleep 0.1; kill -0 $! || exit 1; done; "
                   "python3 -B \"$2\" chromium \"$(cat \"$1/address\")$3\" \"$1\"",
                   test::in_build("/bin/halmark"), folder.path(),
                   test::in_source("/tests/integration/serve/page_speed.py"),
                   "#model=qwen3-235b-a22b&device=b200&fabric=nvl72&shards=64&batch=64"},
                  seen);
  if (run.exit_code == 127) {
    return figures.absent("page_repaint", "absent", "ms", "",
                          "python3 or chromium is not installed");
  }
  if (run.exit_code != 0) throw Error(ExitCode::error, "page_speed.py failed");
  const Json said = read_json_file(seen);
  figures.at_most("page_repaint", said["paint_ms"], "ms", 100);
  figures.at_least("page_timeline_frames", said["frames_per_s"], "1/s", 30);
}

void measure(Figures& figures) {
  const std::filesystem::path configs = test::in_source("/configs");
  pages::SimulatorPage page({.sources = {.models = {configs / "models"},
                                         .devices = {configs / "devices"},
                                         .fabrics = {configs / "fabrics"},
                                         .engines = {configs / "engines"}}});
  Words words = {{"model", "qwen3-235b-a22b"},
                 {"device", "b200"},
                 {"fabric", "nvl72"},
                 {"shards", "64"},
                 {"batch", "64"},
                 {"context", "8192"}};
  figures.report("page_first_answer", ms_of(page, "step", words, nullptr), "ms");
  const auto move = [&](const std::string& name) {
    std::vector<double> moves;
    for (int batch = 64; batch <= 2048; batch += 64) {
      words["batch"] = std::to_string(batch);
      moves.push_back(ms_of(page, "step", words, nullptr));
    }
    std::ranges::sort(moves);
    figures.at_most(name, moves[moves.size() / 2], "ms", 50);
    figures.at_most(name + "_worst", moves.back(), "ms", 50);
  };
  move("page_slider_move");
  figures.report("page_front", ms_of(page, "front", words, nullptr), "ms");
  words["strategy"] = "dp1 tp8 pp8 ep8";
  move("page_slider_move_pipeline");
  std::size_t bytes = 0;
  figures.report("page_simulation", ms_of(page, "simulation", words, &bytes), "ms");
  figures.report("page_spread", ms_of(page, "spread", words, nullptr), "ms");
  figures.report("page_simulation_bytes", static_cast<double>(bytes) / (1 << 20), "MiB");
  words["phase"] = "training";
  words["model"] = "qwen3-32b";
  words["strategy"] = "dp8 tp8";
  words["context"] = "2048";
  move("page_slider_move_training");
  words["phase"] = "serving";
  words["strategy"] = "tp8";
  words["shards"] = "8";
  figures.report("page_serving", ms_of(page, "serving", words, nullptr), "ms");
  measure_browser(figures);
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
