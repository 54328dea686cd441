// Targets and the PTX features they have. Legality only: sizes and speeds belong to drywell/sim/arch_config.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace drywell::isa {

/// The .version of a PTX text.
struct PtxVersion {
  uint8_t major = 9, minor = 0;  // 9.0
  /// Older versions are less.
  constexpr auto operator<=>(const PtxVersion&) const = default;
};

/// A feature that a row needs from its target: acceptance by ptxas 13.0 and 13.4 (docs/facts/targets.md). "f" and "a" are the targets
/// with that suffix: a family's features, and those of one chip.
enum class Feature : uint8_t {
  base,         // sm_80 and later
  sm90,         // clusters, mbarrier transactions, bulk copies
  sm90a,        // wgmma: sm_90a only
  sm90a_100f,   // setmaxnreg, tensormap.replace: sm_90a, and f or a of sm_100 and later
  sm100,        // any sm_100 and later
  narrow,       // 6- and 4-bit conversions, byte matrices: f or a of sm_100 and later
  narrow_a,     // s2f6 conversions: a of sm_100 and later
  sm100f,       // f or a of sm_100, sm_103, sm_110: tcgen05, cta_group, gather4
  sm100f_103f,  // f or a of sm_100, sm_103: redux of f32
  sm100a,       // a of sm_100, sm_103, sm_110: shift, ashift, scale_vec
  sm100a_103a,  // a of sm_100, sm_103: stochastic rounding
  sm100a_only,  // a of sm_100, sm_110: kind::i8
  sm103,        // f or a of sm_103, sm_110: ld.red
  sm103_only,   // f or a of sm_103: K=96
  sm120f,       // f or a of sm_120, sm_121: mma with kinds and block scales
  sm120a,       // a of sm_120, sm_121: sparse mma of the 4-bit kinds
};

/// The .target of a PTX text, and the machine that runs it.
enum class Target : uint8_t {
  sm_80,
  sm_86,
  sm_87,
  sm_88,
  sm_89,
  sm_90,
  sm_90a,
  sm_100,
  sm_100a,
  sm_100f,
  sm_103,
  sm_103a,
  sm_103f,
  sm_110,
  sm_110a,
  sm_110f,
  sm_120,
  sm_120a,
  sm_120f,
  sm_121,
  sm_121a,
  sm_121f,
};

/// "sm_100a".
std::string_view target_name(Target t);
/// Parses "sm_100a"; returns false, and leaves `out` unchanged, if the text is not a target.
bool parse_target(std::string_view text, Target& out);
/// The number in the name: 100 for sm_100a.
unsigned target_number(Target t);
/// The letter behind the number: 'a' (exactly this chip), 'f' (its family), or 0.
char target_suffix(Target t);
/// True if the target has the feature.
bool has_feature(Target t, Feature f);
/// True if `machine`, a chip, loads PTX for `target`: of an equal or lower number without a suffix, of its own family with "f", of
/// itself with "a" (PTX ISA 11.1.2, .target; as ptxas 13.0 translates).
bool loads_on(Target target, Target machine);
/// The targets that `machine` loads, for messages: "sm_103a, sm_103f, sm_100f, or sm_103 and lower without a letter".
std::string targets_loaded_on(Target machine);
/// The feature's name in messages and tables.
std::string_view feature_name(Feature f);

}  // namespace drywell::isa
