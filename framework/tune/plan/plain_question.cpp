#include "tune/plan/plain_question.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <utility>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/shell_word.hpp"
#include "core/text/text.hpp"
#include "model/spec/model_names.hpp"
#include "model/spec/model_spec.hpp"
#include "plan/device/device_file.hpp"
#include "report/glossary.hpp"

namespace halmark::tune {
namespace {

using Names = std::initializer_list<std::string_view>;

bool has(std::string_view text, int (*kind)(int)) {
  return std::ranges::any_of(text, [&](unsigned char c) { return kind(c) != 0; });
}

// Of "2", "2,000", "4k", "two": as an option takes it.
std::string number_of(const std::string& word) {
  constexpr std::array<std::string_view, 9> words = {"",     "one", "two",   "three", "four",
                                                     "five", "six", "seven", "eight"};
  const auto at = std::ranges::find(words, std::string_view(word));
  if (!word.empty() && at != words.end()) return std::to_string(at - words.begin());
  std::string out;
  for (const char c : word) {
    if (c != ',') out += c;
  }
  const std::size_t digits = out.find_first_not_of("0123456789.");
  const bool is_number = !out.empty() && std::isdigit(static_cast<unsigned char>(out[0])) != 0;
  const bool ends = digits == std::string::npos ||
                    (digits + 1 == out.size() &&
                     std::string_view("kKmM").find(out[digits]) != std::string_view::npos);
  return is_number && ends ? out : "";
}

class Question {
 public:
  Question(std::string_view text, const std::vector<std::filesystem::path>& models,
           const std::vector<std::filesystem::path>& devices) {
    std::istringstream in{std::string(text)};
    for (std::string word; in >> word;) {
      const std::size_t end = word.find_last_not_of("?!.,;:\"'()");
      word.resize(end == std::string::npos ? 0 : end + 1);
      if (!word.empty()) words_.push_back(std::move(word));
    }
    constexpr std::size_t most = 64;  // no question is longer
    if (words_.size() > most) words_.clear();
    used_.resize(words_.size());
    find_devices(devices);
    find_model(models);
    find_dtypes();
    find_durations();
    find_numbers();
  }

  // Of two models, or of two precisions of one, each has its line.
  std::string command() {
    const std::string line = command_of_model();
    if (devices_.size() > 1 || (other_.empty() && other_dtype_.empty())) return line;
    if (other_.empty()) {
      std::swap(dtype_, other_dtype_);
    } else {
      std::swap(model_, other_);
    }
    return line + "; halmark " + command_of_model();
  }

 private:
  std::string command_of_model() const {
    if (devices_.size() > 1) {
      return "compare-devices " + devices_[0] + ' ' + devices_[1] + option("--model", model_) +
             (model_.empty() ? "" : option("--dtype", dtype_));
    }
    if (model_.empty()) return without_model();
    const std::string device =
        option("--device", devices_.empty() ? "" : devices_[0]) + option("--dtype", dtype_);
    const bool is_named = !devices_.empty();
    const std::string ranks = option("--devices", count_ == "1" ? "" : count_);
    if (!measured_.empty() && is_named) {
      return "model " + model_ + device + ranks + option("--batch", batch_) +
             option("--context", context_) + ' ' + measured_;
    }
    const std::string lengths = option("--input", input_) + option("--output", output_);
    const std::string some_device = is_named ? device : " --device DEVICE" + device;
    const bool names_load =
        !rate_.empty() || (!users_.empty() && says({"many", "need", "size", "cluster", "enough"}));
    if (count_.empty() && names_load && !says({"tokens/s", "tok/s", "tps"})) {
      return "plan-size " + model_ + some_device + option("--requests-per-s", rate_) +
             (rate_.empty() ? option("--users", users_) : "") + lengths;
    }
    if (says({"train", "training", "pretrain", "pretraining", "finetune", "fine-tune", "finetuning",
              "fine-tuning", "lora", "sft"})) {
      return count_.empty()
                 ? "plan-size " + model_ + some_device + " --tokens TOKENS --days DAYS"
                 : "model " + model_ + " --phase training" + device + option("--devices", count_);
    }
    if (!is_named && says({"gpu", "gpus", "hardware", "card", "cards", "device"})) {
      if (says({"which", "what", "cheapest", "best", "buy", "rent"})) {
        return "compare-devices DEVICE DEVICE --model " + model_ + option("--dtype", dtype_);
      }
      // How many it takes is said where it does not fit on one.
      if (says({"many"})) return "model " + model_ + some_device;
    }
    std::string engine;
    for (const char* name : {"vllm", "sglang", "trtllm"}) {
      if (says({name})) engine = name;
    }
    if (says({"fastest", "best", "optimal", "config", "configuration", "layout", "deploy", "serve",
              "serving", "tune", "cheapest", "parallel", "parallelism", "pipeline", "disaggregated",
              "disaggregation"}) ||
        !engine.empty() || !ttft_.empty() || !tpot_.empty() ||
        (says({"batch"}) && batch_.empty())) {
      return "tune " + model_ + device + option("--devices", count_) + lengths +
             option("--ttft", ttft_) + option("--tpot", tpot_) + option("--as", engine);
    }
    if (says({"context"}) && says({"long", "longest", "max", "maximum", "how"})) {
      return "model " + model_ + some_device + ranks + option("--batch", users_) + " --max-context";
    }
    if (is_named && !input_.empty() && (!output_.empty() || !users_.empty() || says({"ttft"}))) {
      return "model " + model_ + device + ranks +
             option("--concurrency", users_.empty() ? "1" : users_) + option("--input", input_) +
             option("--output", output_.empty() ? "200" : output_);
    }
    return "model " + model_ + device + ranks +
           option("--batch", batch_.empty() ? users_ : batch_) + option("--context", context_);
  }

  // What belongs to no model: this machine, and the tools around a measurement.
  std::string without_model() const {
    constexpr std::pair<std::string_view, std::string_view> lines[] = {
        {"nightly", "explain nightly"},
        {"night", "explain nightly"},
        {"ci", "explain nightly"},
        {"quickstart", "tune quickstart"},
        {"import", "import TOOL FILE"},
        {"convert", "import TOOL FILE"},
        {"kernel", "judge KERNEL.c --op gemm"},
        {"gemm", "bench --op gemm"},
        {"attention", "bench --op attention"},
        {"benchmark", "bench --op gemm"},
        {"regression", "compare OLD NEW"},
        {"slower", "compare OLD NEW"},
        {"compare", "compare OLD NEW"},
        {"peak", "peaks"},
        {"flops", "peaks"},
        {"bandwidth", "peaks"},
        {"profile", "trace FILE"},
        {"version", "--version"},
        {"gpu", "devices"},
        {"gpus", "devices"},
        {"cpu", "devices"},
        {"hardware", "devices --known"},
        {"list", "models"},
        {"page", "serve"},
    };
    if (!devices_.empty()) {
      return says({"compare", "compared", "vs", "versus", "than"})
                 ? "compare-devices " + devices_[0] + " DEVICE"
                 : "devices " + devices_[0];
    }
    for (const auto& [word, line] : lines) {
      if (says({word})) return std::string(line);
    }
    const bool is_word = words_.size() == 1 || says({"mean", "means", "what"});
    for (const std::string& word : words_) {
      if (is_word && word.size() > 2 && word != "what" && report::find_term(word) != nullptr) {
        return "explain " + word;
      }
    }
    return {};
  }

  static std::string option(std::string_view name, const std::string& value) {
    return value.empty() ? "" : ' ' + std::string(name) + ' ' + shell_word(value);
  }

  static std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  }

  bool is_one_of(std::size_t at, Names names) const {
    return at < words_.size() && std::ranges::count(names, lower(words_[at])) > 0;
  }

  bool says(Names names) const {
    for (const auto i : indices(words_)) {
      if (is_one_of(i, names)) return true;
    }
    return false;
  }

  // Calls `take` with runs of words that no run took before, the longest first.
  template <class Take>
  void each_run(std::size_t longest, Take take) {
    for (std::size_t n = longest; n > 0; --n) {
      for (std::size_t i = 0; i + n <= words_.size(); ++i) {
        std::string run;
        bool is_free = true;
        for (std::size_t k = i; k < i + n; ++k) {
          append_item(run, "-", words_[k]);
          is_free = is_free && !used_[k];
        }
        if (!is_free || !has(run, std::isdigit) || !take(run, i)) continue;
        std::fill_n(used_.begin() + as_int64(i), n, true);
      }
    }
  }

  void find_devices(const std::vector<std::filesystem::path>& folders) {
    const std::vector<Device> known = known_devices(folders);
    std::vector<std::pair<std::size_t, std::string>> found;
    each_run(4, [&](std::string run, std::size_t at) {
      std::string count;
      // "4xh100", and "h100s" of several.
      const std::size_t times = run.find_first_not_of("0123456789");
      if (times != std::string::npos && times > 0 && run[times] == 'x' && times + 1 < run.size()) {
        count = run.substr(0, times);
        run = run.substr(times + 1);
      }
      const std::string one = run.ends_with('s') ? run.substr(0, run.size() - 1) : run;
      const auto called = [&](const Device& device) {
        return device.is_called(one) ||
               (!has(one, std::isalpha) && one.size() > 2 && device.id.ends_with('-' + one));
      };
      auto of = std::ranges::find_if(known, [&](const Device& d) { return d.is_called(run); });
      if (of == known.end()) of = std::ranges::find_if(known, called);
      if (of == known.end()) return false;
      if (count.empty() && at > 0 && !used_[at - 1]) {
        count = number_of(lower(words_[at - 1]));
        if (!count.empty()) used_[at - 1] = true;
      }
      if (!count.empty()) count_ = count;
      found.emplace_back(at, of->id);
      return true;
    });
    std::ranges::sort(found);
    for (auto& [at, id] : found) {
      if (std::ranges::count(devices_, id) == 0) devices_.push_back(std::move(id));
    }
  }

  void find_model(const std::vector<std::filesystem::path>& folders) {
    each_run(5, [&](const std::string& run, std::size_t at) {
      if (!model_.empty() || !has(run, std::isalpha) || run.starts_with('.')) return false;
      // An owner is of its own word: what stands before it is none of it.
      if (run.find('/') != std::string::npos && words_[at].find('/') == std::string::npos)
        return false;
      try {
        load_model(run, folders);
      } catch (const Error&) {
        return false;
      }
      model_ = shell_word(run);
      return true;
    });
    std::vector<std::string> known;
    for (const ModelListing& listing : list_models(folders)) {
      known.push_back(listing.id);
      append_all(known, listing.aliases);
    }
    // "llama 70b": the newest of that family and size.
    each_run(3, [&](const std::string& run, std::size_t) {
      if (!has(run, std::isalpha) || run.find('-') == std::string::npos) return false;
      const std::vector<std::string> named = with_words_of(run, known);
      if (!named.empty()) (model_.empty() ? model_ : other_) = named.front();
      if (!named.empty()) dtype_ = pasted_name(run).precision;
      return !named.empty();
    });
  }

  void find_dtypes() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (used_[i]) continue;
      // "4-bit" and "4 bits" are "4bit".
      std::string word = normalised(words_[i], Points::kept);
      if (is_one_of(i + 1, {"bit", "bits"})) word += "bit";
      const std::string recipe = pasted_name(word).precision;
      if (recipe.empty()) continue;
      used_[i] = true;
      (dtype_.empty() ? dtype_ : other_dtype_) = recipe;
    }
    if (other_dtype_ == dtype_) other_dtype_.clear();
  }

  // "30 ms", "30ms", "1s": as an option takes it.
  std::string duration_at(std::size_t at) const {
    const std::string word = lower(words_[at]);
    const std::size_t end = word.find_first_not_of("0123456789.");
    if (end == 0 || used_[at]) return {};
    if (end != std::string::npos) return is_one_of_units(word.substr(end)) ? word : "";
    const std::string unit = at + 1 < words_.size() ? lower(words_[at + 1]) : "";
    return is_one_of_units(unit) ? word + unit : "";
  }
  static bool is_one_of_units(const std::string& text) { return text == "ms" || text == "s"; }

  bool is_near(std::size_t at, Names names) const {
    for (std::size_t i = at - std::min<std::size_t>(at, 3); i <= at + 3; ++i) {
      if (is_one_of(i, names)) return true;
    }
    return false;
  }

  // A limit, or a measured time that the question is about.
  void find_durations() {
    for (const auto i : indices(words_)) {
      const std::string duration = duration_at(i);
      if (duration.empty()) continue;
      const bool is_first = is_near(i, {"ttft"});
      if (is_first || is_near(i, {"tpot", "itl"})) {
        (is_first ? ttft_ : tpot_) = duration;
      } else if (duration.ends_with("ms") && is_measured()) {
        measured_ = "--measured-ms " + duration.substr(0, duration.size() - 2);
      }
      used_[i] = true;
    }
  }
  bool is_measured() const {
    return says({"measure", "measured", "get", "getting", "see", "seeing", "good", "normal",
                 "plausible", "slow", "per", "only", "bad", "expected"});
  }

  void find_numbers() {
    for (const auto i : indices(words_)) {
      const std::string number = used_[i] ? "" : number_of(lower(words_[i]));
      if (number.empty()) continue;
      const std::size_t next = i + (is_one_of(i + 1, {"tokens", "concurrent", "token"}) ? 2 : 1);
      if (is_one_of(next, {"in", "input", "prompt"})) {
        input_ = number;
      } else if (is_one_of(next, {"out", "output", "answer"})) {
        output_ = number;
      } else if (is_one_of(next, {"context"}) || (i > 0 && is_one_of(i - 1, {"context"})) ||
                 (number.ends_with('k') && i > 0 && is_one_of(i - 1, {"at", "with"}))) {
        context_ = number;
      } else if (is_one_of(i + 1, {"tokens/s", "tok/s", "tps"}) && is_measured()) {
        measured_ = "--tokens-per-s " + number;
      } else if (is_one_of(next, {"requests/s", "rps", "qps", "req/s"})) {
        rate_ = number;
      } else if (is_one_of(next, {"users", "clients", "requests", "concurrency"})) {
        users_ = number;
      } else if (i > 0 && is_one_of(i - 1, {"batch"})) {
        batch_ = number;
      }
    }
  }

  std::vector<std::string> words_;
  std::vector<bool> used_;
  std::vector<std::string> devices_;
  std::string model_, other_, count_, input_, output_, context_, rate_, users_, batch_;
  std::string ttft_, tpot_, measured_, dtype_, other_dtype_;
};

}  // namespace

std::string command_for(std::string_view question, const std::vector<std::filesystem::path>& models,
                        const std::vector<std::filesystem::path>& devices) {
  const std::string line = Question(question, models, devices).command();
  return line.empty() ? line : "halmark " + line;
}

}  // namespace halmark::tune
