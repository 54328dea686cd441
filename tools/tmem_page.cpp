#include "tools/tmem_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/common/script_data.h"

namespace drywell::tools {
namespace {

using Json = nlohmann::json;

std::string base64(const std::vector<uint32_t>& words) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  const size_t bytes = 4 * words.size();
  const auto byte = [&](size_t i) -> uint32_t { return i < bytes ? words[i / 4] >> (8 * (i % 4)) & 255 : 0; };
  for (size_t i = 0; i < bytes; i += 3) {
    const uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (size_t k = 0; k < 4; ++k) out += i + k > bytes ? '=' : kDigits[three >> (18 - 6 * k) & 63];
  }
  return out;
}

Json form_json(const sim::TmemForm& f) {
  const auto [row, index] = isa::axis_names(f.use.operand);
  Json blocks = Json::array();
  for (const isa::TmemBlock& b : f.blocks)
    blocks.push_back({b.cta, b.lane, b.lanes, b.column, b.columns, b.row, b.index, b.per_column, b.low,
                      b.bits, b.stride, b.copy});
  return {{"operand", isa::to_string(f.use.operand)},
          {"type", f.type},
          {"m", f.use.m},
          {"n", f.use.n},
          {"ctas", f.use.form.cta_group},
          {"layout", std::string(1, "ABCDEFG"[static_cast<size_t>(isa::layout_of(f.use))])},
          {"names", {std::string(1, row), std::string(1, index)}},
          {"blocks", std::move(blocks)}};
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
  Json j = {{"title", p.title}, {"arch", p.arch}, {"clock", p.clock}, {"version", DRYWELL_VERSION}, {"from", h.from}, {"to", h.to}, {"first", h.first_rank}, {"warps", h.warps}, {"roles", h.roles}, {"places", h.places}, {"truncated", h.truncated}, {"dropped", h.values_dropped}};
  for (uint32_t r = 0; r < h.ranks; ++r) {
    const Dim3 c = h.ctas[h.first_rank + r];
    j["ctas"].push_back(fmt::format("{}, {}, {}", c.x, c.y, c.z));
  }
  for (int r = 0; r <= static_cast<int>(sim::TmemRole::shifted); ++r)
    j["role_names"].push_back(sim::to_string(static_cast<sim::TmemRole>(r)));
  j["forms"] = j["held"] = j["steps"] = j["values"] = Json::array();
  for (const sim::TmemForm& f : h.forms) j["forms"].push_back(form_json(f));
  for (const sim::TmemHeld& a : h.held) j["held"].push_back({a.cta, a.column, a.columns, a.from, a.to});
  for (const sim::TmemStep& s : h.steps) j["steps"].push_back(step_json(s, j["values"]));
  return j;
}

}  // namespace

std::string tmem_page(const TmemPage& p) { return kTmemPageHead + script_data(data_of(p)) + kTmemPageTail; }

}  // namespace drywell::tools
