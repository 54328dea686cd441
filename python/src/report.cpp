#include "python/src/report.h"

#include "drywell/sim/hang_picture.h"
#include "drywell/sim/report.h"

namespace drywell::python {
namespace {

nb::dict unit(const sim::UnitTime& u) {
  nb::dict out;
  out["name"] = text(u.name);
  out["instances"] = u.instances;
  out["busy_cycles"] = u.busy_cycles;
  out["utilisation"] = u.utilisation;
  out["work"] = u.work;
  out["work_unit"] = text(u.work_unit);
  return out;
}

nb::dict role(const sim::RoleTime& r) {
  nb::dict stalls;
  for (size_t i = 0; i < sim::kStallCount; ++i) {
    if (r.cycles[i] != 0) stalls[text(sim::stall_name(static_cast<sim::Stall>(i)))] = r.cycles[i];
  }
  nb::dict out;
  out["name"] = text(r.name);
  out["warps"] = r.warps;
  out["instructions"] = r.instructions;
  out["stalls"] = stalls;
  return out;
}

nb::dict limit(const sim::Limit& l) {
  nb::dict out;
  out["name"] = text(l.name);
  out["cycles"] = l.cycles;
  out["fraction"] = l.fraction;
  out["what"] = text(l.what);
  return out;
}

nb::dict line(const sim::LineTime& l) {
  nb::dict out;
  out["file"] = text(l.file);
  out["line"] = l.line;
  out["instructions"] = l.instructions;
  out["cycles"] = l.cycles;
  return out;
}

template <class T, class F>
nb::list list_of(const std::vector<T>& all, F convert) {
  nb::list out;
  for (const T& x : all) out.append(convert(x));
  return out;
}

nb::dict place(const sim::GuestPlace& w) {
  nb::dict out;
  out["kernel"] = text(w.kernel);
  out["function"] = text(w.function.empty() ? w.kernel : w.function);
  out["cta"] = nb::make_tuple(w.cta.x, w.cta.y, w.cta.z);
  out["warp"] = w.warp;
  out["lanes"] = w.lanes;
  out["instruction"] = text(w.ptx);
  out["index"] = w.instruction;
  out["source"] = position(w.source);
  out["inlined_at"] = list_of(w.called_from, position);
  return out;
}

nb::object party(const sim::FindingParty& p) {
  if (p.role.empty()) return nb::none();
  nb::dict out;
  out["role"] = text(p.role);
  out["when"] = p.when;
  out["place"] = place(p.where);
  return out;
}

nb::dict finding(const sim::Finding& f) {
  nb::dict out;
  out["code"] = text(f.code);
  out["level"] = text(sim::hazard_level_name(f.level));
  out["rule"] = text(f.rule);
  out["memory"] = text(f.memory);
  out["here"] = party(f.here);
  out["other"] = party(f.other);
  out["order"] = text(f.order);
  out["why"] = text(f.why);
  out["fix"] = text(f.fix);
  out["ptx_isa"] = text(f.ptx);
  out["count"] = f.count;
  out["text"] = text(f.to_string());
  return out;
}

nb::dict node(const sim::WaitGraph::Node& n) {
  static constexpr const char* kKinds[] = {"blocked", "barrier", "other"};
  nb::dict out;
  out["kind"] = kKinds[static_cast<size_t>(n.kind)];
  out["lines"] = list_of(n.lines, [](const std::string& s) { return text(s); });
  return out;
}

nb::tuple span(const sim::Timeline::Span& s) {
  return nb::make_tuple(s.from, s.to, text(sim::stall_name(s.state)), s.line);
}

nb::dict track(const sim::Timeline::WarpTrack& w) {
  nb::dict out;
  out["role"] = text(w.role);
  out["spans"] = list_of(w.spans, span);
  return out;
}

nb::dict operation(const sim::Timeline& t, const sim::Timeline::Operation& o) {
  nb::dict out;
  out["unit"] = text(t.units.at(o.unit));
  out["what"] = text(o.what);
  out["warp"] = o.warp;
  out["line"] = text(t.lines.at(o.line));
  out["issued"] = o.issued;
  out["started"] = o.started;
  out["done"] = o.done;
  return out;
}

}  // namespace

nb::dict timing_dict(const sim::TimingReport& t) {
  nb::dict out;
  out["cycles"] = t.cycles;
  out["clock_ghz"] = t.clock_ghz;
  out["seconds"] = t.seconds;
  out["launch_seconds"] = t.launch_seconds;
  out["sms"] = t.sms;
  out["sms_used"] = t.sms_used;
  out["ctas_per_sm"] = t.ctas_per_sm;
  out["residency_limit"] = text(t.residency_limit);
  out["hbm_bytes_read"] = t.hbm_bytes_read;
  out["hbm_bytes_written"] = t.hbm_bytes_written;
  out["units"] = list_of(t.units, unit);
  out["roles"] = list_of(t.roles, role);
  out["limits"] = list_of(t.limits, limit);
  out["lines"] = list_of(t.lines, line);
  out["text"] = text(sim::to_text(t));
  return out;
}

nb::dict fault_dict(const sim::Fault& f) {
  nb::dict out;
  out["code"] = text(code_name(f.code));
  out["message"] = text(f.message);
  out["place"] = place(f.where);
  out["text"] = text(f.to_string());
  return out;
}

nb::list findings_list(const std::vector<sim::Finding>& findings) { return list_of(findings, finding); }

nb::dict wait_graph_dict(const sim::WaitGraph& g) {
  nb::dict out;
  out["nodes"] = list_of(g.nodes, node);
  out["edges"] = list_of(
      g.edges, [](const sim::WaitGraph::Edge& e) { return nb::make_tuple(e.from, e.to, text(e.label)); });
  out["svg"] = g.nodes.empty() ? text("") : text(sim::hang_svg(g));
  return out;
}

nb::dict timeline_dict(const sim::Timeline& t) {
  nb::dict out;
  out["cta"] = nb::make_tuple(t.cta.x, t.cta.y, t.cta.z);
  out["seen"] = t.seen;
  out["truncated"] = t.truncated;
  out["from"] = t.from;
  out["to"] = t.to;
  out["warps"] = list_of(t.warps, track);
  out["lines"] = list_of(t.lines, [](const std::string& s) { return text(s); });
  out["operations"] =
      list_of(t.operations, [&](const sim::Timeline::Operation& o) { return operation(t, o); });
  out["levels"] = list_of(t.levels, [](const sim::Timeline::Level& l) {
    return nb::make_tuple(l.at, l.smem, l.arriving, l.tmem);
  });
  return out;
}

}  // namespace drywell::python
