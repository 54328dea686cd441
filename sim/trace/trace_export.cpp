#include "drywell/sim/trace_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>

#include "sim/state/cta.h"
#include "sim/trace/trace_pieces.h"

namespace drywell::sim {
namespace {

std::string quoted(std::string_view text, bool json) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += json ? "\\\"" : "\"\"";
    else if (c == '\\' && json) out += "\\\\";
    else if (static_cast<unsigned char>(c) < 0x20 && json) out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else out += c;
  }
  return out + "\"";
}

}  // namespace

std::string trace_to_csv(std::string_view trace, const std::string& name) {
  const Trace t = read_trace_text(trace, name);
  std::string out = "owner,cycle,kind,record,source\n";
  for (const TraceOwner& o : t.owners) {
    for (const TraceRecord& r : o.records)
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{}\n", quoted(o.name, false), t.header.profile == TraceProfile::cycle ? fmt::format("{}", r.cycle) : "",
                     word(r.text, 0), quoted(r.text, false), quoted(t.source_of(o, r), false));
  }
  return out;
}

namespace {

/// A place on the timeline: a thread of a process at a cycle.
struct Point {
  int pid = 0, tid = 0;
  uint64_t at = 0;
};

/// Arrows from the instruction that issued an operation to its completion, and from there to the first wait that its mbarrier
/// ended.
class Flows {
 public:
  /// `begin`: the operation's first record, which names its mbarrier.
  void operation(const std::string& cta, const Point& issue, const Point& end, std::string_view begin) {
    operations_.push_back({barrier_key(cta, field_of(begin, "mbar")), issue, end});
  }
  void wait(const std::string& cta, const Point& at, std::string_view record) { waits_[barrier_key(cta, field_of(record, "mbar"))].push_back(at); }

  template <class Emit>
  void emit(const Emit& event) {
    for (auto& [key, points] : waits_) std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.at < b.at; });
    uint64_t id = 0;
    for (const Operation& o : operations_) {
      const auto part = [&](char ph, const Point& p) {
        event(fmt::format(R"({{"ph":"{}","bp":"e","id":{},"name":"flow","cat":"flow","pid":{},"tid":{},"ts":{}}})", ph, id, p.pid, p.tid, p.at));
      };
      ++id;
      const Point* waiter = nullptr;
      if (const auto it = waits_.find(o.barrier); !o.barrier.empty() && it != waits_.end()) {
        const auto at = std::find_if(it->second.begin(), it->second.end(), [&](const Point& p) { return p.at >= o.end.at; });
        if (at != it->second.end()) waiter = &*at;
      }
      part('s', o.issue);
      // An arrow needs a slice at the operation's end.
      event(fmt::format(R"({{"ph":"X","name":"done","cat":"done","pid":{},"tid":{},"ts":{},"dur":1}})", o.end.pid, o.end.tid, o.end.at));
      part(waiter != nullptr ? 't' : 'f', o.end);
      if (waiter != nullptr) part('f', *waiter);
    }
  }

 private:
  struct Operation {
    std::string barrier;
    Point issue, end;
  };
  // An address of shared memory has the CTA's rank above its 24 bits of offset.
  static std::string barrier_key(const std::string& cta, std::string_view address) {
    if (!address.starts_with("0x")) return "";
    uint32_t value = 0;
    std::from_chars(address.data() + 2, address.data() + address.size(), value, 16);
    return fmt::format("{} {:#x}", cta, shared_offset(value));
  }
  std::vector<Operation> operations_;
  std::map<std::string, std::vector<Point>> waits_;
};

}  // namespace

std::string trace_to_perfetto(std::string_view trace, const std::string& name) {
  const Trace t = read_timed(trace, name);
  std::map<std::string, int> processes, threads;
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const auto event = [&](const std::string& text) { out += (out.ends_with("[\n") ? "" : ",\n") + text; };
  const auto number = [&](std::map<std::string, int>& known, const std::string& key, std::string_view kind, std::string_view label, int pid) {
    const auto [it, fresh] = known.try_emplace(key, static_cast<int>(known.size()) + 1);
    if (fresh)
      event(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", kind, pid != 0 ? pid : it->second, it->second, quoted(label, true)));
    return it->second;
  };
  uint64_t id = 0;
  Flows flows;
  for (const TraceOwner& o : t.owners) {
    const OwnerName n(o.name);
    const std::string cta = "launch " + n.launch + ", CTA " + n.cta;
    const int pid = number(processes, cta, "process_name", cta + " (1 us is 1 cycle)", 0);
    const std::string row = n.warp.empty() ? n.unit : "warp " + n.warp + (n.unit.empty() ? "" : " " + n.unit);
    const int tid = number(threads, cta + row, "thread_name", row, pid);
    for (const Piece& p : pieces_of(t, o)) {
      const std::string common = fmt::format(R"("name":{},"cat":{},"pid":{},"tid":{})", quoted(p.name, true), quoted(n.unit.empty() ? "warp" : n.unit, true), pid, tid);
      if (n.unit.empty()) {
        event(fmt::format(R"({{"ph":"X",{},"ts":{},"dur":{},"args":{{"source":{}}}}})", common, p.from, p.to - p.from, quoted(p.source, true)));
        continue;
      }
      // Operations of one unit overlap: asynchronous spans.
      ++id;
      event(fmt::format(R"({{"ph":"b",{},"id":{},"ts":{},"args":{{"source":{}}}}})", common, id, p.from, quoted(p.source, true)));
      event(fmt::format(R"({{"ph":"e",{},"id":{},"ts":{}}})", common, id, p.to));
      if (n.warp.empty() || o.records.back().text != "E") continue;
      const int issuer = number(threads, cta + "warp " + n.warp, "thread_name", "warp " + n.warp, pid);
      flows.operation(cta, {pid, issuer, p.from}, {pid, tid, p.to}, o.records.front().text);
    }
    for (const TraceRecord& r : o.records) {
      if (n.warp.empty() && r.text.starts_with("M complete "))
        event(fmt::format(R"({{"ph":"i","s":"t","name":{},"pid":{},"tid":{},"ts":{}}})", quoted(r.text, true), pid, tid, r.cycle));
      if (n.unit.empty() && r.text.starts_with("M wait")) flows.wait(cta, {pid, tid, r.cycle}, r.text);
    }
  }
  flows.emit(event);
  return out + "\n],\"otherData\":{\"time\":\"a microsecond of this timeline is a cycle\"}}\n";
}

}  // namespace drywell::sim
