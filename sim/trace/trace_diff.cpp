// Reads traces and compares them owner by owner (format: traces/README.md).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "drywell/core/error.h"
#include "drywell/sim/trace.h"
#include "sim/trace/trace_reader.h"

namespace drywell::sim {
namespace {

/// The record without the fields that are not compared: pc=, and in the arch profile an mbarrier's running counts.
std::string comparable(const TraceRecord& r, TraceProfile profile) {
  std::string out;
  std::string_view rest = r.text;
  while (true) {
    const std::string_view token = next_token(rest);
    if (token.empty()) return out;
    if (token.starts_with("pc=")) continue;
    if (profile == TraceProfile::arch && r.text.starts_with("M ") &&
        (token.starts_with("pending=") || token.starts_with("tx=")))
      continue;
    if (!out.empty()) out += ' ';
    out += token;
  }
}

/// "d=0x10 became d=0x20, …": the different words of two records of one kind; empty for records of different kinds.
std::string changed_words(const TraceRecord& a, const TraceRecord& b, TraceProfile profile) {
  const std::string left = comparable(a, profile), right = comparable(b, profile);
  std::string_view x = left, y = right;
  if (next_token(x) != next_token(y)) return {};
  std::string out;
  const auto add = [&](std::string text) { out += (out.empty() ? "" : ", ") + text; };
  while (true) {
    const std::string_view i = next_token(x), j = next_token(y);
    if (i.empty() && j.empty()) return out;
    if (i == j) continue;
    add(i.empty() ? fmt::format("{} is new", j) : j.empty() ? fmt::format("{} is gone", i)
                                                            : fmt::format("{} became {}", i, j));
  }
}

uint64_t phase_of(const TraceRecord& r) {
  const size_t at = r.text.find(" phase=");
  return at == std::string_view::npos ? 0 : number_after(r.text.substr(at), 7);
}

/// Sorts the events of each phase of an mbarrier: in the arch profile their order is not fixed.
void order_phases(TraceOwner& o) {
  if (o.name.find("mbar=") == std::string::npos) return;
  for (size_t first = 0; first < o.records.size();) {
    size_t last = first;
    const bool fixed =
        o.records[first].text.starts_with("M init") || o.records[first].text.starts_with("M inval");
    while (++last < o.records.size() && !fixed && phase_of(o.records[last]) == phase_of(o.records[first]) &&
           !o.records[last].text.starts_with("M init") && !o.records[last].text.starts_with("M inval")) {
    }
    std::stable_sort(o.records.begin() + static_cast<ptrdiff_t>(first),
                     o.records.begin() + static_cast<ptrdiff_t>(last), [](const TraceRecord& a, const TraceRecord& b) {
                       return comparable(a, TraceProfile::arch) < comparable(b, TraceProfile::arch);
                     });
    first = last;
  }
}

constexpr std::string_view kAttempt = "I mbarrier.try_wait", kSeen = "M wait";

std::string_view pc_of(std::string_view text) {
  const size_t at = text.find(" pc=");
  return at == std::string_view::npos ? std::string_view() : text.substr(at, text.find(' ', at + 1) - at);
}

/// Takes away the attempts of try_wait that answered false, with what follows until the next attempt at that place: their number is
/// not fixed. An attempt that succeeds comes after the record of the wait.
void drop_retries(TraceOwner& o) {
  std::vector<TraceRecord> kept;
  for (size_t i = 0; i < o.records.size(); ++i) {
    const std::string_view text = o.records[i].text;
    const bool failed = text.starts_with(kAttempt) && (kept.empty() || !kept.back().text.starts_with(kSeen));
    size_t next = i + 1;
    while (failed && next < o.records.size() && !(o.records[next].text.starts_with(kAttempt) && pc_of(o.records[next].text) == pc_of(text))) ++next;
    if (!failed || next == o.records.size()) {
      kept.push_back(o.records[i]);
      continue;
    }
    i = (o.records[next - 1].text.starts_with(kSeen) ? next - 1 : next) - 1;
  }
  o.records = std::move(kept);
}

void normalize(Trace& t) {
  for (TraceOwner& o : t.owners) {
    order_phases(o);
    drop_retries(o);
  }
}

class Comparison {
 public:
  Comparison(Trace a, Trace b, const TraceDiffOptions& options)
      : a_(std::move(a)), b_(std::move(b)), options_(options) {
    if (a_.header.profile != b_.header.profile) {
      throw InputError(
          Code::E4202,
          fmt::format("{} is a trace of the {} profile, {} of the {} profile: they cannot be compared",
                      options_.name_a, trace_profile_name(a_.header.profile), options_.name_b,
                      trace_profile_name(b_.header.profile)));
    }
    if (profile() == TraceProfile::arch) {
      normalize(a_);
      normalize(b_);
    }
  }

  TraceDiff run() {
    TraceDiff d;
    d.records = a_.records;
    d.owners = a_.owners.size();
    static const TraceOwner kNone;
    for (const TraceOwner& o : a_.owners) {
      const TraceOwner* other = b_.find(o.name);
      compare(d, o.name, o, other != nullptr ? *other : kNone);
    }
    for (const TraceOwner& o : b_.owners) {
      if (a_.find(o.name) != nullptr) continue;
      ++d.owners;
      compare(d, o.name, kNone, o);
    }
    if (!d.equal())
      d.message = fmt::format("{}{} of {} owners differ\n{}", faults(), d.differing_owners, d.owners, first_);
    return d;
  }

 private:
  TraceProfile profile() const { return a_.header.profile; }

  /// A run that faulted is the cause of what differs after it: it is said first. Nothing if both ended in the same fault, or none did.
  std::string faults() const {
    const std::string_view a = fault_of(a_), b = fault_of(b_);
    if (a == b) return {};
    std::string out;
    if (!a.empty()) out += fmt::format("{} ended in a fault: {}\n", options_.name_a, a.substr(2));
    if (!b.empty()) out += fmt::format("{} ended in a fault: {}\n", options_.name_b, b.substr(2));
    return out;
  }

  static std::string_view fault_of(const Trace& t) {
    for (const TraceOwner& o : t.owners)
      for (const TraceRecord& r : o.records)
        if (r.text.starts_with("F ")) return r.text;
    return {};
  }

  bool same(const TraceRecord& a, const TraceRecord& b) const {
    if (comparable(a, profile()) != comparable(b, profile())) return false;
    if (profile() == TraceProfile::arch) return true;
    return (a.cycle > b.cycle ? a.cycle - b.cycle : b.cycle - a.cycle) <= options_.cycle_tolerance;
  }

  void compare(TraceDiff& d, const std::string& name, const TraceOwner& a, const TraceOwner& b) {
    size_t i = 0;
    while (i < a.records.size() && i < b.records.size() && same(a.records[i], b.records[i])) ++i;
    if (i == a.records.size() && i == b.records.size()) return;
    ++d.differing_owners;
    // Keeps the difference that is earliest in a's file; owners that a lacks come last.
    const uint32_t line = i < a.records.size() ? a.records[i].line
                          : !a.records.empty() ? a.records.back().line
                                               : ~0u;
    if (!first_.empty() && line >= first_line_) return;
    first_line_ = line;
    first_ = describe(name, a, b, i);
  }

  std::string describe(const std::string& name, const TraceOwner& a, const TraceOwner& b, size_t i) const {
    std::string out = fmt::format("first: {}, record {}\n", name, i);
    const auto show = [&](const std::string& who, const Trace& t, const TraceOwner& o) {
      if (i >= o.records.size()) {
        out += fmt::format("  {}: {}\n", who, o.records.empty() ? "has no such owner" : "ends here");
        return;
      }
      const TraceRecord& r = o.records[i];
      out += fmt::format("  {}:{}: {}{}\n", who, r.line,
                         profile() == TraceProfile::cycle ? fmt::format("c={} ", r.cycle) : "", r.text);
      if (const std::string where = t.explain(o, r); !where.empty()) out += fmt::format("      {}\n", where);
    };
    show(options_.name_a, a_, a);
    show(options_.name_b, b_, b);
    if (i < a.records.size() && i < b.records.size()) {
      if (const std::string words = changed_words(a.records[i], b.records[i], profile()); !words.empty()) out += fmt::format("  that is: {}\n", words);
    }
    const TraceOwner& longer = a.records.size() >= i && !a.records.empty() ? a : b;
    if (i > 0) {
      out += fmt::format("  before it, both: {}\n", longer.records[i - 1].text);
      if (const std::string where = (&longer == &a ? a_ : b_).explain(longer, longer.records[i - 1]); !where.empty()) out += fmt::format("      {}\n", where);
    }
    return out;
  }

  Trace a_, b_;
  TraceDiffOptions options_;
  std::string first_;
  uint32_t first_line_ = 0;
};

}  // namespace

TraceHeader parse_trace_header(std::string_view text, const std::string& name) {
  const auto bad = [&](std::string message) {
    Diagnostics d;
    d.error(Code::E4202, {name, 1, 0}, std::move(message));
    throw InputError(std::move(d));
  };
  if (!text.starts_with("# trace 1\n")) bad("not a Drywell trace of version 1");
  TraceHeader h;
  while (text.starts_with("#") && !text.starts_with("# code")) {
    std::string_view rest = text.substr(1, text.find('\n') - 1);
    const std::string_view word = next_token(rest);
    const std::string_view value = rest.substr(std::min<size_t>(rest.size(), 1));
    if (word == "profile") {
      if (value != "arch" && value != "cycle") bad(fmt::format("unknown profile '{}'", value));
      h.profile = value == "arch" ? TraceProfile::arch : TraceProfile::cycle;
    }
    if (word == "values") h.values = value == "yes";
    if (word == "run") h.run = value;
    if (word == "arch") h.arch = value;
    const size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return h;
}

TraceDiff diff_traces(std::string_view a, std::string_view b, const TraceDiffOptions& options) {
  return Comparison(read_trace_text(a, options.name_a), read_trace_text(b, options.name_b), options).run();
}

}  // namespace drywell::sim
