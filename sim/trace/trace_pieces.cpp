#include "sim/trace/trace_pieces.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/core/error.h"

namespace drywell::sim {

Trace read_timed(std::string_view text, const std::string& name) {
  Trace t = read_trace_text(text, name);
  if (t.header.profile != TraceProfile::cycle)
    throw InputError(Code::E4202, fmt::format("{}: a trace without cycles has no timeline", name), "drywell trace record … --profile cycle");
  return t;
}

std::string_view word(std::string_view text, size_t n) {
  std::string_view out;
  for (size_t i = 0; i <= n; ++i) out = next_token(text);
  return out;
}

OwnerName::OwnerName(std::string_view name) {
  for (std::string_view t = next_token(name); !t.empty(); t = next_token(name)) {
    if (t.starts_with("launch=")) launch = t.substr(7);
    if (t.starts_with("cta=")) cta = t.substr(4);
    if (t.starts_with("w=")) warp = t.substr(2);
    if (t.starts_with("q=")) unit = t.substr(2, t.find(':') - 2);
    if (t.starts_with("mbar=")) unit = std::string(t);
  }
}

std::vector<Piece> pieces_of(const Trace& t, const TraceOwner& o) {
  std::vector<Piece> out;
  if (o.name.find(" q=") != std::string::npos && !o.records.empty()) {
    const std::string_view what = o.records.front().text;
    const auto it = t.issuers.find(o.name);
    const uint64_t to = std::max(o.records.front().cycle + 1, o.records.back().cycle);
    out.push_back({std::string(what.starts_with("B ") ? what.substr(2) : what), it == t.issuers.end() ? "" : t.source_of(o, it->second), o.records.front().cycle, to});
    return out;
  }
  for (const TraceRecord& r : o.records) {
    if (r.text.starts_with("I ")) out.push_back({std::string(word(r.text, 1)), t.source_of(o, r), r.cycle, r.cycle + 1});
    if (r.text.starts_with("S ")) {
      const std::string_view length = field_of(r.text, "dur");
      out.push_back({"stall: " + std::string(field_of(r.text, "reason")), {}, r.cycle, r.cycle + std::max<uint64_t>(1, number_after(length, 0))});
    }
  }
  return out;
}

}  // namespace drywell::sim
