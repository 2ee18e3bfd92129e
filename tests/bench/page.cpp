// What the page waits for: a move of a slider, the front and the timeline of 64 devices, and the
// first answer of a pair of names.
#include <algorithm>
#include <chrono>

#include "core/json/json.hpp"
#include "figures.hpp"
#include "pages/serve/simulator_page.hpp"

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

void measure(Figures& figures) {
  const std::filesystem::path configs = HALMARK_SOURCE_DIR "/configs";
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
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
