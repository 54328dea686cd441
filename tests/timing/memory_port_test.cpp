#include "sim/timing/memory_port.h"

#include <gtest/gtest.h>

namespace drywell::sim {
namespace {

uint32_t ask(MemoryPort& port, uint32_t warp, double time) {
  OutstandingRequest who;
  who.first.warp = warp;
  const uint32_t first = port.first_new_run(), token = port.await(who);
  port.runs().push_back({0x1000, 32});
  port.send(MemoryKind::load, time, first, token);
  return token;
}

TEST(MemoryPort, ARequestHasTheRunsAddedForIt) {
  MemoryPort port;
  ask(port, 3, 10);
  ask(port, 4, 11);
  ASSERT_EQ(port.requests().size(), 2u);
  EXPECT_EQ(port.requests()[1].first, 1u);
  EXPECT_EQ(port.requests()[1].count, 1u);
  EXPECT_FALSE(port.quiet());
  port.clear();
  EXPECT_TRUE(port.quiet());
}

TEST(MemoryPort, AnAnswerFindsWhoWaits) {
  MemoryPort port;
  const uint32_t three = ask(port, 3, 10), copy = ask(port, WaitingLoad::kNoWarp, 11);
  std::vector<MemoryRequest> asked = port.requests();
  port.clear();
  asked[0].done = 400;
  asked[1].done = 300;
  for (const MemoryRequest& r : asked) port.answer(r);
  EXPECT_EQ(port.first_answer(), 300u);
  EXPECT_FALSE(port.quiet());
  std::vector<std::pair<Time, uint32_t>> came;
  port.take_answers([&](Time done, uint32_t token) { came.emplace_back(done, token); });
  EXPECT_EQ(came, (std::vector<std::pair<Time, uint32_t>>{{400, three}, {300, copy}}));
  EXPECT_TRUE(port.is_load(three));
  EXPECT_FALSE(port.is_load(copy));
  EXPECT_EQ(port.take(three).first.warp, 3u);
  EXPECT_EQ(ask(port, 5, 20), three) << "the token is free again";
}

TEST(MemoryPort, NobodyWaitsForAStore) {
  MemoryPort port;
  port.send(MemoryKind::store, 10, port.first_new_run());
  port.answer(port.requests()[0]);
  EXPECT_EQ(port.first_answer(), kNever);
}

}  // namespace
}  // namespace drywell::sim
