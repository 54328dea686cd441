// Positions as the client counts them, log points and hit counts, and what clients ask about faults, words and modules.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "drywell/core/whole_number.h"
#include "sim/debug/dap/adapter.h"

namespace drywell::sim::dap {

void Positions::shift(Json& j, int64_t lines, int64_t columns) {
  if (lines == 0 && columns == 0) return;
  if (j.is_array())
    for (Json& element : j) shift(element, lines, columns);
  if (!j.is_object()) return;
  const bool no_source = lines < 0 && j.contains("line") && j["line"] == 0;
  for (auto& [key, value] : j.items()) {
    const bool line = key == "line" || key == "endLine", column = key == "column" || key == "endColumn";
    if ((line || column) && value.is_number_integer() && !no_source) value = value.get<int64_t>() + (line ? lines : columns);
    if (value.is_structured()) shift(value, lines, columns);
  }
}

HitCondition HitCondition::parse(std::string_view text) {
  std::string_view rest = text;
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.empty()) return {};
  static constexpr std::pair<std::string_view, Kind> kSigns[] = {{"==", Kind::equal}, {">=", Kind::at_least}, {"<=", Kind::at_most}, {"=", Kind::equal}, {">", Kind::more}, {"<", Kind::less}, {"%", Kind::multiple}};
  HitCondition h{Kind::equal, 0};
  for (const auto& [sign, kind] : kSigns) {
    if (!rest.starts_with(sign)) continue;
    h.kind = kind;
    rest.remove_prefix(sign.size());
    break;
  }
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const auto count = whole_number<decltype(h.count)>(rest);
  if (!count.has_value() || (h.kind == Kind::multiple && *count == 0))
    throw InputError(Code::E4325, fmt::format("'{}' is no number of hits", text), "5, ==5, >=5, >5, <=5, <5 or %5");
  h.count = *count;
  return h;
}

bool HitCondition::holds(uint64_t hits) const {
  switch (kind) {
    case Kind::every: return true;
    case Kind::equal: return hits == count;
    case Kind::at_least: return hits >= count;
    case Kind::more: return hits > count;
    case Kind::at_most: return hits <= count;
    case Kind::less: return hits < count;
    case Kind::multiple: return hits % count == 0;
  }
  return true;
}

bool DapAdapter::is_wanted(const StopReason& r) {
  if (r.kind != StopReason::Kind::hit) return true;
  const auto extra = extras_.find(r.hit.id);
  const Stop* stop = debugger_.stops().find(r.hit.id);
  if (extra == extras_.end() || stop == nullptr) return true;
  if (!extra->second.hits.holds(stop->hits)) return false;
  if (extra->second.log.empty()) return true;
  event("output", {{"category", "console"}, {"output", log_text(extra->second.log) + "\n"}});
  return false;
}

/// Replaces {expression} by its value for the warp that arrived.
std::string DapAdapter::log_text(const std::string& message) {
  std::string out;
  for (size_t at = 0; at < message.size();) {
    const size_t open = std::min(message.find('{', at), message.size()), close = message.find('}', open);
    out += message.substr(at, open - at);
    if (open == message.size() || close == std::string::npos) return out + message.substr(open);
    try {
      out += fmt::format("{:.15g}", Expression::parse(message.substr(open + 1, close - open - 1)).evaluate(session(), find_warp(debugger_.focus), debugger_.lane));
    } catch (const Error& e) {
      out += fmt::format("<{}>", e.what());
    }
    at = close + 1;
  }
  return out;
}

Json DapAdapter::exception_info(const Json&) {
  if (!session().fault().has_value()) throw DapError{"the kernel has not faulted"};
  const Fault& f = *session().fault();
  return {{"exceptionId", code_name(f.code)}, {"description", f.to_string()}, {"breakMode", "always"}, {"details", {{"typeName", code_name(f.code)}, {"message", f.to_string()}}}};
}

/// The words of the debug console that complete the line up to the column: commands, registers, variables.
Json DapAdapter::completions(const Json& a) {
  const std::string text = a.at("text").get<std::string>();
  const auto column = static_cast<size_t>(std::max<int64_t>(1, a.at("column").get<int64_t>()));
  const std::string line = text.substr(0, std::min(text.size(), column - 1));
  const size_t word = line.find_last_of(' ') == std::string::npos ? 0 : line.find_last_of(' ') + 1;
  Json out = Json::array();
  for (const std::string& w : shell_.complete(line)) out.push_back({{"label", w}, {"text", w}, {"start", word}, {"length", line.size() - word}});
  return {{"targets", out}};
}

Json DapAdapter::modules(const Json&) {
  namespace fs = std::filesystem;
  Json m = {{"id", 1}, {"name", base_name(program_)}, {"symbolStatus", "PTX"}};
  if (fs::exists(program_)) m["path"] = fs::absolute(program_).lexically_normal().string();
  return {{"modules", {m}}, {"totalModules", 1}};
}

}  // namespace drywell::sim::dap
