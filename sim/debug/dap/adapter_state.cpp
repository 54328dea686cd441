// State that clients show: threads, frames, variables, memory, code.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "drywell/core/whole_number.h"
#include "sim/debug/dap/adapter.h"
#include "sim/debug/describe.h"

namespace drywell::sim::dap {
namespace {

constexpr uint64_t kInstructionBytes = 16;

std::string base64(const uint8_t* p, size_t n) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < n; i += 3) {
    const uint32_t v = p[i] << 16 | (i + 1 < n ? p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
    for (unsigned k = 0; k < 4; ++k) out += i + k > n ? '=' : kDigits[v >> (18 - 6 * k) & 63];
  }
  return out;
}

Json variable(std::string name, std::string value, uint64_t reference = 0) { return {{"name", std::move(name)}, {"value", std::move(value)}, {"variablesReference", reference}}; }

}  // namespace

uint64_t parse_reference(const std::string& text) {
  const std::optional<uint64_t> v = whole_number_or_hex<uint64_t>(text);
  if (!v.has_value()) throw DapError{"'" + text + "' is no memory reference"};
  return *v;
}

// ---- threads: warps, numbered through the grid

uint64_t DapAdapter::thread_id(const WarpRef& w) {
  const Launch& l = session().launch();
  const uint64_t warps = (l.block.count() + kWarpSize - 1) / kWarpSize;
  return l.grid.linear(cta_index(l, w.cluster, w.cta)) * warps + w.warp + 1;
}

WarpRef DapAdapter::warp_of(uint64_t thread) {
  const Launch& l = session().launch();
  const uint64_t warps = (l.block.count() + kWarpSize - 1) / kWarpSize;
  if (thread == 0 || (thread - 1) / warps >= l.grid.count()) throw DapError{fmt::format("no thread {}", thread)};
  WarpRef w = *ref_of_cta(l, l.grid.at((thread - 1) / warps));
  w.warp = static_cast<uint32_t>((thread - 1) % warps);
  return w;
}

Warp& DapAdapter::find_warp(const WarpRef& w) {
  Warp* warp = session().find(w);
  if (warp == nullptr) throw DapError{name_of(session(), w) + " is not there: its cluster has not started, or is over"};
  return *warp;
}

Json DapAdapter::threads(const Json&) {
  Json out = Json::array();
  for (const Cluster* c : session().clusters()) {
    for (const auto& cta : c->ctas) {
      for (const Warp& w : cta->warps) {
        if (w.finished()) continue;
        const std::string_view role = role_of(session().program(), w.index);
        out.push_back({{"id", thread_id({c->index, cta->rank, w.index})}, {"name", name_of(w) + (role.empty() ? "" : fmt::format(" ({})", role))}});
      }
    }
  }
  if (out.empty()) out.push_back({{"id", thread_id(debugger_.focus)}, {"name", "the launch is over"}});
  return {{"threads", out}};
}

// ---- frames

Json DapAdapter::source_file(const std::string& path) const {
  namespace fs = std::filesystem;
  const fs::path whole = fs::path(path).is_absolute() ? fs::path(path) : fs::path(source_root_) / path;
  return {{"name", base_name(path)}, {"path", fs::absolute(whole).lexically_normal().string()}};
}

Json DapAdapter::source_of(uint32_t pc, uint32_t& line) {
  const CodeLine& l = debugger_.code().at(pc);
  namespace fs = std::filesystem;
  if (!l.file.empty()) {
    line = l.line;
    return source_file(l.file);
  }
  if (l.ptx_line != 0 && program_.ends_with(".ptx")) {
    line = l.ptx_line;
    return {{"name", base_name(program_)}, {"path", fs::absolute(program_).lexically_normal().string()}};
  }
  line = 0;
  return nullptr;
}

uint64_t DapAdapter::new_handle(Handle h) {
  handles_.push_back(std::move(h));
  return handles_.size();
}

const DapAdapter::Handle& DapAdapter::handle_of(const Json& arguments, const char* key) {
  const auto n = arguments.at(key).get<uint64_t>();
  if (n == 0 || n > handles_.size()) throw DapError{fmt::format("{} {} is of an earlier stop", key, n)};
  return handles_[n - 1];
}

Json DapAdapter::stack_trace(const Json& a) {
  const WarpRef ref = warp_of(a.at("threadId").get<uint64_t>());
  const Warp& w = find_warp(ref);
  Json out = Json::array();
  for (const CallPlace& place : backtrace(w)) {
    uint32_t line = 0;
    Json frame = {{"id", new_handle({Handle::Kind::frame, ref, {}})}, {"column", 1}, {"instructionPointerReference", fmt::format("{:#x}", place.pc * kInstructionBytes)}};
    const std::string text = debugger_.code().at(place.pc).text;
    frame["name"] = fmt::format("{}: {}", place.function, text.substr(0, 60));
    if (Json source = source_of(place.pc, line); !source.is_null()) frame["source"] = std::move(source);
    frame["line"] = line;
    out.push_back(std::move(frame));
    // Calls that were inlined are frames to an editor; they have the registers of the frame they became part of.
    for (const SourcePos& call : debugger_.code().at(place.pc).called_from) {
      out.push_back({{"id", new_handle({Handle::Kind::frame, ref, {}})}, {"name", fmt::format("{} (inlined)", place.function)}, {"source", source_file(call.file)}, {"line", call.line}, {"column", std::max(call.column, 1u)}, {"instructionPointerReference", fmt::format("{:#x}", place.pc * kInstructionBytes)}});
    }
  }
  const size_t total = out.size();
  const auto first = std::min<size_t>(a.value("startFrame", size_t{0}), total);
  const size_t levels = a.value("levels", size_t{0}), last = levels == 0 ? total : std::min(total, first + levels);
  Json page = Json::array();
  for (size_t i = first; i < last; ++i) page.push_back(out[i]);
  return {{"stackFrames", page}, {"totalFrames", total}};
}

Json DapAdapter::scopes(const Json& a) {
  const WarpRef w = handle_of(a, "frameId").warp;
  find_warp(w);
  using K = Handle::Kind;
  Json out = Json::array();
  for (const auto& [name, kind, dear] : {std::tuple{"Registers", K::registers, false}, {"Predicates", K::predicates, false}, {"Special registers", K::special, true}, {"mbarriers", K::mbarriers, false}, {"Shared memory", K::shared, false}, {"Tensor memory", K::tensor, false}, {"TMA in flight", K::copies, false}, {"In flight", K::async, false}}) {
    Json scope = {{"name", name}, {"variablesReference", new_handle({kind, w, {}})}, {"expensive", dear}};
    if (kind == K::registers) scope["presentationHint"] = "registers";
    out.push_back(std::move(scope));
  }
  return {{"scopes", out}};
}

// ---- variables

Json DapAdapter::variables(const Json& a) {
  const Handle h = handle_of(a, "variablesReference");
  const Warp& w = find_warp(h.warp);
  const Cluster& c = *w.cta->cluster;
  Json out = Json::array();
  const auto add_register = [&](const RegisterRef& r) {
    const auto lanes = read_register(w, r);
    const ValueType type = r.predicate ? parse_value_type("u8") : r.special.has_value() ? parse_value_type("u64")
                                                                                        : type_of_register(r.declared);
    const bool uniform = std::all_of(lanes.begin(), lanes.end(), [&](uint64_t v) { return v == lanes[0]; });
    std::string value = print_value(type, lanes[0]);
    if (!uniform) value += fmt::format(", {}, {}, …", print_value(type, lanes[1]), print_value(type, lanes[2]));
    if (is_register_pending(w, r)) value += " (in flight)";
    Json v = variable(r.name, value, uniform ? 0 : new_handle({Handle::Kind::lanes, h.warp, r.name}));
    v["type"] = r.predicate ? "pred" : type.name;
    if (!r.predicate && r.bits == 64) v["memoryReference"] = fmt::format("{:#x}", lanes[0]);
    out.push_back(std::move(v));
  };
  switch (h.kind) {
    case Handle::Kind::registers:
    case Handle::Kind::predicates:
      for (const RegisterRef& r : registers_of(w)) {
        if (r.predicate == (h.kind == Handle::Kind::predicates)) add_register(r);
      }
      break;
    case Handle::Kind::special:
      for (const char* name : {"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%cluster_ctarank", "%laneid", "%warpid", "%smid", "%clock"}) add_register(find_register(w, name));
      break;
    case Handle::Kind::mbarriers:
      for (const Smem::Slot& s : w.cta->smem.mbarriers()) {
        if (!s.barrier.live) continue;
        std::string text = fmt::format("phase {}, {} of {} arrivals missing, {} bytes missing", s.barrier.phase, s.barrier.pending, s.barrier.expected, s.barrier.tx);
        for (const Warp* waiting : waiters(c, cluster_address(w.cta->rank, s.offset))) text += fmt::format(", warp {} waits", waiting->index);
        Json v = variable(fmt::format("{:#x}", s.offset), text);
        v["memoryReference"] = fmt::format("{:#x}", window::generic(window::kSharedHigh, cluster_address(w.cta->rank, s.offset)));
        out.push_back(std::move(v));
      }
      break;
    case Handle::Kind::lanes: {
      const RegisterRef r = find_register(w, h.name);
      const auto lanes = read_register(w, r);
      const ValueType type = r.predicate ? parse_value_type("u8") : r.special.has_value() ? parse_value_type("u64")
                                                                                          : type_of_register(r.declared);
      for (uint32_t i = 0; i < kWarpSize; ++i) out.push_back(variable(fmt::format("[{}]", i), print_value(type, lanes[i])));
      break;
    }
    case Handle::Kind::async:
    case Handle::Kind::shared:
    case Handle::Kind::shared_block:
    case Handle::Kind::tensor:
    case Handle::Kind::tensor_block:
    case Handle::Kind::tensor_column:
    case Handle::Kind::copies: out = memory_variables(h, w).value(); break;
    case Handle::Kind::frame: break;
  }
  const auto first = std::min<size_t>(a.value("start", size_t{0}), out.size());
  const size_t count = a.value("count", size_t{0});
  if (first == 0 && count == 0) return {{"variables", out}};
  return {{"variables", Json(out.begin() + static_cast<ptrdiff_t>(first), count == 0 ? out.end() : out.begin() + static_cast<ptrdiff_t>(std::min(out.size(), first + count)))}};
}

// In the debug console every command of `drywell step` works; elsewhere expressions do.
Json DapAdapter::evaluate(const Json& a) {
  const std::string text = a.at("expression").get<std::string>();
  if (a.contains("frameId")) debugger_.focus = handle_of(a, "frameId").warp;
  if (a.value("context", "") != "repl") {
    const double v = Expression::parse(text).evaluate(session(), find_warp(debugger_.focus), debugger_.lane);
    return {{"result", fmt::format("{:.15g}", v)}, {"variablesReference", 0}};
  }
  const uint64_t before = session().position();
  const std::string said = shell_.execute(text);
  if (shell_.done()) left_ = true;
  if (session().position() != before) {
    motion_name_ = "step";
    motion_ = []() -> StopReason { return {}; };  // tells the client that everything is elsewhere now
  }
  return {{"result", said}, {"variablesReference", 0}};
}

// ---- memory and code

// References are generic addresses: global memory as it is, shared memory in its window.
Json DapAdapter::read_memory(const Json& a) {
  const uint64_t address = parse_reference(a.at("memoryReference").get<std::string>()) + static_cast<uint64_t>(a.value("offset", int64_t{0}));
  const uint64_t count = std::min<uint64_t>(a.at("count").get<uint64_t>(), 1 << 20);
  const uint8_t* p = nullptr;
  uint64_t there = 0;
  if (address >> 32 == window::kSharedHigh) {
    const auto at = static_cast<uint32_t>(address);
    const Cluster& c = *find_warp(debugger_.focus).cta->cluster;
    if (shared_rank(at) < c.ctas.size()) {
      const Smem& smem = c.ctas[shared_rank(at)]->smem;
      there = std::min<uint64_t>(count, smem.size() - std::min(smem.size(), shared_offset(at)));
      p = smem.data() + shared_offset(at);
    }
  } else if (const auto* allocation = session().launch().gmem->find(address); allocation != nullptr) {
    there = std::min(count, allocation->size - (address - allocation->base));
    p = allocation->data + (address - allocation->base);
  }
  Json body = {{"address", fmt::format("{:#x}", address)}};
  if (there != 0) body["data"] = base64(p, there);
  if (there < count) body["unreadableBytes"] = count - there;
  return body;
}

Json DapAdapter::disassemble(const Json& a) {
  const uint64_t base = parse_reference(a.at("memoryReference").get<std::string>()) + static_cast<uint64_t>(a.value("offset", int64_t{0}));
  const int64_t first = static_cast<int64_t>(base / kInstructionBytes) + a.value("instructionOffset", int64_t{0});
  const int64_t count = std::clamp<int64_t>(a.at("instructionCount").get<int64_t>(), 0, 100'000), end = debugger_.code().size();
  Json out = Json::array();
  for (int64_t pc = first; pc < first + count; ++pc) {
    Json i = {{"address", fmt::format("{:#x}", static_cast<uint64_t>(std::max<int64_t>(pc, 0)) * kInstructionBytes)}};
    if (pc < 0 || pc >= end) {
      i["instruction"] = "";
      i["presentationHint"] = "invalid";
    } else {
      uint32_t line = 0;
      i["instruction"] = debugger_.code().at(static_cast<uint32_t>(pc)).text;
      if (const auto labels = debugger_.code().labels_at(static_cast<uint32_t>(pc)); !labels.empty()) i["symbol"] = labels[0];
      if (Json source = source_of(static_cast<uint32_t>(pc), line); !source.is_null()) {
        i["location"] = std::move(source);
        i["line"] = line;
      }
    }
    out.push_back(std::move(i));
  }
  return {{"instructions", out}};
}

Json DapAdapter::loaded_sources(const Json&) {
  std::set<std::string> seen;
  Json out = Json::array();
  for (uint32_t pc = 0; pc < debugger_.code().size(); ++pc) {
    uint32_t line = 0;
    Json source = source_of(pc, line);
    if (!source.is_null() && seen.insert(source["path"].get<std::string>()).second) out.push_back(std::move(source));
  }
  return {{"sources", out}};
}

}  // namespace drywell::sim::dap
