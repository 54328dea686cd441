#include "sim/check/rules.h"

#include <fmt/format.h>

#include <array>

namespace drywell::sim {
namespace check {
namespace {

constexpr RuleText kRules[] = {
    {"", HazardLevel::note, "", "", "", ""},
#define RULE(NAME_, CODE_, LEVEL_, TITLE_, WHY_, MEND_, PTX_) {CODE_, HazardLevel::LEVEL_, TITLE_, WHY_, MEND_, PTX_},
#include "sim/check/rules.inc"
#undef RULE
};

}  // namespace

const RuleText& text_of(Rule r) { return kRules[static_cast<size_t>(r)]; }

}  // namespace check

std::string_view hazard_level_name(HazardLevel l) {
  constexpr std::string_view kNames[] = {"error", "warning", "note"};
  return kNames[static_cast<size_t>(l)];
}

namespace {

// Names of templates have thousands of letters.
std::string shortened(const std::string& name) {
  constexpr size_t kMost = 100;
  return name.size() > kMost ? name.substr(0, kMost - 3) + "..." : name;
}

}  // namespace

std::string Finding::to_string() const {
  std::string out = fmt::format("{} {}: {}\n", hazard_level_name(level), code, rule);
  if (!memory.empty()) out += fmt::format("    memory: {}\n", memory);
  const auto party = [&](const FindingParty& p) {
    GuestPlace where = p.where;
    where.kernel = shortened(where.kernel);
    where.function = shortened(where.function);
    if (!p.role.empty()) out += fmt::format("    {}: {} (at {})\n", p.role, where.to_string(), p.when);
  };
  party(other);
  party(here);
  if (!order.empty()) out += fmt::format("    order: {}\n", order);
  out += fmt::format("    why: {}\n    fix: {}\n    PTX ISA {}", why, fix, ptx);
  if (count > 1) out += fmt::format("; {} times", count);
  return out + "\n";
}

}  // namespace drywell::sim
