// Step times of served rows from the kernel tables of their engine.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "model/pricing/step_pricer.hpp"
#include "served_rows.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::test {

// TensorRT-LLM's FP8 checkpoints have static scales.
bool fuses_quantize(const ServedRow& row);

// One thread. Tables and layouts are read once.
class PricedRows {
 public:
  // `tables`: the folder of one system; `device`: its id.
  PricedRows(std::filesystem::path tables, std::string device);
  ~PricedRows();

  struct Priced {
    StepPricer* steps = nullptr;
    StepPricer::Layout layout{};
    const ModelSpec* spec = nullptr;
    Precision precision;
  };
  Priced of(const ServedRow& row);
  const Device& device() const { return device_; }

 private:
  struct Engine;
  Engine& engine_of(const ServedRow& row);
  std::filesystem::path tables_;
  Device device_;
  std::map<std::string, tune::PricedLatencies> latencies_;
  std::map<std::string, std::unique_ptr<Engine>> engines_;
};

}  // namespace halmark::test
