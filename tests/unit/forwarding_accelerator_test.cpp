#include "launch/forwarding_accelerator.h"

#include <gtest/gtest.h>

namespace drywell::kernels {
namespace {

TEST(ForwardingAccelerator, HandsEverythingOn) {
  SimulatedDevice device;
  ForwardingAccelerator front(device);
  EXPECT_EQ(&front.arch(), &device.arch());
  EXPECT_EQ(front.sm_count(), device.sm_count());
  const GmemAddr at = front.allocate(64, "memory");
  const uint32_t written = 0x12345678;
  uint32_t read = 0;
  front.write(at, &written, sizeof written);
  device.read(&read, at, sizeof read);
  EXPECT_EQ(read, written);
  front.release(at);
  EXPECT_THROW(device.read(&read, at, sizeof read), InputError);
}

}  // namespace
}  // namespace drywell::kernels
