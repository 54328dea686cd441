// Host memory of simulated state (sim/state/state_memory.h).
#include "sim/state/state_memory.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "sim/state/state_vector.h"

namespace drywell::sim {
namespace {

TEST(StateMemory, BlocksDoNotOverlapAndAreUsedAgain) {
  StateMemory memory;
  auto* a = static_cast<uint8_t*>(memory.take(100));
  auto* b = static_cast<uint8_t*>(memory.take(100));
  EXPECT_TRUE(b >= a + 100 || a >= b + 100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % 64, 0u);
  memory.give_back(a, 100);
  EXPECT_EQ(memory.take(100), a);
  auto* large = static_cast<uint8_t*>(memory.take(5 << 20));  // larger than a page of any size it is cut from
  large[0] = large[(5 << 20) - 1] = 1;
}

TEST(StateMemory, VectorsComeFromItAndCopiesDoNot) {
  StateMemory memory;
  StateVector<uint32_t> v(10, 7, &memory);
  const StateVector<uint32_t> copy = v;
  EXPECT_EQ(v.get_allocator().memory(), &memory);
  EXPECT_EQ(copy.get_allocator().memory(), nullptr);
  EXPECT_EQ(copy, v);
  StateVector<uint32_t> moved;
  const uint32_t* at = v.data();
  moved = std::move(v);
  EXPECT_EQ(moved.data(), at);
  EXPECT_EQ(moved.get_allocator().memory(), &memory);
}

}  // namespace
}  // namespace drywell::sim
