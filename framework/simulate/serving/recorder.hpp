// Writes what a server does as a timeline.
#pragma once

#include <string>
#include <unordered_map>

#include "simulate/timeline/timeline.hpp"

namespace halmark::serving {

class Recorder {
 public:
  static constexpr std::uint32_t none = simulate::TimelineEvent::none;
  explicit Recorder(bool is_kept) : is_kept_(is_kept) {}

  std::uint32_t actor(const std::string& name);
  std::uint32_t resource(const std::string& name, double link_bytes_per_s = 0);
  // The place of the event; none where nothing is kept.
  std::uint32_t add(simulate::TimelineEvent event, const std::string& label);
  // Marks the chain of causes behind the event that ends last.
  simulate::Timeline take(events::Picoseconds makespan_ps);

 private:
  std::uint32_t label(const std::string& text);
  bool is_kept_;
  simulate::Timeline timeline_;
  std::unordered_map<std::string, std::uint32_t> labels_;
};

}  // namespace halmark::serving
