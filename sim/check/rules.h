// The rules, each with its stable code (docs/hazards.md has a section for every one).
#pragma once

#include <cstdint>
#include <string_view>

#include "drywell/sim/check.h"

namespace drywell::sim::check {

enum class Rule : uint8_t {
  none,
#define RULE(NAME_, ...) NAME_,
#include "sim/check/rules.inc"
#undef RULE
  count_
};

struct RuleText {
  std::string_view code;
  HazardLevel level;
  std::string_view title, why, fix, ptx;
};

const RuleText& text_of(Rule r);

}  // namespace drywell::sim::check
