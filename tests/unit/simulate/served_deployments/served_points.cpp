#include "served_points.hpp"

#include "model/spec/model_spec.hpp"
#include "simulate/serving/cache_room.hpp"

namespace halmark::test {
namespace {

constexpr double memory_fraction = 0.9;  // both engines' default

}  // namespace

ServedPoints::ServedPoints(const std::filesystem::path& data)
    : rows_(read_served_rows(data / "served-deployments.csv", "h100_sxm")),
      priced_(data / "kernels/parquet/h100_sxm", "h100-sxm") {
  for (std::size_t i = 0; i < rows_.rows.size(); ++i) {
    const ServedRow& row = rows_.rows[i];
    const PricedRows::Priced priced = priced_.of(row);
    if (const auto& refusal = priced.steps->refusal(priced.layout)) {
      ++rows_.refused[refusal->reason];
      continue;
    }
    auto& clock =
        clocks_[row.backend + row.gemm_quantization + row.model + row.dtype + row.parallel.text()];
    if (!clock) clock = std::make_unique<serving::LayoutClock>(*priced.steps, priced.layout);
    auto point = std::make_unique<serving::ServedPoint>();
    point->request = row.request;
    point->clients = row.concurrency;
    point->layers = priced.spec->layers;
    point->clock = clock.get();
    point->ttft_ns = row.ttft_ns;
    point->tpot_ns = row.tpot_ns;
    point->curve = row.curve;
    const std::int64_t context = row.request.input_tokens + row.request.output_tokens;
    const auto memory = static_cast<std::int64_t>(
        static_cast<double>(priced_.device().memory_bytes) * memory_fraction);
    point->plan.keeps_prefixes = false;
    point->plan.blocks =
        serving::cache_room(*priced.steps, priced.layout, memory, 8192, 16, context).blocks;
    if (point->plan.blocks * 16 < context) {
      ++rows_.refused["a request does not fit beside the weights"];
      continue;
    }
    rows_of_[point.get()] = i;
    series_[row.series()].push_back(point.get());
    points_.push_back(std::move(point));
  }
}

}  // namespace halmark::test
