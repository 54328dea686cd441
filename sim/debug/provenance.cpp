#include "sim/debug/provenance.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/core/error.h"
#include "sim/debug/describe.h"
#include "sim/debug/write_probe.h"

namespace drywell::sim {
namespace {

/// The position after the step that read the operands of operation `op`.
uint64_t read_position(Debugger& d, uint64_t cluster, uint64_t op, uint64_t last) {
  Stops none;
  bool stopped = false;
  Session& s = d.session();
  const auto found = d.scan_back(
      none,
      [&] {
        const StepRecord& r = s.last();
        return r.kind == StepRecord::Kind::moment && r.moment == AsyncMoment::read && r.op == op && r.who.cluster == cluster;
      },
      1, last, stopped);
  return found.has_value() ? found->position : last;
}

}  // namespace

std::optional<Provenance> find_write(Debugger& d, const Place& place, uint64_t position) {
  Session& s = d.session();
  const uint64_t here = s.position();
  WriteProbe probe(s, place);
  Stops changes;  // predicates are watched for changes: no event reports their writes
  if (probe.is_predicate()) changes.add(place, {});
  bool stopped = false;
  s.attach(probe);
  const auto found = d.scan_back(
      changes, [&] { return probe.take(); }, 1, position, stopped);
  std::optional<Provenance> out;
  if (found.has_value()) {
    // Repeats the step for its details: the search continued after it.
    s.seek(found->position - 1);
    s.step();
    out.emplace();
    out->position = out->read_position = found->position;
    out->step = s.last();
    if (out->step.kind == StepRecord::Kind::moment) {
      out->origins = probe.origins();
      out->accumulates = probe.accumulates();
    }
    if (!probe.is_predicate()) out->detail = probe.detail();
  }
  s.detach(probe);
  if (out.has_value() && !out->origins.empty()) out->read_position = read_position(d, out->step.who.cluster, out->step.op, out->position);
  s.seek(here);
  return out;
}

std::string describe_place(const Session& s, const Place& p, const WarpRef& own) {
  const auto of = [&](const WarpRef& cta) { return cta.cluster == own.cluster && cta.cta == own.cta ? std::string() : fmt::format(" of CTA rank {}", cta.cta); };
  const auto run = [](uint64_t first, uint64_t count) { return count <= 1 ? fmt::format("{}", first) : fmt::format("{}..{}", first, first + count - 1); };
  if (const auto* w = std::get_if<WatchSmem>(&p)) return fmt::format("SMEM {:#x}..{:#x}{}", w->offset, w->offset + w->bytes - 1, of(w->cta));
  if (const auto* w = std::get_if<WatchGmem>(&p)) return fmt::format("GMEM {}", describe_gmem(*s.launch().gmem, w->address));
  if (const auto* w = std::get_if<WatchTmem>(&p)) return fmt::format("TMEM lane {} column {}{}", run(w->lane, w->lanes), run(w->column, w->columns), of(w->cta));
  const auto* w = std::get_if<WatchRegister>(&p);
  return w == nullptr ? std::string() : fmt::format("{} of warp {}", w->name, w->warp.warp);
}

}  // namespace drywell::sim
