// Words that the explanation of a deadlock (hang.cpp) and its causes (hang_causes.cpp) share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sim/check/place_words.h"
#include "sim/check/standing.h"
#include "sim/schedule/functional.h"

namespace drywell::sim::check {

/// How many digits the text begins with.
inline size_t digits_of(std::string_view text) { return std::min(text.find_first_not_of("0123456789"), text.size()); }

/// Replaces each `from` whose rest of the text is as `wanted` says.
template <class Wanted>
void replace_all(std::string& text, std::string_view from, std::string_view to, Wanted wanted) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    const bool here = wanted(std::string_view(text).substr(at + from.size()));
    if (here) text.replace(at, from.size(), to);
    at += here ? to.size() : from.size();
  }
}

// "mbarrier at 0x408 (bars+0x8) of CTA rank 0".
inline std::string mbarrier_name(const Cluster& c, uint32_t address) {
  const std::string variable = shared_variable_at(*c.launch->program, shared_offset(address));
  return fmt::format("mbarrier at {:#x}{} of CTA rank {}", shared_offset(address), variable.empty() ? "" : " (" + variable + ")", shared_rank(address));
}

inline std::string state_of_warp(const Cluster& c, uint32_t cta, uint32_t warp) {
  const Warp& w = c.ctas[cta]->warps[warp];
  if (w.finished()) return "has exited";
  const Standing s = standings(w).front();
  if (s.on_mbarrier()) return fmt::format("waits itself, for the {}, parity {}", mbarrier_name(c, s.address), s.parity);
  return fmt::format("waits itself, for {}", block_reason_name(s.reason));
}

// "warp 3", "warps 0, 2 to 5".
inline std::string numbered(const std::string& what, const std::vector<uint32_t>& all) {
  std::string out = all.size() == 1 ? what + " " : what + "s ";
  for (size_t i = 0; i < all.size(); ++i) {
    size_t last = i;
    while (last + 1 < all.size() && all[last + 1] == all[last] + 1) ++last;
    out += fmt::format("{}{}", i == 0 ? "" : ", ", all[i]);
    if (last > i) out += fmt::format("{}{}", last == i + 1 ? ", " : " to ", all[last]);
    i = last;
  }
  return out;
}
inline std::string warps_name(const std::vector<uint32_t>& warps) { return numbered("warp", warps); }

}  // namespace drywell::sim::check
