// Parts that the recorders of tensor memory share: rectangles of an operation's spans, and the names of its instruction and line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "sim/engine/footprint.h"
#include "sim/state/cta.h"

namespace drywell::sim {

/// Rectangles of tensor memory, merged: an operation's spans may be single lanes or columns.
class Rectangle {
 public:
  void add(const Span& s) {
    lane_ = std::min(lane_, s.lane);
    lane_end_ = std::max(lane_end_, s.lane + s.lanes);
    column_ = std::min(column_, s.column);
    column_end_ = std::max(column_end_, s.column + s.columns);
  }
  bool empty() const { return lane_end_ == 0; }
  Span span() const {
    Span s;
    s.memory = Memory::tmem;
    s.lane = lane_;
    s.lanes = lane_end_ - lane_;
    s.column = column_;
    s.columns = column_end_ - column_;
    return s;
  }

 private:
  uint32_t lane_ = ~0u, lane_end_ = 0, column_ = ~0u, column_end_ = 0;
};

/// The rectangle around the spans in tensor memory of the CTA with rank `cta`.
template <class ForEach>
Rectangle cover(uint32_t cta, ForEach for_each) {
  Rectangle r;
  for_each([&](const Span& s) {
    if (s.memory == Memory::tmem && s.cta == cta) r.add(s);
  });
  return r;
}

/// "tcgen05.mma", and "kernels/gemm/mma.cpp:88" or "ptx:12".
std::string mnemonic_at(const Launch& launch, uint32_t pc);
std::string source_at(const Launch& launch, uint32_t pc);

}  // namespace drywell::sim
