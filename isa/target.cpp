#include "drywell/isa/target.h"

#include <array>

#include "isa/ptx_versions.h"

namespace drywell::isa {
namespace {

struct TargetRow {
  std::string_view name;
  uint16_t number;
  char suffix;       // 'a', 'f' or 0
  PtxVersion since;  // the oldest .version that ptxas 13.0 takes with it
};

// In the order of the enumeration.
constexpr std::array<TargetRow, 22> kTargets = {{
    {"sm_80", 80, 0, {7, 0}},
    {"sm_86", 86, 0, {7, 1}},
    {"sm_87", 87, 0, {7, 4}},
    {"sm_88", 88, 0, {7, 4}},
    {"sm_89", 89, 0, {7, 8}},
    {"sm_90", 90, 0, {7, 8}},
    {"sm_90a", 90, 'a', {8, 0}},
    {"sm_100", 100, 0, {8, 6}},
    {"sm_100a", 100, 'a', {8, 6}},
    {"sm_100f", 100, 'f', {8, 8}},
    {"sm_103", 103, 0, {8, 8}},
    {"sm_103a", 103, 'a', {8, 8}},
    {"sm_103f", 103, 'f', {8, 8}},
    {"sm_110", 110, 0, {9, 0}},
    {"sm_110a", 110, 'a', {9, 0}},
    {"sm_110f", 110, 'f', {9, 0}},
    {"sm_120", 120, 0, {8, 7}},
    {"sm_120a", 120, 'a', {8, 7}},
    {"sm_120f", 120, 'f', {8, 8}},
    {"sm_121", 121, 0, {8, 8}},
    {"sm_121a", 121, 'a', {8, 8}},
    {"sm_121f", 121, 'f', {8, 8}},
}};
static_assert(kTargets.back().name == "sm_121f" && kTargets.size() == static_cast<size_t>(Target::sm_121f) + 1);

// The last minor version of each major one: what ptxas 13.0 takes, and the versions after it that the rows of the tables name.
constexpr std::array<uint8_t, 10> kLastMinor = {0, 5, 3, 2, 3, 1, 5, 8, 8, 4};

const TargetRow& row_of(Target t) { return kTargets[static_cast<size_t>(t)]; }

/// Targets that have a feature: with a suffix of `suffixes`, and one of the numbers; number 0: any from sm_100 on.
struct Special {
  std::string_view suffixes;
  std::array<uint16_t, 3> numbers;
};
bool among(const TargetRow& t, const Special& s) {
  if (t.suffix == 0 || s.suffixes.find(t.suffix) == std::string_view::npos) return false;
  if (s.numbers[0] == 0) return t.number >= 100;
  for (const uint16_t n : s.numbers) {
    if (t.number == n) return true;
  }
  return false;
}

// PTX ISA 11.1.2: the chips of a family have one number but for its last digit.
bool same_family(const TargetRow& a, const TargetRow& b) { return a.number / 10 == b.number / 10; }

}  // namespace

std::string_view target_name(Target t) { return row_of(t).name; }
unsigned target_number(Target t) { return row_of(t).number; }
char target_suffix(Target t) { return row_of(t).suffix; }

bool parse_target(std::string_view text, Target& out) {
  for (size_t i = 0; i < kTargets.size(); ++i) {
    if (kTargets[i].name == text) {
      out = static_cast<Target>(i);
      return true;
    }
  }
  return false;
}

bool has_feature(Target target, Feature f) {
  const TargetRow& t = row_of(target);
  switch (f) {
    case Feature::base: return true;
    case Feature::sm90: return t.number >= 90;
    case Feature::sm90a: return target == Target::sm_90a;
    case Feature::sm90a_100f: return target == Target::sm_90a || among(t, {"af", {}});
    case Feature::sm100: return t.number >= 100;
    case Feature::narrow: return among(t, {"af", {}});
    case Feature::narrow_a: return among(t, {"a", {}});
    case Feature::sm100f: return among(t, {"af", {100, 103, 110}});
    case Feature::sm100f_103f: return among(t, {"af", {100, 103}});
    case Feature::sm100a: return among(t, {"a", {100, 103, 110}});
    case Feature::sm100a_103a: return among(t, {"a", {100, 103}});
    case Feature::sm100a_only: return among(t, {"a", {100, 110}});
    case Feature::sm103: return among(t, {"af", {103, 110}});
    case Feature::sm103_only: return among(t, {"af", {103}});
    case Feature::sm120f: return among(t, {"af", {120, 121}});
    case Feature::sm120a: return among(t, {"a", {120, 121}});
  }
  return false;
}

std::string_view feature_name(Feature f) {
  switch (f) {
    case Feature::base: return "any target";
    case Feature::sm90: return "sm_90 or later";
    case Feature::sm90a: return "sm_90a";
    case Feature::sm90a_100f: return "sm_90a, or a target of sm_100 or later with a or f";
    case Feature::sm100: return "sm_100 or later";
    case Feature::narrow: return "a target of sm_100 or later with a or f";
    case Feature::narrow_a: return "a target of sm_100 or later with a";
    case Feature::sm100f: return "sm_100, sm_103 or sm_110 with a or f";
    case Feature::sm100f_103f: return "sm_100 or sm_103 with a or f";
    case Feature::sm100a: return "sm_100a, sm_103a or sm_110a";
    case Feature::sm100a_103a: return "sm_100a or sm_103a";
    case Feature::sm100a_only: return "sm_100a or sm_110a";
    case Feature::sm103: return "sm_103 or sm_110 with a or f";
    case Feature::sm103_only: return "sm_103a or sm_103f";
    case Feature::sm120f: return "sm_120 or sm_121 with a or f";
    case Feature::sm120a: return "sm_120a or sm_121a";
  }
  return "?";
}

PtxVersion newest_version() { return {static_cast<uint8_t>(kLastMinor.size() - 1), kLastMinor.back()}; }

bool is_version(PtxVersion v) { return v > newest_version() || (v.major != 0 && v.minor <= kLastMinor[v.major]); }

PtxVersion oldest_version(Target t) { return row_of(t).since; }

bool loads_on(Target target, Target machine) {
  const TargetRow &t = row_of(target), &m = row_of(machine);
  switch (t.suffix) {
    case 'a': return t.number == m.number && m.suffix == 'a';
    case 'f': return same_family(t, m) && t.number <= m.number;
    default: return t.number <= m.number;
  }
}

std::string targets_loaded_on(Target machine) {
  std::string out;
  for (size_t i = kTargets.size(); i-- > 0;) {
    if (kTargets[i].suffix != 0 && loads_on(static_cast<Target>(i), machine)) out += std::string(kTargets[i].name) + ", ";
  }
  return out + "or sm_" + std::to_string(target_number(machine)) + " and lower without a letter";
}

}  // namespace drywell::isa
