#include "tools/memory_page.h"

namespace drywell::tools {

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

nlohmann::json blocks_json(const std::vector<isa::TmemBlock>& blocks) {
  nlohmann::json out = nlohmann::json::array();
  for (const isa::TmemBlock& b : blocks)
    out.push_back({b.cta, b.lane, b.lanes, b.column, b.columns, b.row, b.index, b.per_column, b.low, b.bits, b.stride, b.copy});
  return out;
}

nlohmann::json cells_json(const std::vector<isa::TmemCells>& cells) {
  nlohmann::json out = nlohmann::json::array();
  for (const isa::TmemCells& c : cells) out.push_back({c.lane, c.lanes, c.column, c.columns});
  return out;
}

}  // namespace drywell::tools
