// A listener's look at the memory and the store that it is told of are one step in several threads of the host: no other store of the same place
// comes between (sim/events/store_order.h).
#include "sim/events/store_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "sim/events/hub.h"
#include "sim/exec/exec.h"
#include "tests/support/async_run.h"

namespace drywell::test {
namespace {

/// Looks at the memory twice before each store, with time for other threads between.
class Onlooker : public sim::Listener {
 public:
  bool concurrent() const override { return true; }
  void memory(const sim::Warp& w, const sim::DecodedOp& op, LaneMask mask, sim::Space, uint32_t, bool store) override {
    if (!store) return;
    const LaneMask before = sim::lanes_that_store_what_is_there(w, op, mask);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (sim::lanes_that_store_what_is_there(w, op, mask) != before) ++changed;
    ++stores;
  }
  std::atomic<int> stores = 0, changed = 0;
};

TEST(StoreOrder, NoStoreComesBetweenALookAndItsStore) {
  AsyncCase c;
  c.threads = 32;
  c.ctas = 8;
  c.buffers = {Bytes(16384)};
  c.body = R"(
  mov.u32 %r3, 0;
  AGAIN: @first st.global.b32 [buf0], cta;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 20;
  @%p1 bra AGAIN;
)";
  Onlooker onlooker;
  run_async(c, {.threads = 4, .listeners = {&onlooker}});
  EXPECT_EQ(onlooker.stores, 160);
  EXPECT_EQ(onlooker.changed, 0);
}

TEST(StoreOrder, BytesOfAPageShareAPlace) {
  EXPECT_EQ(sim::StoreOrder::place_of(0x7000), sim::StoreOrder::place_of(0x7FFF));
  EXPECT_NE(sim::StoreOrder::place_of(0x7000), sim::StoreOrder::place_of(0x8000));
}

}  // namespace
}  // namespace drywell::test
