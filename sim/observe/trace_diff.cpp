// Reads traces and compares them owner by owner (format: traces/README.md).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/sim/trace.h"

namespace drywell::sim {
namespace {

std::string_view next_token(std::string_view& rest) {
  const size_t start = rest.find_first_not_of(' ');
  if (start == std::string_view::npos) return rest = {};
  rest.remove_prefix(start);
  const std::string_view token = rest.substr(0, rest.find(' '));
  rest.remove_prefix(token.size());
  return token;
}

uint64_t number_after(std::string_view token, size_t prefix) {
  uint64_t v = 0;
  std::from_chars(token.data() + prefix, token.data() + token.size(), v);
  return v;
}

struct Record {
  std::string_view text;  // from the kind letter on
  uint64_t cycle = 0;
  uint32_t line = 0;  // in the file, from 1
};

struct Owner {
  std::string name;
  std::vector<Record> records;
};

/// A trace cut into owners, in the order they appear.
struct Trace {
  TraceHeader header;
  std::vector<Owner> owners;
  std::unordered_map<std::string, size_t> index;
  // Per launch and pc: "file:line instruction".
  std::unordered_map<std::string, std::string_view> code;
  uint64_t records = 0;

  const Owner* find(const std::string& name) const {
    const auto it = index.find(name);
    return it == index.end() ? nullptr : &owners[it->second];
  }
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text) {
    trace_.header = parse_trace_header(text, name);
  }

  Trace read() {
    uint32_t number = 0;
    while (!text_.empty()) {
      const size_t end = text_.find('\n');
      const std::string_view line = text_.substr(0, end);
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      ++number;
      if (line.starts_with('#')) {
        comment(line.substr(1));
      } else if (!line.empty()) {
        record(line, number);
      }
    }
    return std::move(trace_);
  }

 private:
  void comment(std::string_view rest) {
    const std::string_view word = next_token(rest);
    if (word == "kernel") {
      ++launch_;
    } else if (word == "code") {
      const std::string_view pc = next_token(rest);
      trace_.code[fmt::format("{}:{}", launch_, pc)] = rest;
    }
  }

  // Owner tokens come first; n= and c= follow; the rest is the record.
  void record(std::string_view line, uint32_t number) {
    std::string owner = launch_ > 1 ? fmt::format("launch={} ", launch_) : "";
    Record r{{}, 0, number};
    std::string_view rest = line;
    while (true) {
      std::string_view after = rest;
      const std::string_view token = next_token(after);
      if (token.starts_with("cta=") || token.starts_with("w=") || token.starts_with("q=") ||
          token.starts_with("mbar=")) {
        if (!owner.empty() && owner.back() != ' ') owner += ' ';
        owner += token;
      } else if (token.starts_with("c=")) {
        r.cycle = number_after(token, 2);
      } else if (!token.starts_with("n=")) {
        break;
      }
      rest = after;
    }
    r.text = rest.substr(std::min(rest.size(), rest.find_first_not_of(' ')));
    const auto [it, added] = trace_.index.try_emplace(owner, trace_.owners.size());
    if (added) trace_.owners.push_back({owner, {}});
    trace_.owners[it->second].records.push_back(r);
    ++trace_.records;
  }

  std::string_view text_;
  Trace trace_;
  uint32_t launch_ = 0;
};

/// The record without what is not compared: pc=, and in the arch profile an mbarrier's running counts.
std::string comparable(const Record& r, TraceProfile profile) {
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

uint64_t phase_of(const Record& r) {
  const size_t at = r.text.find(" phase=");
  return at == std::string_view::npos ? 0 : number_after(r.text.substr(at), 7);
}

/// In the arch profile the events of one phase of an mbarrier come in any order: sorts them.
void order_phases(Owner& o) {
  if (o.name.find("mbar=") == std::string::npos) return;
  for (size_t first = 0; first < o.records.size();) {
    size_t last = first;
    const bool fixed =
        o.records[first].text.starts_with("M init") || o.records[first].text.starts_with("M inval");
    while (++last < o.records.size() && !fixed && phase_of(o.records[last]) == phase_of(o.records[first]) &&
           !o.records[last].text.starts_with("M init") && !o.records[last].text.starts_with("M inval")) {
    }
    std::stable_sort(o.records.begin() + static_cast<ptrdiff_t>(first),
                     o.records.begin() + static_cast<ptrdiff_t>(last), [](const Record& a, const Record& b) {
                       return comparable(a, TraceProfile::arch) < comparable(b, TraceProfile::arch);
                     });
    first = last;
  }
}

class Comparison {
 public:
  Comparison(Trace a, Trace b, const TraceDiffOptions& options)
      : a_(std::move(a)), b_(std::move(b)), options_(options) {
    if (a_.header.profile != b_.header.profile) {
      throw InputError(
          "E4202",
          fmt::format("{} is a trace of the {} profile, {} of the {} profile: they cannot be compared",
                      options_.name_a, trace_profile_name(a_.header.profile), options_.name_b,
                      trace_profile_name(b_.header.profile)));
    }
    if (profile() == TraceProfile::arch) {
      for (Owner& o : a_.owners) order_phases(o);
      for (Owner& o : b_.owners) order_phases(o);
    }
  }

  TraceDiff run() {
    TraceDiff d;
    d.records = a_.records;
    d.owners = a_.owners.size();
    static const Owner kNone;
    for (const Owner& o : a_.owners) {
      const Owner* other = b_.find(o.name);
      compare(d, o.name, o, other != nullptr ? *other : kNone);
    }
    for (const Owner& o : b_.owners) {
      if (a_.find(o.name) != nullptr) continue;
      ++d.owners;
      compare(d, o.name, kNone, o);
    }
    if (!d.equal())
      d.message = fmt::format("{} of {} owners differ\n{}", d.differing_owners, d.owners, first_);
    return d;
  }

 private:
  TraceProfile profile() const { return a_.header.profile; }

  bool same(const Record& a, const Record& b) const {
    if (comparable(a, profile()) != comparable(b, profile())) return false;
    if (profile() == TraceProfile::arch) return true;
    return (a.cycle > b.cycle ? a.cycle - b.cycle : b.cycle - a.cycle) <= options_.cycle_tolerance;
  }

  void compare(TraceDiff& d, const std::string& name, const Owner& a, const Owner& b) {
    size_t i = 0;
    while (i < a.records.size() && i < b.records.size() && same(a.records[i], b.records[i])) ++i;
    if (i == a.records.size() && i == b.records.size()) return;
    ++d.differing_owners;
    // The earliest in a's file; owners that a lacks come last.
    const uint32_t line = i < a.records.size() ? a.records[i].line
                          : !a.records.empty() ? a.records.back().line
                                               : ~0u;
    if (!first_.empty() && line >= first_line_) return;
    first_line_ = line;
    first_ = describe(name, a, b, i);
  }

  std::string describe(const std::string& name, const Owner& a, const Owner& b, size_t i) const {
    std::string out = fmt::format("first: {}, record {}\n", name, i);
    const auto show = [&](const std::string& who, const Trace& t, const Owner& o) {
      if (i >= o.records.size()) {
        out += fmt::format("  {}: {}\n", who, o.records.empty() ? "has no such owner" : "ends here");
        return;
      }
      const Record& r = o.records[i];
      out += fmt::format("  {}:{}: {}{}\n", who, r.line,
                         profile() == TraceProfile::cycle ? fmt::format("c={} ", r.cycle) : "", r.text);
      if (const std::string where = source(t, o, r); !where.empty()) out += fmt::format("      {}\n", where);
    };
    show(options_.name_a, a_, a);
    show(options_.name_b, b_, b);
    const Owner& longer = a.records.size() >= i && !a.records.empty() ? a : b;
    if (i > 0) out += fmt::format("  before it, both: {}\n", longer.records[i - 1].text);
    return out;
  }

  /// "kernels/x.cpp:61 mov.u32 …" of an instruction record.
  static std::string source(const Trace& t, const Owner& o, const Record& r) {
    const size_t at = r.text.find(" pc=");
    if (at == std::string_view::npos) return {};
    std::string_view rest = r.text.substr(at + 4);
    const std::string_view pc = next_token(rest);
    const std::string launch = o.name.starts_with("launch=") ? o.name.substr(7, o.name.find(' ') - 7) : "1";
    const auto it = t.code.find(fmt::format("{}:{}", launch, pc));
    if (it == t.code.end()) return {};
    std::string_view text = it->second;
    const std::string_view where = next_token(text);
    return fmt::format("{} at {}", text.substr(std::min<size_t>(text.size(), 1)), where);
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
    d.error("E4202", {name, 1, 0}, std::move(message));
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
  return Comparison(Reader(a, options.name_a).read(), Reader(b, options.name_b).read(), options).run();
}

}  // namespace drywell::sim
