#include "sim/inspect/trace_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>

#include "drywell/core/error.h"
#include "sim/observe/trace_reader.h"

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

Trace read_timed(std::string_view text, const std::string& name) {
  Trace t = read_trace_text(text, name);
  if (t.header.profile != TraceProfile::cycle)
    throw InputError("E4202", fmt::format("{}: a trace without cycles has no timeline", name), "drywell trace record … --profile cycle");
  return t;
}

std::string_view word(std::string_view text, size_t n) {
  std::string_view out;
  for (size_t i = 0; i <= n; ++i) out = next_token(text);
  return out;
}

/// "cta=0.0.0 w=1 q=tma:5" in parts.
struct OwnerName {
  std::string launch = "1", cta, warp, unit;
  explicit OwnerName(std::string_view name) {
    for (std::string_view t = next_token(name); !t.empty(); t = next_token(name)) {
      if (t.starts_with("launch=")) launch = t.substr(7);
      if (t.starts_with("cta=")) cta = t.substr(4);
      if (t.starts_with("w=")) warp = t.substr(2);
      if (t.starts_with("q=")) unit = t.substr(2, t.find(':') - 2);
      if (t.starts_with("mbar=")) unit = std::string(t);
    }
  }
};

/// A piece of a timeline.
struct Piece {
  std::string name, source;
  uint64_t from = 0, to = 0;  // [from, to)
};

/// What an owner did when: instructions a cycle each, stalls as long as they say, an operation from its first to its last record.
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

/// Arrows from the instruction that issued an operation to its end, and on to the first wait its mbarrier let go on.
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
      // Arrows need a slice to hold on to where the operation ends.
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
  // Addresses of shared memory have the CTA's rank above their 24 bits of offset.
  static std::string barrier_key(const std::string& cta, std::string_view address) {
    if (!address.starts_with("0x")) return "";
    uint32_t value = 0;
    std::from_chars(address.data() + 2, address.data() + address.size(), value, 16);
    return fmt::format("{} {:#x}", cta, value & 0xFFFFFF);
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
    const int pid = number(processes, cta, "process_name", cta, 0);
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
  return out + "\n]}\n";
}

namespace {

/// Rows of the picture: "w 1", "w 1 tma", in that order.
using TimelineRows = std::map<std::string, std::vector<Piece>>;

TimelineRows timeline_rows(const Trace& t, const std::string& cta) {
  TimelineRows rows;
  for (const TraceOwner& o : t.owners) {
    const OwnerName n(o.name);
    if (n.cta != cta || n.warp.empty() || n.launch != "1") continue;
    for (Piece& p : pieces_of(t, o)) {
      if (!n.unit.empty()) p.name = n.unit + ": " + std::string(word(p.name, 0));
      else if (!p.name.starts_with("stall: ")) p.name = "issues";
      rows[fmt::format("w{:>2}{}{}", n.warp, n.unit.empty() ? "" : " ", n.unit)].push_back(std::move(p));
    }
  }
  return rows;
}

/// Columns of equal time.
struct TimeAxis {
  uint64_t from, to;
  size_t columns;
  uint64_t edge(size_t c) const { return from + (to - from) * c / columns; }
  size_t column_of(uint64_t cycle) const { return static_cast<size_t>((std::max(cycle, from) - from) * columns / std::max<uint64_t>(1, to - from)); }
};

/// Cycles of each column by what fills them.
std::vector<std::map<std::string, uint64_t>> fill(const std::vector<Piece>& pieces, const TimeAxis& x) {
  std::vector<std::map<std::string, uint64_t>> filled(x.columns);
  for (const Piece& p : pieces) {
    if (p.to <= x.from || p.from >= x.to) continue;
    for (size_t c = x.column_of(p.from); c < x.columns && x.edge(c) < p.to; ++c)
      filled[c][p.name] += std::min(p.to, x.edge(c + 1)) - std::min(std::max(p.from, x.edge(c)), x.edge(c + 1));
  }
  return filled;
}

char letter_of(int key) { return static_cast<char>(key < 26 ? 'a' + key : 'A' + key % 26); }

/// A row's cells: the letter of what filled most of each column.
void draw_row(layout::Grid& g, size_t row, const std::vector<Piece>& pieces, const TimeAxis& x, std::map<std::string, int>& keys) {
  const auto filled = fill(pieces, x);
  for (size_t c = 0; c < x.columns; ++c) {
    const auto most = std::max_element(filled[c].begin(), filled[c].end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == filled[c].end()) continue;
    const auto [it, fresh] = keys.try_emplace(most->first, static_cast<int>(keys.size()));
    if (fresh) g.key_labels.push_back(fmt::format("{} {}", letter_of(it->second), most->first));
    layout::Cell& cell = g.at(row, c);
    cell.key = it->second;
    cell.text = std::string(1, letter_of(it->second));
    cell.tip = fmt::format("{}, cycles {} to {}:", g.row_labels[row], x.edge(c), x.edge(c + 1));
    for (const auto& [what, cycles] : filled[c]) cell.tip += fmt::format(" {} {};", what, cycles);
  }
}

}  // namespace

layout::Grid trace_timeline(std::string_view trace, const std::string& name, const TimelineOptions& options) {
  const TimelineRows rows = timeline_rows(read_timed(trace, name), options.cta);
  uint64_t last = 0;
  for (const auto& [row, pieces] : rows)
    for (const Piece& p : pieces) last = std::max(last, p.to);
  const uint64_t to = options.to != 0 ? options.to : last, from = std::min(options.from, to);
  const TimeAxis x{from, to, std::max<size_t>(1, std::min<size_t>(options.columns, std::max<uint64_t>(1, to - from)))};
  layout::Grid g;
  g.title = fmt::format("CTA {}, cycles {} to {}, {:.1f} a column", options.cta, from, to, static_cast<double>(to - from) / static_cast<double>(x.columns));
  g.key_name = "what";
  g.rows = rows.size();
  g.columns = x.columns;
  g.cells.resize(g.rows * g.columns);
  for (const auto& [row, pieces] : rows) g.row_labels.push_back(row);
  std::map<std::string, int> keys;
  size_t r = 0;
  for (const auto& [row, pieces] : rows) draw_row(g, r++, pieces, x, keys);
  g.key_count = static_cast<int>(keys.size());
  // A label every eight columns, of whole cycles.
  for (size_t c = 0; c < x.columns; c += 8) g.ticks.push_back({c, fmt::format("{}", x.edge(c))});
  for (const std::string& label : g.key_labels) g.note += (g.note.empty() ? "" : ", ") + label;
  return g;
}

}  // namespace drywell::sim
