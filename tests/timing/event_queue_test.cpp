#include "sim/timing/event_queue.h"

#include <gtest/gtest.h>

namespace drywell::sim {
namespace {

TEST(EventQueue, GivesTheEarliestAndAmongEqualsTheFirst) {
  EventQueue q;
  q.push(20, Event::Kind::wake, 1);
  q.push(10, Event::Kind::read, 2);
  q.push(10, Event::Kind::write, 3);
  q.push(Time{1} << 40, Event::Kind::finish, 4);
  EXPECT_EQ(q.next_time(), 10u);
  for (const uint32_t who : {2u, 3u, 1u, 4u}) EXPECT_EQ(q.pop().a, who);
  EXPECT_EQ(q.next_time(), kNever);
}

TEST(EventQueue, KnowsWhenNothingButTimeOutsIsToCome) {
  EventQueue q;
  EXPECT_TRUE(q.only_time_outs());
  q.push(10, Event::Kind::time_out, 1);
  EXPECT_TRUE(q.only_time_outs());
  q.push(5, Event::Kind::wake, 1);
  EXPECT_FALSE(q.only_time_outs());
  q.pop();
  q.pop();
  EXPECT_TRUE(q.only_time_outs());
}

}  // namespace
}  // namespace drywell::sim
