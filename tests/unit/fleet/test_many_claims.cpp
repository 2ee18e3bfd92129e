// Eight agents at once on one server: no unit is claimed twice.
#include <gmock/gmock.h>

#include <map>
#include <mutex>
#include <thread>

#include "fleet_database.hpp"

namespace halmark::fleet {
namespace {

class ManyClaims : public FleetDatabase {};

TEST_F(ManyClaims, eight_agents_share_two_thousand_units_without_a_double_claim) {
  constexpr int all = 2000, agents = 8;
  table_->add(units(all), {}, need());
  std::mutex mutex;
  std::map<std::int64_t, int> claims;
  std::vector<std::thread> threads;
  for (int i = 0; i < agents; ++i) {
    const Agent agent = enter("n" + std::to_string(i));
    threads.emplace_back([&, agent] {
      const auto session = agent_session(url_);
      WorkTable table(*session);
      for (auto claim = table.claim(agent); !claim.units.empty(); claim = table.claim(agent)) {
        const std::lock_guard lock(mutex);
        for (const WorkUnit& unit : claim.units) ++claims[unit.id];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(claims.size(), static_cast<std::size_t>(all));
  for (const auto& [id, count] : claims) EXPECT_EQ(count, 1) << "unit " << id;
}

}  // namespace
}  // namespace halmark::fleet
