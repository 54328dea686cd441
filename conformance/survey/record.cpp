#include <fmt/format.h>

#include <map>

#include "conformance/survey/survey.h"
#include "drywell/core/whole_number.h"
#include "kernels/support/record_text.h"
#include "launch/words.h"

namespace drywell::kernels::survey {
namespace {

constexpr std::string_view kFirstLine = "# drywell survey, format 1", kPart = "== ";

std::string print_lines(const Survey& s, std::string_view part) {
  std::string out;
  if (part == "programs") {
    for (const Verdict& v : s.programs) out += fmt::format("{} {}{}{}\n", v.program, v.verdict, v.detail.empty() ? "" : " ", v.detail);
  } else if (part == "special") {
    for (const SpecialRange& r : s.special) out += fmt::format("{} {:08x} {:016x}\n", r.form, r.first, r.digest);
  } else if (part == "power") {
    for (const LoadFigure& l : s.loads) out += fmt::format("{} {:.1f} W {:.0f} MHz {:.6g} s {:.6g} {}\n", l.name, l.watts, l.megahertz, l.seconds, l.work, l.capped ? "capped" : "free");
  }
  return out;
}

/// The parts of a survey's text by name; empty if it is none.
std::map<std::string, std::string, std::less<>> parts(std::string_view text) {
  std::map<std::string, std::string, std::less<>> out;
  if (!text.starts_with(kFirstLine)) return out;
  std::string* into = &out["head"];
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(kPart))
      into = &out[std::string(line.substr(kPart.size()))];
    else
      *into += std::string(line) + "\n";
  }
  return out;
}

template <class T>
T number(const RecordText& text, const RecordText::Line& line, size_t word, int base = 10) {
  const auto value = whole_number<T>(word < line.words.size() ? line.words[word] : "", base);
  if (!value.has_value()) text.fail(line.number, fmt::format("word {} is no number", word + 1));
  return *value;
}

Verdict verdict_of(const RecordText& text, const RecordText::Line& line) {
  if (line.words.size() < 2) text.fail(line.number, "a line has a program and its verdict");
  const size_t detail = line.words[0].size() + line.words[1].size() + 2;
  return {std::string(line.words[0]), std::string(line.words[1]), detail < line.text.size() ? std::string(line.text.substr(detail)) : ""};
}

LoadFigure load_of(const RecordText& text, const RecordText::Line& line) {
  if (line.words.size() != 9) text.fail(line.number, "a load has watts, MHz, seconds, work, and 'capped' or 'free'");
  const auto real = [&](size_t word) { return number<double>(text, line, word); };
  return {std::string(line.words[0]), real(1), real(3), real(5), real(7), line.words[8] == "capped"};
}

}  // namespace

std::string print_survey(const Survey& s) {
  std::string out = fmt::format("{}\n", kFirstLine);
  for (const std::string& p : s.provenance) out += fmt::format("# {}\n", p);
  for (const std::string_view part : kParts) {
    out += fmt::format("{}{}\n", kPart, part);
    out += part == "probes" ? silicon::print_record(s.probes) : part == "microbench" ? microbench::print_record(s.bench)
                                                                                     : print_lines(s, part);
  }
  return out;
}

void append(Survey& to, Survey more) {
  const auto behind = [](auto& list, auto& rest) { list.insert(list.end(), rest.begin(), rest.end()); };
  behind(to.probes.lines, more.probes.lines);
  behind(to.programs, more.programs);
  behind(to.special, more.special);
  behind(to.loads, more.loads);
  to.bench.values.merge(more.bench.values);
}

std::string part_of(std::string_view text, std::string_view part) {
  const auto all = parts(text);
  const auto it = all.find(part);
  return all.empty() ? std::string(text) : it == all.end() ? std::string()
                                                           : it->second;
}

Survey parse_survey(std::string_view text, const std::string& name) {
  const auto all = parts(text);
  Survey out;
  out.provenance = read_record_text(all.empty() ? text : std::string_view(all.at("head")), name, kFirstLine).provenance;
  const auto lines = [&](std::string_view part, const auto& take) {
    const auto it = all.find(part);
    if (it == all.end()) return;
    const std::string body = std::string(kFirstLine) + "\n" + it->second;
    const RecordText read = read_record_text(body, name + ", part " + std::string(part), kFirstLine);
    for (const RecordText::Line& line : read.lines) take(read, line);
  };
  if (const auto it = all.find("probes"); it != all.end()) out.probes = silicon::parse_record(it->second, name + ", part probes");
  if (const auto it = all.find("microbench"); it != all.end()) out.bench = microbench::parse_record(it->second, name + ", part microbench");
  lines("programs", [&](const RecordText& t, const RecordText::Line& l) { out.programs.push_back(verdict_of(t, l)); });
  lines("special", [&](const RecordText& t, const RecordText::Line& l) {
    if (l.words.size() != 3) t.fail(l.number, "a range has a form, its first argument and a digest");
    out.special.push_back({std::string(l.words[0]), number<uint32_t>(t, l, 1, 16), number<uint64_t>(t, l, 2, 16)});
  });
  lines("power", [&](const RecordText& t, const RecordText::Line& l) { out.loads.push_back(load_of(t, l)); });
  return out;
}

}  // namespace drywell::kernels::survey
