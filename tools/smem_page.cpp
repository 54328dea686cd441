#include "tools/smem_page.h"

#include <algorithm>

#include "tools/common/script_data.h"

namespace drywell::tools {
namespace {

using Json = nlohmann::json;
using sim::kSmemBanks;
using sim::kSmemLineBytes;

Json form_json(const sim::SmemForm& f) {
  return {{"operand", f.operand}, {"type", f.type}, {"doc", f.doc}, {"ctas", 1}, {"names", f.names}, {"blocks", blocks_json(f.blocks)}};
}

/// The words from bank `from` to `to` (not included) of one line or of several whole ones, as a rectangle of the grid.
void add_rectangle(Json& out, uint32_t line, uint32_t lines, uint32_t from, uint32_t to) {
  if (lines != 0 && to > from) out.push_back({line, lines, from, to - from});
}

/// A run of words as rectangles: the rest of its first line, whole lines, the beginning of its last line.
void add_run(Json& out, const sim::SmemRun& r) {
  const uint32_t first = r.begin / 4, end = (r.begin + r.bytes + 3) / 4;
  const uint32_t line = first / kSmemBanks, last = end / kSmemBanks;
  if (line == last) return add_rectangle(out, line, 1, first % kSmemBanks, end % kSmemBanks);
  const uint32_t whole = first % kSmemBanks == 0 ? line : line + 1;
  if (whole != line) add_rectangle(out, line, 1, first % kSmemBanks, kSmemBanks);
  add_rectangle(out, whole, last - whole, 0, kSmemBanks);
  add_rectangle(out, last, 1, 0, end % kSmemBanks);
}

class Steps {
 public:
  explicit Steps(Json& page) : page_(page) {}
  void add(const sim::SmemStep& s) {
    Json rectangles = Json::array();
    for (const sim::SmemRun& r : s.runs) add_run(rectangles, r);
    const uint32_t line = s.runs.front().begin / kSmemLineBytes, end = (s.runs.back().begin + s.runs.back().bytes + kSmemLineBytes - 1) / kSmemLineBytes;
    page_["steps"].push_back({role(s.role), s.writes ? 1 : 0, s.cta, line, end - line, 0, kSmemBanks, s.issued, s.done, s.place, s.warp, s.form, 0, 0, 0, values(s.values),
                              std::move(rectangles), s.row, s.index});
  }

 private:
  size_t role(const std::string& name) {
    Json& names = page_["role_names"];
    const auto at = std::find(names.begin(), names.end(), name);
    const auto index = static_cast<size_t>(at - names.begin());
    if (at == names.end()) names.push_back(name);
    return index;
  }
  int64_t values(const std::vector<uint32_t>& words) {
    if (words.empty()) return -1;
    page_["values"].push_back(base64(words));
    return static_cast<int64_t>(page_["values"].size()) - 1;
  }
  Json& page_;
};

}  // namespace

std::string smem_page(const PageRun& run, const sim::SmemHistoryData& h, const SmemExpectation& expect) {
  const uint32_t lines = (h.bytes + kSmemLineBytes - 1) / kSmemLineBytes;
  Json j = page_data(run, h, {{"kind", "smem"}, {"title", "Shared memory"}, {"lanes", lines}, {"columns", kSmemBanks}, {"lane", "line of 128 bytes"}, {"column", "bank of 4 bytes"}, {"rule", 256}});
  j["role_names"] = Json::array();
  j["expect"] = expect.layout;
  for (size_t i = 0; i < h.forms.size(); ++i) {
    j["forms"].push_back(form_json(h.forms[i]));
    if (!expect.differing.empty()) j["forms"].back()["differs"] = cells_json(expect.differing[i]);
  }
  for (uint32_t r = 0; r < h.ranks; ++r) j["held"].push_back({h.first_rank + r, 0, kSmemBanks, h.from, 0});
  for (const sim::SmemBarrier& b : h.barriers)
    j["barriers"].push_back({{"cta", b.cta}, {"offset", b.offset}, {"at", b.at}, {"phase", b.phase}, {"pending", b.pending}, {"expected", b.expected}, {"tx", b.tx}, {"what", b.what}});
  Steps steps(j);
  for (const sim::SmemStep& s : h.steps) steps.add(s);
  return kMemoryPageHead + script_data(j) + kMemoryPageTail;
}

}  // namespace drywell::tools
