// The table of docs/facts/numerics.md §3.2.
#include <algorithm>

#include "drywell/sim/numeric/mma.h"

namespace drywell::numeric {
namespace {

constexpr FormatSet bit(Format f) { return static_cast<FormatSet>(1u << static_cast<unsigned>(f)); }

constexpr FormatSet kF16 = bit(Format::f16), kBf16 = bit(Format::bf16), kTf32 = bit(Format::tf32);
constexpr FormatSet kFp8 = bit(Format::e4m3) | bit(Format::e5m2);
constexpr FormatSet kF8f6f4 = kFp8 | bit(Format::e2m1) | bit(Format::e2m3) | bit(Format::e3m2);
constexpr FormatSet kE2m1 = bit(Format::e2m1);
constexpr Format kUnscaled = Format::f32;

// Blackwell and Hopper: quantum 2^(E - 25). Floors: -133 = -126 - 7 for f32 D, -21 = -14 - 7 for f16 D (§3.4 F).
constexpr MmaParams kF32Sum = {.window = 25, .exponent_floor = -133, .output = MmaOutput::f32_rz24};
constexpr MmaParams kF16Sum = {.window = 25, .exponent_floor = -21, .output = MmaOutput::f16_rn};
constexpr MmaParams kNarrowF16Sum = {
    .window = 25, .exponent_floor = MmaParams::kNoFloor, .output = MmaOutput::f16_rn};
constexpr MmaParams kMxf4Sum = {
    .group = 16, .window = 35, .exponent_floor = -139, .output = MmaOutput::f32_rz24};
constexpr MmaParams kHopperFp8F32 = {.window = 13, .exponent_floor = -133, .output = MmaOutput::f32_rz14};
constexpr MmaParams kHopperFp8F16 = {
    .window = 13, .exponent_floor = MmaParams::kNoFloor, .output = MmaOutput::f16_rn};
constexpr MmaParams kLegacyFp8F32 = {
    .window = 25, .exponent_floor = -133, .output = MmaOutput::f32_rz24, .legacy_fp8 = true};
constexpr MmaParams kLegacyFp8F16 = {
    .window = 25, .exponent_floor = -21, .output = MmaOutput::f16_rn, .legacy_fp8 = true};
constexpr MmaParams kAdaFp8 = {
    .window = 13, .exponent_floor = -133, .output = MmaOutput::f32_rz14, .sum_terms = 16};
constexpr MmaParams kAmpereF32K8 = {
    .window = 24, .exponent_floor = -133, .output = MmaOutput::f32_rz24, .sum_terms = 8};
constexpr MmaParams kAmpereF32K4 = {
    .window = 24, .exponent_floor = -133, .output = MmaOutput::f32_rz24, .sum_terms = 4};
constexpr MmaParams kAmpereF16K8 = {
    .window = 24, .exponent_floor = -21, .output = MmaOutput::f16_rn, .sum_terms = 8};
constexpr MmaParams kTuringF32 = {.window = 24, .exponent_floor = -133, .output = MmaOutput::f32_rz24};
constexpr MmaParams kTuringF16 = {.window = 24, .exponent_floor = -21, .output = MmaOutput::f16_rn};
constexpr MmaParams kVoltaF32 = {.window = 23, .exponent_floor = -133, .output = MmaOutput::f32_rz24};
constexpr MmaParams kVoltaF16 = {.window = 23, .exponent_floor = -21, .output = MmaOutput::f16_rn};

using enum MmaArch;
using enum MmaInstruction;
constexpr Confidence kMeasured = Confidence::measured, kModelled = Confidence::modelled,
                     kAssumed = Confidence::assumed;

constexpr MmaRow kRows[] = {
    {sm_100, tcgen05, MmaKind::f16, kF16, kF16, kUnscaled, kF32Sum, kMeasured, ""},
    {sm_100, tcgen05, MmaKind::f16, kBf16, kBf16, kUnscaled, kF32Sum, kMeasured, ""},
    {sm_100, tcgen05, MmaKind::f16, kF16, kF16, kUnscaled, kF16Sum, kMeasured,
     "floor measured on H200 and stated by one model for B200"},
    {sm_100, tcgen05, MmaKind::tf32, kTf32, kTf32, kUnscaled, kF32Sum, kMeasured, ""},
    {sm_100, tcgen05, MmaKind::f8f6f4, kF8f6f4, kF8f6f4, kUnscaled, kF32Sum, kMeasured, "floor cannot bind"},
    {sm_100, tcgen05, MmaKind::f8f6f4, kF8f6f4, kF8f6f4, kUnscaled, kNarrowF16Sum, kModelled,
     "no floor is known"},
    {sm_100, tcgen05, MmaKind::mxf8f6f4, kF8f6f4, kF8f6f4, Format::ue8m0, kF32Sum, kMeasured,
     "floor inferred"},
    {sm_100, tcgen05, MmaKind::mxf4, kE2m1, kE2m1, Format::ue8m0, kMxf4Sum, kMeasured, "few measured words"},
    {sm_100, tcgen05, MmaKind::mxf4nvf4, kE2m1, kE2m1, Format::ue8m0, kMxf4Sum, kMeasured,
     "few measured words"},
    {sm_100, tcgen05, MmaKind::mxf4nvf4, kE2m1, kE2m1, Format::ue4m3, kMxf4Sum, kMeasured,
     "few measured words; open under cancellation at large scales"},

    {sm_100, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kF32Sum, kMeasured, ""},
    {sm_100, mma_sync, MmaKind::f16, kBf16, kBf16, kUnscaled, kF32Sum, kMeasured, ""},
    {sm_100, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kF16Sum, kMeasured, ""},
    {sm_100, mma_sync, MmaKind::tf32, kTf32, kTf32, kUnscaled, kF32Sum, kMeasured, ""},
    {sm_100, mma_sync, MmaKind::f8f6f4, kFp8, kFp8, kUnscaled, kLegacyFp8F32, kMeasured, "legacy fp8"},
    {sm_100, mma_sync, MmaKind::f8f6f4, kFp8, kFp8, kUnscaled, kLegacyFp8F16, kMeasured, "legacy fp8"},

    {sm_90, wgmma, MmaKind::f16, kF16, kF16, kUnscaled, kF32Sum, kMeasured, ""},
    {sm_90, wgmma, MmaKind::f16, kBf16, kBf16, kUnscaled, kF32Sum, kMeasured, ""},
    {sm_90, wgmma, MmaKind::f16, kF16, kF16, kUnscaled, kF16Sum, kMeasured, ""},
    {sm_90, wgmma, MmaKind::tf32, kTf32, kTf32, kUnscaled, kF32Sum, kMeasured, ""},
    {sm_90, wgmma, MmaKind::f8f6f4, kFp8, kFp8, kUnscaled, kHopperFp8F32, kMeasured, "floor cannot bind"},
    {sm_90, wgmma, MmaKind::f8f6f4, kFp8, kFp8, kUnscaled, kHopperFp8F16, kMeasured,
     "no floor and -21 fit every word"},
    {sm_90, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kF32Sum, kMeasured, ""},
    {sm_90, mma_sync, MmaKind::f16, kBf16, kBf16, kUnscaled, kF32Sum, kMeasured, ""},
    {sm_90, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kF16Sum, kMeasured, ""},
    {sm_90, mma_sync, MmaKind::tf32, kTf32, kTf32, kUnscaled, kF32Sum, kMeasured, ""},
    {sm_90, mma_sync, MmaKind::f8f6f4, kFp8, kFp8, kUnscaled, kLegacyFp8F32, kMeasured, "legacy fp8"},
    {sm_90, mma_sync, MmaKind::f8f6f4, kFp8, kFp8, kUnscaled, kLegacyFp8F16, kMeasured, "legacy fp8"},

    {sm_120, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kF32Sum, kAssumed, "as sm_100"},
    {sm_120, mma_sync, MmaKind::f16, kBf16, kBf16, kUnscaled, kF32Sum, kAssumed, "as sm_100"},
    {sm_120, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kF16Sum, kAssumed, "as sm_100"},
    {sm_120, mma_sync, MmaKind::tf32, kTf32, kTf32, kUnscaled, kF32Sum, kAssumed, "as sm_100"},
    {sm_120, mma_sync, MmaKind::f8f6f4, kF8f6f4, kF8f6f4, kUnscaled, kF32Sum, kModelled,
     "fp8 without .kind is the same machine instruction (ptxas 13.0)"},
    {sm_120, mma_sync, MmaKind::f8f6f4, kF8f6f4, kF8f6f4, kUnscaled, kNarrowF16Sum, kModelled, ""},
    {sm_120, mma_sync, MmaKind::mxf8f6f4, kF8f6f4, kF8f6f4, Format::ue8m0, kF32Sum, kModelled, ""},
    {sm_120, mma_sync, MmaKind::mxf4, kE2m1, kE2m1, Format::ue8m0, kMxf4Sum, kModelled, ""},
    {sm_120, mma_sync, MmaKind::mxf4nvf4, kE2m1, kE2m1, Format::ue8m0, kMxf4Sum, kModelled, ""},
    {sm_120, mma_sync, MmaKind::mxf4nvf4, kE2m1, kE2m1, Format::ue4m3, kMxf4Sum, kModelled, ""},

    {sm_89, mma_sync, MmaKind::f8f6f4, kFp8, kFp8, kUnscaled, kAdaFp8, kMeasured, "chaining modelled"},
    {sm_89, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kAmpereF32K8, kMeasured, "chaining modelled"},
    {sm_89, mma_sync, MmaKind::f16, kBf16, kBf16, kUnscaled, kAmpereF32K8, kMeasured, "chaining modelled"},
    {sm_89, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kAmpereF16K8, kModelled, "floor assumed"},
    {sm_89, mma_sync, MmaKind::tf32, kTf32, kTf32, kUnscaled, kAmpereF32K4, kMeasured, "chaining modelled"},
    {sm_80, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kAmpereF32K8, kMeasured, "chaining modelled"},
    {sm_80, mma_sync, MmaKind::f16, kBf16, kBf16, kUnscaled, kAmpereF32K8, kMeasured, "chaining modelled"},
    {sm_80, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kAmpereF16K8, kModelled, "floor assumed"},
    {sm_80, mma_sync, MmaKind::tf32, kTf32, kTf32, kUnscaled, kAmpereF32K4, kMeasured, "chaining modelled"},
    {sm_75, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kTuringF32, kModelled, ""},
    {sm_75, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kTuringF16, kModelled, "floor assumed"},
    {sm_70, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kVoltaF32, kMeasured, ""},
    {sm_70, mma_sync, MmaKind::f16, kF16, kF16, kUnscaled, kVoltaF16, kModelled, "floor assumed"},
};

}  // namespace

std::span<const MmaRow> mma_rows() { return kRows; }

const MmaRow* find_mma(const MmaQuery& q) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const MmaRow& r) {
    return r.arch == q.arch && r.instruction == q.instruction && r.kind == q.kind &&
           (r.a_formats & bit(q.a)) != 0 && (r.b_formats & bit(q.b)) != 0 && r.scale_format == q.scale &&
           r.params.d_format() == q.d;
  });
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace drywell::numeric
