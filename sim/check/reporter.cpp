#include "sim/check/reporter.h"

#include <algorithm>

#include "sim/check/ordering_rules.h"
#include "sim/schedule/functional.h"

namespace drywell::sim::check {

FindingParty Reporter::party(const Access& a, const char* role) const {
  GuestPlace g;
  g.cta = a.index;
  g.warp = a.warp;
  g.lanes = a.lanes;
  locate(g, *program_, a.pc);
  return {role, std::move(g), a.when};
}

Reporter::PlaceKey Reporter::place_key(uint32_t pc) const {
  const isa::Instruction& i = program_->instruction(program_->code[pc]);
  return {i.source.file, i.source.file != 0 ? i.source.line : i.ptx_line, i.source.call_site, static_cast<uint32_t>(i.op)};
}

Finding Reporter::make(Rule rule, const Access* prior, const Access& now, std::string memory) const {
  const RuleText& t = text_of(rule);
  Finding f;
  f.code = t.code;
  f.level = t.level;
  f.rule = t.title;
  f.here = party(now, verb_of(now, false));
  if (prior != nullptr) f.other = party(*prior, verb_of(*prior, true));
  f.memory = std::move(memory);
  if (prior != nullptr && describe_) f.order = describe_(rule, *prior, now);
  f.why = t.why;
  f.fix = t.fix;
  f.ptx = t.ptx;
  return f;
}

void Reporter::merge(const Reporter& other, size_t from) {
  for (size_t i = from; i < other.keys_.size(); ++i) {
    const Finding& f = other.findings_[other.first_ + i];
    if (const auto found = groups_.find(other.keys_[i]); found != groups_.end()) {
      findings_[found->second].count += f.count;
      continue;
    }
    if (findings_.size() >= most_) return;
    groups_.emplace(other.keys_[i], findings_.size());
    keys_.push_back(other.keys_[i]);
    findings_.push_back(f);
  }
}

std::vector<Finding> Reporter::sorted() const {
  std::vector<Finding> all = findings_;
  std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) { return a.level < b.level; });
  return all;
}

}  // namespace drywell::sim::check
