#include "tools/reported_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "drywell/core/error.h"
#include "drywell/core/files.h"
#include "drywell/core/source_path.h"

namespace drywell::tools {
namespace {

using Json = nlohmann::json;

constexpr double kMostNumber = 0x1p53;  // up to here a double has every whole number

/// Reads the parts of one report, and says of a wrong one where it is.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  ReportedRun run(const Json& j) const {
    if (!j.is_object()) refuse("it is no JSON object");
    if (j.contains("kernel")) return one(j);
    if (!j.contains("launches")) refuse("it has neither 'kernel' nor 'launches'");
    return several(j);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError(Code::E4001, fmt::format("{} is no report of a run: {}", file_, why),
                     "drywell run … --json=FILE and drywell exec --report=FILE.json write one");
  }

  // Parts of an object; null is as good as absent (drivers without a clock).
  static const Json* part(const Json& j, const char* key) {
    const auto at = j.find(key);
    return at == j.end() || at->is_null() ? nullptr : &*at;
  }
  const Json* part(const Json& j, const std::string& where, const char* key, Json::value_t type, const char* what) const {
    const Json* const p = part(j, key);
    if (p != nullptr && p->type() != type) refuse(fmt::format("{}'{}' is no {}", where, key, what));
    return p;
  }
  const Json* object(const Json& j, const std::string& where, const char* key) const { return part(j, where, key, Json::value_t::object, "object"); }
  const Json* array(const Json& j, const std::string& where, const char* key) const { return part(j, where, key, Json::value_t::array, "array"); }
  const Json& element(const Json& j, const std::string& where) const {
    if (!j.is_object()) refuse(where + "is no object");
    return j;
  }
  double number(const Json& j, const std::string& where) const {
    const double v = j.is_number() ? j.get<double>() : -1;
    if (!(v >= 0 && v <= kMostNumber)) refuse(where + " is no number from 0 to 2^53");
    return v;
  }
  double number(const Json& j, const std::string& where, const char* key) const {
    const Json* const p = part(j, key);
    return p == nullptr ? 0 : number(*p, fmt::format("{}'{}'", where, key));
  }
  std::string word(const Json& j, const std::string& where, const char* key) const {
    const Json* const p = part(j, where, key, Json::value_t::string, "text");
    return p == nullptr ? std::string() : p->get<std::string>();
  }

  void read_units(const Json& j, const std::string& where, ReportedLaunch& l) const {
    if (const Json* const units = object(j, where, "units"))
      for (const auto& [name, unit] : units->items()) l.units[name] = number(element(unit, where + "a unit "), where, "utilisation");
    if (const Json* const units = object(j, where, "utilisation"))  // exec
      for (const auto& [name, busy] : units->items()) l.units[name] = number(busy, where + "a unit's utilisation");
  }
  void read_stalls(const Json& j, const std::string& where, ReportedLaunch& l) const {
    const Json* const roles = object(j, where, "stalls");
    if (roles == nullptr) return;
    for (const auto& [role, reasons] : roles->items()) {
      if (reasons.is_null()) continue;  // a role that never stalls
      for (const auto& [reason, cycles] : element(reasons, where + "a role of 'stalls' ").items())
        l.stalls[role + ": " + reason] = number(cycles, where + "a stall");
    }
  }
  void read_lines(const Json& j, const std::string& where, ReportedLaunch& l) const {
    const Json* const lines = array(j, where, "lines");
    if (lines == nullptr) return;
    for (const Json& line : *lines) {
      element(line, where + "a line ");
      const std::string file = word(line, where, "file");
      l.lines[fmt::format("{}:{:.0f}", base_name(file), number(line, where, "line"))] += number(line, where, "cycles");
    }
  }
  void read_limit(const Json& j, const std::string& where, ReportedLaunch& l) const {
    l.limit = word(j, where, "limit");  // exec
    const Json* const limits = array(j, where, "limits");
    if (limits == nullptr || limits->empty()) return;
    const Json& first = element(limits->front(), where + "a limit ");
    l.limit = word(first, where, "name");
    l.limit_fraction = number(first, where, "fraction");
  }

  bool has_error(const Json& j, const std::string& where) const {
    const Json* const verify = object(j, where, "verify");
    if (part(j, "fault") != nullptr || (verify != nullptr && word(*verify, where, "status") == "failed")) return true;
    const Json* const hazards = part(j, "hazards");
    if (hazards == nullptr) return false;
    if (hazards->is_object()) return number(*hazards, where, "errors") != 0;  // exec
    const Json* const list = array(j, where, "hazards");
    return std::any_of(list->begin(), list->end(), [&](const Json& one) { return word(element(one, where + "a hazard "), where, "level") == "error"; });
  }

  ReportedLaunch launch(const Json& j, const std::string& where, std::string name) const {
    ReportedLaunch l;
    l.name = std::move(name);
    l.cycles = number(j, where, "cycles");
    l.instructions = number(j, where, "warp_instructions");
    l.wrong = has_error(j, where);
    read_limit(j, where, l);
    read_units(j, where, l);
    read_stalls(j, where, l);
    read_lines(j, where, l);
    return l;
  }
  ReportedRun one(const Json& j) const {
    ReportedRun r{word(j, "", "kernel"), word(j, "", "arch"), word(j, "", "driver"), {}};
    r.launches.push_back(launch(j, "", r.name));
    return r;
  }
  ReportedRun several(const Json& j) const {
    ReportedRun r{word(j, "", "file"), word(j, "", "arch"), word(j, "", "driver"), {}};
    const Json* const launches = array(j, "", "launches");
    if (launches == nullptr) refuse("'launches' is no array");
    for (const Json& l : *launches) r.launches.push_back(one_of_several(l, r.launches.size()));
    if (!r.launches.empty()) r.launches.back().wrong |= has_error(j, "");
    return r;
  }
  ReportedLaunch one_of_several(const Json& j, size_t index) const {
    const std::string where = fmt::format("launch {}: ", index);
    const bool named = element(j, where).contains("entry") || j.contains("kernel");
    if (!named) refuse(where + "it has neither 'entry' nor 'kernel'");
    return launch(j, where, word(j, where, j.contains("entry") ? "entry" : "kernel"));
  }

  const std::string& file_;
};

}  // namespace

ReportedRun parse_report(std::string_view text, const std::string& file) { return Reader(file).run(Json::parse(text, nullptr, false)); }

ReportedRun read_report(const std::string& file) { return parse_report(read_text_file(file), file); }

}  // namespace drywell::tools
