// What the emitters of all engines share: flags held against the table, refusals in one form, and
// what a precision asks of an engine that takes Hugging Face checkpoints.
#pragma once

#include <string>
#include <string_view>

#include "core/text/error.hpp"
#include "export/engine/launch.hpp"

namespace halmark::exports {

// "vllm 0.20.1 cannot run this point: ...".
Error cannot(const EngineTable& table, const Deployment& deployment, const std::string& why);

// Of experts inside one tensor-parallel group. Throws where they do not share it out evenly.
void require_even_experts(const EngineTable& table, const Deployment& deployment);

// What no engine does: context parallelism, servers for prompts alone, training. Throws.
void refuse_for_all(const EngineTable& table, const Deployment& deployment);

// Words of an engine for the types of a point; "" = no flag is needed.
struct PrecisionWords {
  std::string dtype, quantization, kv_cache;
  std::string why_quantization, why_kv_cache;
};
// Throws where the engine's own types, or those of the checkpoint, are others.
PrecisionWords precision_words(const Deployment& deployment, const EngineTable& table);

class LaunchWriter {
 public:
  LaunchWriter(const Deployment& deployment, const EngineTable& table);
  void flag(const std::string& name, const std::string& value, const std::string& why);
  void flag(const std::string& name, std::int64_t value, const std::string& why);
  void flag(const std::string& name, double value, const std::string& why);
  void on(const std::string& name, const std::string& why);   // a switch
  void off(const std::string& name, const std::string& why);  // --no-X of the switch --X
  void note(const std::string& text) { launch.notes.push_back(text); }
  // --dtype, --quantization where there is one, --kv-cache-dtype.
  void precision(const PrecisionWords& words);

  Launch launch;

 private:
  void add(const std::string& name, const std::string& value, const std::string& why);

  const Deployment& deployment_;
  const EngineTable& table_;
};

// Why an engine may take no more requests at a time than the point has, and none that are longer
// than memory holds; "" where its own limits do.
std::string why_no_more(const Deployment& deployment);
std::string why_no_longer(const Deployment& deployment);

// Sequences that each of `parts` takes when all are in flight.
std::int64_t share_of(std::int64_t sequences, std::int64_t parts);
// A fraction of memory with three digits, rounded down: a server that asks for more than the point
// does not start.
double rounded_down(double fraction);
std::string gib_text(std::int64_t bytes);

}  // namespace halmark::exports
