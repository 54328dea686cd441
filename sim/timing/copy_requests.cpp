#include "sim/timing/copy_requests.h"

#include <algorithm>
#include <array>
#include <bit>

namespace drywell::sim {
namespace {

constexpr uint32_t kPiece = 16, kSector = 32, kLine = 128;

/// Sectors of a line that come together.
struct CopyRequest {
  uint64_t line = 0, shift = 0;  // shift: from global to shared memory, bytes
  uint32_t half = 0;             // if the shift splits sectors: which half of each
  uint32_t row = 0, turn = 0;    // of shared memory: a swizzled row takes the line's pieces by exclusive or
  uint32_t sectors = 0;          // bits

  explicit CopyRequest(const AsyncCopy::Lane& l)
      : line(l.gmem / kLine),
        shift(l.smem - l.gmem),
        half(shift % kSector == 0 ? 0 : l.gmem % kSector / kPiece),
        row(l.smem / kLine),
        turn((l.smem ^ static_cast<uint32_t>(l.gmem)) % kLine),
        sectors(1u << l.gmem % kLine / kSector) {}
  CopyRequest() = default;

  bool joins(const CopyRequest& o) const { return line == o.line && ((shift == o.shift && half == o.half) || (row == o.row && turn == o.turn)); }
};

}  // namespace

// In the time that one sector of a line alone takes, almost two could come (l2.read.pitch-* of drywell bench-hw).
double more_of_requests(const AsyncCopy& copy) {
  constexpr std::array<double, 5> kRequest = {0, 62, 76, 100, 128}, kOfALoad = {0, 58, 64, 96, 128};
  std::array<CopyRequest, 32> requests;
  uint32_t count = 0;
  for (const AsyncCopy::Lane& l : copy.lanes) {
    if (l.bytes != kPiece || l.src_bytes != kPiece) continue;
    const CopyRequest r(l);
    const auto end = requests.begin() + count, known = std::find_if(requests.begin(), end, [&](const CopyRequest&o) { return r.joins(o); });
    if (known != end)
      known->sectors |= r.sectors;
    else
      requests[count++] = r;
  }
  double more = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t line = 0, earlier = 0;  // sectors of the line: of all requests, of those before this one
    for (uint32_t k = 0; k < count; ++k) {
      if (requests[k].line != requests[i].line) continue;
      line |= requests[k].sectors;
      if (k < i) earlier = line;
    }
    more += kRequest[static_cast<size_t>(std::popcount(requests[i].sectors))];
    if (earlier == 0) more -= kOfALoad[static_cast<size_t>(std::popcount(line))];
  }
  return more;
}

}  // namespace drywell::sim
