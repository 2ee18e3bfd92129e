#include "pages/serve/static_page.hpp"

#include <algorithm>
#include <map>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "serve/page_files.hpp"

namespace halmark::pages {
namespace {

using Words = std::map<std::string, std::string>;

// As the page asks: names in order, encoded as encodeURIComponent does.
std::string query_text(const Words& words) {
  std::string out;
  for (const auto& [name, value] : words) {
    append_item(out, "&", name + '=');
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) != 0 || std::string_view("-_.!~*'()").find(c) != std::string::npos) {
        out += c;
      } else {
        out += '%';
        out += "0123456789ABCDEF"[byte >> 4];
        out += "0123456789ABCDEF"[byte & 15];
      }
    }
  }
  return out;
}

std::string file_text(std::string_view name) {
  const auto files = serve::page_files();
  const auto* file = find_or_null(files, name, &serve::PageFile::name);
  return !file ? std::string() : std::string(file->text);
}

// All modules as one: what they import from each other is in the same scope.
std::string joined_modules() {
  std::string out;
  for (const serve::PageFile& file : serve::page_files()) {
    if (!file.name.ends_with(".js")) continue;
    std::string_view rest = file.text;
    while (!rest.empty()) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.starts_with("import ")) continue;
      if (line.starts_with("export ")) line.remove_prefix(7);
      out += line;
      out += '\n';
    }
  }
  return out;
}

// A policy names what may run by its digest, in base 64.
std::string digest_source(const std::string& text) {
  const std::string hex = sha256_of(text);
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : hex) {
    bits = bits << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    for (count += 4; count >= 6;) {
      count -= 6;
      out += letters[bits >> count & 63];
    }
  }
  if (count > 0) out += letters[bits << (6 - count) & 63];
  while (out.size() % 4 != 0) out += '=';
  return "'sha256-" + out + "'";
}

// Nothing in it ends the element that holds it.
std::string embedded(const Json& document) {
  std::string out;
  for (const char c : dump_json(document))
    out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

void replace_first(std::string& text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) throw Error(ExitCode::error, "the page has no '" + what + "'");
  text.replace(at, what.size(), by);
}

std::vector<std::string> powers(std::int64_t from, std::int64_t to, std::int64_t factor) {
  std::vector<std::string> out;
  for (std::int64_t value = from; value <= to; value *= factor)
    out.push_back(std::to_string(value));
  return out;
}

Json numbers(const std::vector<std::string>& texts) {
  return json_list(texts, [](const std::string& text) { return std::stoll(text); });
}

class Grid {
 public:
  Grid(SimulatorPage& page, const PageState& base) : page_(page), base_(base) {
    fixed_ = {{"device", base.device}, {"model", base.model}, {"dtype", base.dtype}};
    if (!base.fabric.empty()) fixed_["fabric"] = base.fabric;
    shards_ = powers(1, base.shards, 2);
    if (shards_.back() != std::to_string(base.shards)) {
      shards_.push_back(std::to_string(base.shards));
    }
    batches_ = powers(1, 256, 4);
    contexts_ = {"1024", "4096", "16384"};
    take_load(base.load.value_or(PageLoad{}));
    if (base.load) {
      phases_ = {"serving"};
    } else if (base.phase == Phase::training) {
      phases_ = {"training"};
      take_training();
    }
  }

  Json made() {
    answers_["documents"] = documents();
    answers_["runs"] = {{"runs", Json::array()}, {"reason", "this file carries no journal"}};
    if (!base_.fabric.empty()) {
      Words words = fixed_;
      words.erase("dtype");
      put("fabric", words);
    }
    for (const std::string& phase : phases_) {
      for (const std::string& shards : shards_) {
        if (phase == "serving") {
          add_served(shards);
          continue;
        }
        for (const std::string& context : contexts_) add(phase, shards, context);
      }
    }
    return {{"state", state()},
            {"controls", controls()},
            {"answers", std::move(answers_)},
            {"note", "a file with " + std::to_string(states_) + " states; halmark serve has all"}};
  }

 private:
  // As the page asks: every word of training, the defaults too.
  void take_training() {
    const TrainingWords& t = base_.training;
    if (t.micro_batch) fixed_["micro"] = std::to_string(*t.micro_batch);
    fixed_["recompute"] = t.recompute.value_or("none");
    fixed_["optimizer"] = t.optimizer.value_or("adam");
    fixed_["zero"] = std::to_string(t.zero.value_or(0));
    fixed_["schedule"] = base_.schedule;
  }

  void take_load(const PageLoad& load) {
    load_ = {{"clients", std::to_string(load.clients)},
             {"input", std::to_string(load.input)},
             {"output", std::to_string(load.output)},
             {"requests", std::to_string(load.requests > 0 ? load.requests : 200)}};
    if (!load.engine.empty()) load_["engine"] = load.engine;
    if (std::ranges::count(clients_, load_["clients"]) == 0) clients_.push_back(load_["clients"]);
  }

  Json state() const {
    Json out = {{"phase", phases_.front()},
                {"shards", shards_.back()},
                {"batch", "16"},
                {"context", "4096"},
                {"strategy", "auto"}};
    for (const auto& [name, value] : load_) out[name] = value;
    for (const auto& [name, value] : fixed_) out[name] = value;
    return out;
  }

  Json controls() const {
    const auto one = [](const std::string& word) { return Json::array({word}); };
    return {{"device", one(base_.device)},
            {"model", one(base_.model)},
            {"fabric", one(base_.fabric)},
            {"dtype", one(base_.dtype)},
            {"phase", phases_},
            {"shards", numbers(shards_)},
            {"batch", numbers(batches_)},
            {"context", numbers(contexts_)},
            {"new", numbers(contexts_)},
            {"clients", numbers(clients_)},
            {"input", numbers({load_.at("input")})},
            {"output", numbers({load_.at("output")})},
            {"requests", numbers({load_.at("requests")})}};
  }

  void add_served(const std::string& shards) {
    Words words = fixed_;
    words.insert(load_.begin(), load_.end());
    words["phase"] = "serving";
    words["shards"] = shards;
    words["strategy"] = "auto";
    for (const std::string& clients : clients_) {
      words["clients"] = clients;
      put("serving", words);
      ++states_;
    }
  }

  void add(const std::string& phase, const std::string& shards, const std::string& context) {
    Words words = fixed_;
    words["phase"] = phase;
    words["shards"] = shards;
    words["context"] = context;
    put("front", words);
    words["strategy"] = "auto";
    for (const std::string& batch : batches_) {
      words["batch"] = batch;
      put("step", words);
      // Events are the largest part of a state: those of one batch are carried.
      const bool is_middle = batch == "16" && context == "4096";
      put("simulation", words, is_middle);
      if (is_middle) put("spread", words);
      ++states_;
    }
  }

  void put(const std::string& path, const Words& words, bool has_events = true) {
    try {
      Json answer = slim(page_.answer({path, words}));
      if (!has_events && answer.contains("timeline")) answer["timeline"] = nullptr;
      answers_[path + '?' + query_text(words)] = std::move(answer);
    } catch (const Error& error) {
      answers_[path + '?' + query_text(words)] = {{"error", error.line()}};
    }
  }

  // Other layouts fill a choice that a file does not have.
  static Json slim(Json answer) {
    if (!answer.contains("layouts")) return answer;
    Json kept = Json::array();
    for (const Json& layout : answer["layouts"]) {
      if (layout["strategy"] == answer["state"]["strategy"]) kept.push_back(layout);
    }
    answer["layouts"] = std::move(kept);
    return answer;
  }

  // Of the choices those that the file has.
  Json documents() {
    Json out = page_.answer({"documents", {}});
    const auto keep = [&out](const char* list, const std::string& id) {
      Json kept = Json::array();
      for (const Json& one : out[list]) {
        if (one.at("id") == id) kept.push_back(one);
      }
      out[list] = std::move(kept);
    };
    keep("devices", base_.device);
    keep("models", base_.model);
    keep("fabrics", base_.fabric);
    out["recipes"] = Json::array({base_.dtype});
    return out;
  }

  SimulatorPage& page_;
  PageState base_;
  Words fixed_;
  std::vector<std::string> phases_ = {"decode", "prefill", "serving"};
  std::vector<std::string> shards_, batches_, contexts_, clients_ = {"1", "4", "16", "64", "256"};
  Words load_;
  Json answers_ = Json::object();
  std::size_t states_ = 0;
};

}  // namespace

std::string static_page(SimulatorPage& page, const PageState& base) {
  Words words = {{"device", base.device},
                 {"model", base.model},
                 {"dtype", base.dtype},
                 {"shards", std::to_string(base.shards)}};
  if (!base.fabric.empty()) words["fabric"] = base.fabric;
  const Json named = page.answer({"step", words})["state"];
  PageState listed = base;
  listed.device = named["device"];
  listed.model = named["model"];
  const std::string grid = embedded(Grid(page, listed).made());
  const std::string script = '\n' + joined_modules();
  const std::string style = '\n' + file_text("page.css");
  const std::string policy =
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src " +
      digest_source(script) + "; style-src " + digest_source(style) +
      "; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n";
  std::string out = file_text("index.html");
  replace_first(out, "<link rel=\"stylesheet\" href=\"page.css\">\n",
                policy + "<style>" + style + "</style>\n");
  replace_first(out, "<script type=\"module\" src=\"app.js\"></script>\n", "");
  replace_first(out, "</body>",
                "<script type=\"application/json\" id=\"grid\">" + grid +
                    "</script>\n<script type=\"module\">" + script + "</script>\n</body>");
  if (out.size() > static_page_bytes_max) {
    throw refused("the file would have " + std::to_string(out.size() >> 20) + " MiB", {},
                  "take fewer shards");
  }
  return out;
}

}  // namespace halmark::pages
