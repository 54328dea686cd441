#include "tools/tmem_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/common/script_data.h"
#include "tools/memory_page.h"

namespace drywell::tools {
namespace {

using Json = nlohmann::json;

Json form_json(const sim::TmemForm& f) {
  const auto [row, index] = isa::axis_names(f.use.operand);
  return {{"operand", isa::to_string(f.use.operand)},
          {"type", f.type},
          {"m", f.use.m},
          {"n", f.use.n},
          {"ctas", f.use.form.cta_group},
          {"layout", std::string(1, "ABCDEFG"[static_cast<size_t>(isa::layout_of(f.use))])},
          {"names", {std::string(1, row), std::string(1, index)}},
          {"blocks", blocks_json(f.blocks)}};
}

Json step_json(const sim::TmemStep& s, Json& values) {
  int64_t at = -1;
  if (!s.values.empty()) {
    at = static_cast<int64_t>(values.size());
    values.push_back(base64(s.values));
  }
  return {static_cast<int>(s.role),
          s.writes ? 1 : 0,
          s.cta,
          s.lane,
          s.lanes,
          s.column,
          s.columns,
          s.issued,
          s.done,
          s.place,
          s.warp,
          s.form,
          s.base_lane,
          s.base_column,
          s.base_byte,
          at};
}

Json data_of(const TmemPage& p) {
  const sim::TmemHistoryData& h = p.history;
  Json j = page_data({p.title, p.arch, p.clock}, h, {{"kind", "tmem"}, {"title", "Tensor memory"}, {"lanes", 128}, {"columns", 512}, {"lane", "lane"}, {"column", "column of 32 bits"}, {"rule", 32}});
  for (int r = 0; r <= static_cast<int>(sim::TmemRole::shifted); ++r)
    j["role_names"].push_back(sim::to_string(static_cast<sim::TmemRole>(r)));
  j["expect"] = p.expect;
  for (size_t i = 0; i < h.forms.size(); ++i) {
    j["forms"].push_back(form_json(h.forms[i]));
    if (!p.differing.empty()) j["forms"].back()["differs"] = cells_json(p.differing[i]);
  }
  for (const sim::TmemHeld& a : h.held) j["held"].push_back({a.cta, a.column, a.columns, a.from, a.to});
  for (const sim::TmemStep& s : h.steps) j["steps"].push_back(step_json(s, j["values"]));
  return j;
}

}  // namespace

std::string tmem_page(const TmemPage& p) { return kMemoryPageHead + script_data(data_of(p)) + kMemoryPageTail; }

}  // namespace drywell::tools
