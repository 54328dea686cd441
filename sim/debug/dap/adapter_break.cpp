// Breakpoints: each request replaces the breakpoints of the previous request of its kind.
#include <fmt/format.h>

#include <algorithm>

#include "drywell/core/whole_number.h"
#include "sim/debug/dap/adapter.h"

namespace drywell::sim::dap {
namespace {

/// Instructions have no addresses in PTX, but the protocol needs addresses: 16 apart, as on an SM.
constexpr uint64_t kInstructionBytes = 16;

Json unverified(const std::string& why) { return {{"verified", false}, {"message", why}}; }

std::string path_of(const Json& arguments) {
  const Json& source = arguments.at("source");
  return source.contains("path") ? source["path"].get<std::string>() : source.value("name", "");
}

}  // namespace

/// Removes the stops of `set`, then adds one per entry of `wanted`; the error of an entry becomes its message.
Json DapAdapter::replace_stops(const std::string& set, const Json& wanted, const std::function<Json(const Json&)>& add) {
  for (uint32_t id : sets_[set]) debugger_.stops().remove(id);
  sets_[set].clear();
  Json out = Json::array();
  for (const Json& w : wanted) {
    try {
      out.push_back(add(w));
    } catch (const Error& e) {
      out.push_back(unverified(e.what()));
    }
  }
  return {{"breakpoints", out}};
}

Json DapAdapter::add_code_stop(const std::string& set, std::vector<uint32_t> pcs, const Json& wanted, std::string text) {
  std::optional<Expression> condition;
  if (const std::string c = wanted.value("condition", ""); !c.empty()) condition = Expression::parse(c);
  std::sort(pcs.begin(), pcs.end());
  Json b = {{"verified", true}, {"instructionReference", fmt::format("{:#x}", pcs[0] * kInstructionBytes)}};
  uint32_t line = 0;
  if (Json source = source_of(pcs[0], line); !source.is_null()) {
    b["source"] = std::move(source);
    b["line"] = line;
  }
  Extra extra{wanted.value("logMessage", ""), HitCondition::parse(wanted.value("hitCondition", ""))};
  Stop& stop = debugger_.stops().add(CodeStop{std::move(pcs)}, std::move(text));
  stop.condition = std::move(condition);
  extras_[stop.id] = std::move(extra);
  sets_[set].push_back(stop.id);
  b["id"] = stop.id;
  return b;
}

Json DapAdapter::set_breakpoints(const Json& a) {
  const std::string path = path_of(a), set = "source:" + path;
  const bool ptx = path.ends_with(".ptx");
  return replace_stops(set, a.value("breakpoints", Json::array()), [&](const Json& w) {
    uint32_t line = w.at("line").get<uint32_t>();
    const std::vector<uint32_t> pcs = ptx ? debugger_.code().find(fmt::format("ptx:{}", line), {}) : debugger_.code().find_line(path, line);
    if (pcs.empty()) return unverified("no code of this kernel at that line");
    return add_code_stop(set, pcs, w, fmt::format("{}:{}", base_name(path), line));
  });
}

// A label, a function, or an instruction's name ("tcgen05.mma").
Json DapAdapter::set_function_breakpoints(const Json& a) {
  return replace_stops("function", a.value("breakpoints", Json::array()), [&](const Json& w) {
    const std::string name = w.at("name").get<std::string>();
    return add_code_stop("function", debugger_.code().find(name, {}), w, name);
  });
}

Json DapAdapter::set_instruction_breakpoints(const Json& a) {
  return replace_stops("instruction", a.value("breakpoints", Json::array()), [&](const Json& w) {
    const std::string reference = w.at("instructionReference").get<std::string>();
    const std::optional<uint64_t> from = whole_number_or_hex<uint64_t>(reference);
    const uint64_t address = from.value_or(0) + static_cast<uint64_t>(w.value("offset", int64_t{0}));
    if (!from.has_value() || address / kInstructionBytes >= debugger_.code().size()) return unverified("no instruction is there");
    const auto pc = static_cast<uint32_t>(address / kInstructionBytes);
    return add_code_stop("instruction", {pc}, w, fmt::format("pc:{}", pc));
  });
}

// The names are those of `watch`: a register, "smem 0x400,16", "tmem 0..3,0".
Json DapAdapter::data_breakpoint_info(const Json& a) {
  std::string name = a.at("name").get<std::string>();
  if (a.contains("variablesReference") && a["variablesReference"].get<uint64_t>() != 0) debugger_.focus = handle_of(a, "variablesReference").warp;
  try {
    shell::Words words(name);
    static_cast<void>(parse_watched(shell_, words));
    words.finish("watch");
  } catch (const Error& e) {
    return {{"dataId", nullptr}, {"description", e.what()}};
  }
  return {{"dataId", fmt::format("{} {}", thread_id(debugger_.focus), name)}, {"description", name}, {"accessTypes", {"write"}}, {"canPersist", false}};
}

Json DapAdapter::set_data_breakpoints(const Json& a) {
  return replace_stops("data", a.value("breakpoints", Json::array()), [&](const Json& w) {
    shell::Words words(w.at("dataId").get<std::string>());
    const WarpRef before = debugger_.focus;
    debugger_.focus = warp_of(words.number(0, "thread"));
    shell::Words again(words.rest());
    shell::Words copy = again;
    const std::string text = copy.rest();
    StopWhat what = parse_watched(shell_, again);
    debugger_.focus = before;
    Extra extra{{}, HitCondition::parse(w.value("hitCondition", ""))};
    const Stop& stop = debugger_.stops().add(std::move(what), text);
    extras_[stop.id] = std::move(extra);
    sets_["data"].push_back(stop.id);
    return Json{{"verified", true}, {"id", stop.id}};
  });
}

Json DapAdapter::breakpoint_locations(const Json& a) {
  const std::string path = path_of(a);
  const uint32_t first = a.at("line").get<uint32_t>(), last = std::min(a.value("endLine", first), first + 10'000);
  Json out = Json::array();
  for (uint32_t line = first; line <= last; ++line) {
    uint32_t taken = line;
    const std::vector<uint32_t> pcs = debugger_.code().find_line(path, taken);
    if (pcs.empty()) break;
    line = taken;
    if (taken <= last) out.push_back({{"line", taken}});
  }
  return {{"breakpoints", out}};
}

}  // namespace drywell::sim::dap
