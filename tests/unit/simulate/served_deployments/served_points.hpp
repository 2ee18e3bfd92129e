// Deployments that others measured, as loads that the model can price: rows as `scripts/accuracy
// --table` writes them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/pricing/step_pricer.hpp"
#include "simulate/serving/terms_fit.hpp"
#include "tune/serving/served_simulation.hpp"

namespace halmark::test {

struct ServedRow {
  std::string id, device, engine, release, model, dtype;
  Parallel parallel;
  RequestShape request;
  std::int64_t clients = 1;
  double ttft_ms = 0, tpot_ms = 0;
  // Of a server whose prompts have workers of their own; `parallel` is of one that decodes then.
  struct Apart {
    Parallel prefill;
    int prefill_workers = 1, decode_workers = 1;
  };
  std::optional<Apart> apart = {};

  NamedEngine named() const { return {engine, release == "?" ? "" : release, true}; }
  // All but the clients.
  std::string curve() const;
  // Some rows state more devices than a server of theirs has: products of degrees that overlap.
  bool is_of_one_server() const { return parallel.devices() <= 8; }
};

std::vector<ServedRow> read_served_rows(const std::filesystem::path& file);

// As scripts/accuracy asks for it.
tune::ServingQuestion question_of(const ServedRow& row);

// Those of one kind of workers. Their steps by the forecasts of their device and engine. One
// thread.
class ServedPoints {
 public:
  explicit ServedPoints(std::vector<ServedRow> rows);
  ~ServedPoints();

  struct Point {
    const ServedRow* row = nullptr;
    serving::ServedPoint figures;
  };
  // Of rows that can be priced.
  const std::vector<Point>& points() const { return points_; }

 private:
  struct Server;
  struct Steps;
  void add(const ServedRow& row);

  std::vector<ServedRow> rows_;
  std::map<std::string, std::unique_ptr<Server>> servers_;               // device and engine
  std::map<std::string, std::unique_ptr<Steps>> steps_;                  // and model and type
  std::map<std::string, std::unique_ptr<serving::LayoutClock>> clocks_;  // and layout
  std::vector<Point> points_;
};

}  // namespace halmark::test
