#include "sim/trace/trace_reader.h"

#include <fmt/format.h>

#include <charconv>

namespace drywell::sim {
namespace {

constexpr uint64_t kMaxWarps = 32;  // of a CTA

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text) { trace_.header = parse_trace_header(text, name); }

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
    } else if (word == "role") {
      const std::string_view warps = next_token(rest);
      role(warps, rest.substr(std::min(rest.size(), rest.find_first_not_of(' '))));
    }
  }

  /// "4-7" and a name.
  void role(std::string_view warps, std::string_view name) {
    const uint64_t first = number_after(warps, 0), last = number_after(warps, std::min(warps.size(), warps.find('-') + 1));
    for (uint64_t w = first; w <= last && w < kMaxWarps; ++w) trace_.roles[fmt::format("{}:{}", launch_, w)] = name;
  }

  // Owner tokens are first, then n= and c=; the rest is the record.
  void record(std::string_view line, uint32_t number) {
    std::string owner = launch_ > 1 ? fmt::format("launch={} ", launch_) : "";
    TraceRecord r{{}, 0, number};
    std::string_view rest = line;
    while (true) {
      std::string_view after = rest;
      const std::string_view token = next_token(after);
      if (token.starts_with("cta=") || token.starts_with("w=") || token.starts_with("q=") || token.starts_with("mbar=")) {
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
    note_cause(owner, r);
    const auto [it, added] = trace_.index.try_emplace(owner, trace_.owners.size());
    if (added) trace_.owners.push_back({owner, {}});
    trace_.owners[it->second].records.push_back(r);
    ++trace_.records;
  }

  // Events of an mbarrier are recorded between an operation's write and its end, or before the instruction that caused them.
  void note_cause(const std::string& owner, const TraceRecord& r) {
    if (r.text.starts_with("A write")) writing_ = owner;
    if (r.text.starts_with("E") && writing_ == owner) writing_.clear();
    if (r.text.starts_with("M ") && owner.find("mbar=") != std::string::npos) {
      if (writing_.empty()) waiting_.push_back(r.line);
      else trace_.by_operation.emplace(r.line, writing_);
    }
    if (!r.text.starts_with("I ")) return;
    for (const uint32_t line : waiting_) trace_.by_instruction.emplace(line, r);
    waiting_.clear();
    note_issues(owner, r);
  }

  void note_issues(const std::string& warp, const TraceRecord& r) {
    std::string_view rest = r.text;
    for (std::string_view token = next_token(rest); !token.empty(); token = next_token(rest))
      if (token.starts_with("q=")) trace_.issuers.emplace(fmt::format("{} {}", warp, token), r);
  }

  std::string_view text_;
  Trace trace_;
  uint32_t launch_ = 0;
  std::string writing_;            // operation between its write and its end
  std::vector<uint32_t> waiting_;  // mbarrier events before the record of their instruction
};

}  // namespace

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

std::string_view field_of(std::string_view record, std::string_view name) {
  for (std::string_view token = next_token(record); !token.empty(); token = next_token(record))
    if (token.starts_with(name) && token.size() > name.size() && token[name.size()] == '=') return token.substr(name.size() + 1);
  return {};
}

const TraceOwner* Trace::find(const std::string& name) const {
  const auto it = index.find(name);
  return it == index.end() ? nullptr : &owners[it->second];
}

std::string Trace::source_of(const TraceOwner& owner, const TraceRecord& r) const {
  const std::string_view pc = field_of(r.text, "pc");
  if (pc.empty()) return {};
  const std::string& name = owner.name;
  const std::string launch = name.starts_with("launch=") ? name.substr(7, name.find(' ') - 7) : "1";
  const auto it = code.find(fmt::format("{}:{}", launch, pc));
  if (it == code.end()) return {};
  std::string_view text = it->second;
  const std::string_view where = next_token(text);
  return fmt::format("{} at {}", text.substr(std::min<size_t>(text.size(), 1)), where);
}

std::string Trace::explain(const TraceOwner& owner, const TraceRecord& r) const {
  if (std::string own = source_of(owner, r); !own.empty()) return own;
  const auto issued = [&](const std::string& operation) -> std::string {
    const auto it = issuers.find(operation);
    const std::string by = it == issuers.end() ? "" : source_of(owner, it->second);
    return by.empty() ? "" : "issued by " + by;
  };
  if (const auto it = by_operation.find(r.line); it != by_operation.end()) return fmt::format("by {}, {}", it->second, issued(it->second));
  if (const auto it = by_instruction.find(r.line); it != by_instruction.end()) return "by " + source_of(owner, it->second);
  return issued(owner.name);
}

Trace read_trace_text(std::string_view text, const std::string& name) { return Reader(text, name).read(); }

}  // namespace drywell::sim
