// Exchange and votes between the lanes of a warp (PTX ISA 9.7.9.6, 9.7.13).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

using In = std::span<const std::array<uint64_t, 32>>;
using Out = std::span<std::array<uint64_t, 32>>;

void add(std::vector<ProgramSpec>& out, std::string op, std::string operands, WarpFn expect, std::string name = {}) {
  LaneForm f;
  f.op = std::move(op);
  f.operands = std::move(operands);
  f.name = std::move(name);
  f.expect_warp = std::move(expect);
  out.push_back(lane_program("warp", std::move(f)));
}

// Source lane and validity by the manual's pseudo-code (9.7.9.6).
struct Source {
  unsigned lane;
  bool valid;
};
Source shuffle_source(const std::string& mode, unsigned lane, uint32_t b, uint32_t c) {
  const unsigned segment = c >> 8 & 31, clamp = c & 31, bval = b & 31;
  const unsigned max_lane = (lane & segment) | (clamp & ~segment), min_lane = lane & segment;
  int j = 0;
  bool valid = false;
  if (mode == "up") {
    j = static_cast<int>(lane) - static_cast<int>(bval);
    valid = j >= static_cast<int>(max_lane);
  } else if (mode == "down") {
    j = static_cast<int>(lane + bval);
    valid = j <= static_cast<int>(max_lane);
  } else if (mode == "bfly") {
    j = static_cast<int>(lane ^ bval);
    valid = j <= static_cast<int>(max_lane);
  } else {
    j = static_cast<int>(min_lane | (bval & ~segment));
    valid = j <= static_cast<int>(max_lane);
  }
  return {valid ? static_cast<unsigned>(j) : lane, valid};
}

void shuffles(std::vector<ProgramSpec>& out) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const uint32_t segment : {0u, 0x10u, 0x18u}) {
      const uint32_t c = segment << 8 | (mode == "up" ? 0 : 0x1F);
      add(
          out, fmt::format("shfl.sync.{}.b32", mode), fmt::format("w|p=ws#{}#0xFFFFFFFF", c), [mode, c](In in, Out o) {
            for (unsigned lane = 0; lane < 32; ++lane) {
              const Source s = shuffle_source(mode, lane, static_cast<uint32_t>(in[1][lane]), c);
              o[0][lane] = in[0][s.lane];
              o[1][lane] = s.valid ? 1 : 0;
            }
          },
          fmt::format("shfl.sync.{}.b32/segment{:#x}", mode, segment));
    }
  }
}

uint32_t ballot(const std::array<uint64_t, 32>& p) {
  uint32_t m = 0;
  for (unsigned lane = 0; lane < 32; ++lane) m |= static_cast<uint32_t>(p[lane] != 0) << lane;
  return m;
}
void all_lanes(std::array<uint64_t, 32>& d, uint64_t v) { d.fill(v); }

void votes(std::vector<ProgramSpec>& out) {
  add(out, "vote.sync.ballot.b32", "w=p#0xFFFFFFFF", [](In in, Out o) { all_lanes(o[0], ballot(in[0])); });
  add(out, "vote.sync.all.pred", "p=p#0xFFFFFFFF", [](In in, Out o) { all_lanes(o[0], ballot(in[0]) == ~0u); });
  add(out, "vote.sync.any.pred", "p=p#0xFFFFFFFF", [](In in, Out o) { all_lanes(o[0], ballot(in[0]) != 0); });
  add(out, "vote.sync.uni.pred", "p=p#0xFFFFFFFF", [](In in, Out o) { all_lanes(o[0], ballot(in[0]) == ~0u || ballot(in[0]) == 0); });
  add(out, "activemask.b32", "w=", [](In, Out o) { all_lanes(o[0], 0xFFFFFFFF); });
  add(out, "elect.sync", "w|p=#0xFFFFFFFF", [](In, Out o) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      o[0][lane] = 0;
      o[1][lane] = lane == 0;
    }
  });
}

void matches(std::vector<ProgramSpec>& out) {
  for (const char letter : {'s', 'd'}) {
    const char* type = letter == 's' ? "b32" : "b64";
    add(out, fmt::format("match.any.sync.{}", type), fmt::format("w={}#0xFFFFFFFF", letter), [](In in, Out o) {
      for (unsigned lane = 0; lane < 32; ++lane) {
        o[0][lane] = 0;
        for (unsigned other = 0; other < 32; ++other) o[0][lane] |= uint64_t{in[0][other] == in[0][lane]} << other;
      }
    });
    add(out, fmt::format("match.all.sync.{}", type), fmt::format("w|p={}#0xFFFFFFFF", letter), [](In in, Out o) {
      const bool same = std::all_of(in[0].begin(), in[0].end(), [&](uint64_t v) { return v == in[0][0]; });
      all_lanes(o[0], same ? 0xFFFFFFFF : 0);
      all_lanes(o[1], same);
    });
  }
}

template <class T, class F>
void reduction(std::vector<ProgramSpec>& out, std::string op, F f) {
  add(out, std::move(op), "w=w#0xFFFFFFFF", [f](In in, Out o) {
    T r = static_cast<T>(in[0][0]);
    for (unsigned lane = 1; lane < 32; ++lane) r = f(r, static_cast<T>(in[0][lane]));
    all_lanes(o[0], static_cast<uint32_t>(r));
  });
}
void reductions(std::vector<ProgramSpec>& out) {
  reduction<uint32_t>(out, "redux.sync.add.u32", [](uint32_t a, uint32_t b) { return a + b; });
  reduction<uint32_t>(out, "redux.sync.add.s32", [](uint32_t a, uint32_t b) { return a + b; });
  reduction<uint32_t>(out, "redux.sync.min.u32", [](uint32_t a, uint32_t b) { return std::min(a, b); });
  reduction<uint32_t>(out, "redux.sync.max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); });
  reduction<int32_t>(out, "redux.sync.min.s32", [](int32_t a, int32_t b) { return std::min(a, b); });
  reduction<int32_t>(out, "redux.sync.max.s32", [](int32_t a, int32_t b) { return std::max(a, b); });
  reduction<uint32_t>(out, "redux.sync.and.b32", [](uint32_t a, uint32_t b) { return a & b; });
  reduction<uint32_t>(out, "redux.sync.or.b32", [](uint32_t a, uint32_t b) { return a | b; });
  reduction<uint32_t>(out, "redux.sync.xor.b32", [](uint32_t a, uint32_t b) { return a ^ b; });
}

// A number wins over a NaN, with .NaN the NaN wins; -0 < +0; a resulting NaN is 7FFFFFFF (9.7.13.10).
void float_reductions(std::vector<ProgramSpec>& out) {
  const auto nan = [](uint64_t v) { return (v & 0x7FFFFFFF) > 0x7F800000; };
  const auto place = [](uint64_t v) { return (v >> 31) != 0 ? -1 - static_cast<int64_t>(v & 0x7FFFFFFF) : static_cast<int64_t>(v); };
  for (const bool max : {false, true}) {
    for (const bool abs : {false, true}) {
      for (const bool nan_wins : {false, true}) {
        add(out, fmt::format("redux.sync.{}{}{}.f32", max ? "max" : "min", abs ? ".abs" : "", nan_wins ? ".NaN" : ""), "f=f#0xFFFFFFFF", [=](In in, Out o) {
          uint64_t best = 0x7FFFFFFF;  // the result if all values are NaN
          bool any_nan = false;
          for (unsigned lane = 0; lane < 32; ++lane) {
            const uint64_t v = abs ? in[0][lane] & 0x7FFFFFFF : in[0][lane];
            any_nan = any_nan || nan(v);
            if (!nan(v) && (nan(best) || (max ? place(v) > place(best) : place(v) < place(best)))) best = v;
          }
          all_lanes(o[0], nan_wins && any_nan ? 0x7FFFFFFF : best);
        });
      }
    }
  }
}

}  // namespace

void add_warp(std::vector<ProgramSpec>& out) {
  shuffles(out);
  votes(out);
  matches(out);
  reductions(out);
  float_reductions(out);
}

}  // namespace drywell::kernels::conformance
