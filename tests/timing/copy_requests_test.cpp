// What a cp.async asks of the L2, by an H200's times of 8 KiB tiles (tiles_*-528 of traces/hw/h200-2026-11-27-crossings.csv).
#include "sim/timing/copy_requests.h"

#include <gtest/gtest.h>

namespace drywell::sim {
namespace {

/// Bytes whose time a warp's copy takes more, for each byte: lanes of 16 bytes, rows of `row` bytes `pitch` bytes apart in shared memory.
double more(uint32_t row, uint32_t pitch, uint32_t shift = 0, uint32_t turn = 0) {
  AsyncCopy copy;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t at = lane * 16, r = at / row, within = at % row ^ (r % 8 * 16 & turn);
    copy.lanes.push_back({r * pitch + within + shift, 4096 + at, 16, 16});
  }
  return more_of_requests(copy) / 512;
}

TEST(CopyRequests, RowsInTheirPlaceAreOneALine) {
  EXPECT_EQ(more(128, 128), 0);
  EXPECT_EQ(more(64, 64), 0);
  EXPECT_EQ(more(128, 160), 0);          // 259 cycles a tile; 249 without gaps
  EXPECT_EQ(more(128, 128, 32), 0);      // 254
  EXPECT_EQ(more(128, 128, 0, 112), 0);  // swizzled
}

TEST(CopyRequests, HalvesOfSectorsAreAskedForTwice) {
  EXPECT_NEAR(more(128, 128, 16), 1, 0.01);  // 501
  EXPECT_NEAR(more(128, 144), 0.5, 0.01);    // 380
  EXPECT_NEAR(more(64, 80), 0.78, 0.1);      // 424: 1.7 times
}

TEST(CopyRequests, ScatteredSectorsAreAskedForOneByOne) {
  EXPECT_NEAR(more(32, 64), 0.9, 0.1);  // 470: 1.9 times
  EXPECT_NEAR(more(32, 48), 1.8, 0.2);  // 675: 2.7 times
  EXPECT_NEAR(more(16, 32), 2.9, 0.2);  // 956: 3.8 times
}

TEST(CopyRequests, OtherWidthsGoThroughTheL1) {
  AsyncCopy copy;
  for (uint32_t lane = 0; lane < 32; ++lane) copy.lanes.push_back({lane * 72, 4096 + lane * 8, 8, 8});
  EXPECT_EQ(more_of_requests(copy), 0);
}

}  // namespace
}  // namespace drywell::sim
