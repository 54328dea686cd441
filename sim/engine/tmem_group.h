// The tensor memories that a tcgen05 operation uses: its CTA's, or those of its CTA pair (docs/facts/tcgen05.md §1.2,
// §4.4).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sim/engine/engine.h"

namespace drywell::sim {

class TmemGroup {
 public:
  TmemGroup(Cluster& c, const Issuer& who, uint32_t cta_group)
      : cluster_(c), first_(cta_group == 2 ? who.cta & ~1u : who.cta), count_(cta_group) {}

  uint32_t count() const { return count_; }
  /// Even rank first; both CTAs use the same addresses.
  Cta& cta(uint32_t i) const { return cluster_.cta(first_ + i); }
  Tmem& tmem(uint32_t i) const { return *cta(i).tmem; }

  /// F3213 if a CTA never had the columns, or another CTA has them now.
  EngineResult check_columns(std::string_view what, uint32_t first, uint32_t columns) const {
    for (uint32_t i = 0; i < count_; ++i) {
      if (tmem(i).reaches(first, columns, cta(i).serial + 1)) continue;
      return GuestError{Code::F3213,
                        fmt::format("{} at TMEM columns {} to {}, which CTA rank {} has not allocated", what,
                                    first, first + columns - 1, first_ + i)};
    }
    return std::nullopt;
  }

  /// "Down by one row": every lane takes the words of the next lane; the last lane of each partition keeps its words. The
  /// partitions that shift are not published; here all four do (docs/facts/tcgen05.md §2.6, §12).
  void shift_down(uint32_t column, uint32_t columns) const {
    for (uint32_t i = 0; i < count_; ++i) {
      for (uint32_t c = column; c < column + columns; ++c) {
        uint32_t* lanes = tmem(i).column(c);
        for (uint32_t p = 0; p < kTmemLanes; p += 32) std::copy(lanes + p + 1, lanes + p + 32, lanes + p);
      }
    }
  }

 private:
  Cluster& cluster_;
  uint32_t first_, count_;
};

}  // namespace drywell::sim
