// A survey: what one machine does, in one file, so that whoever has a GPU can hold Drywell against it and send the file to whoever
// has none. Its parts are the records of conformance/silicon and conformance/microbench, the verdicts of the conformance programs,
// digests of the special functions, and power under load (docs/lab/survey.md).
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/microbench/record.h"
#include "conformance/silicon/record.h"
#include "drywell/launch/accelerator.h"

namespace drywell::kernels::survey {

/// Parts of a survey, in the order of the file.
inline constexpr std::string_view kParts[] = {"probes", "programs", "special", "microbench", "power"};

/// One conformance program (conformance/programs).
struct Verdict {
  std::string program;
  std::string verdict;  // "passed", "failed", "refused" (the machine does not load or launch it)
  std::string detail;
};

/// A digest of a special function's results: the sum over 2^24 arguments of a product that depends on argument and result.
struct SpecialRange {
  std::string form;    // "ex2.approx.ftz.f32"
  uint32_t first = 0;  // argument, as bits; the forms of 16 bits have one range
  uint64_t digest = 0;
};

/// A load that ran for seconds.
struct LoadFigure {
  std::string name;
  double watts = 0, megahertz = 0;
  double seconds = 0;   // of one launch
  double work = 0;      // of one launch: floating-point operations or bytes
  bool capped = false;  // the clock was below its highest because of power
};

struct Survey {
  std::vector<std::string> provenance;
  silicon::Record probes;
  std::vector<Verdict> programs;
  std::vector<SpecialRange> special;
  microbench::Record bench;
  std::vector<LoadFigure> loads;
};

std::string print_survey(const Survey& s);
/// Throws InputError E4506 if the text is not a survey.
Survey parse_survey(std::string_view text, const std::string& name);
/// Puts the results of `more` behind those of `to`; the provenance stays.
void append(Survey& to, Survey more);
/// The text of one part if `text` is a survey, otherwise `text`: readers of one kind of record take surveys too.
std::string part_of(std::string_view text, std::string_view part);

/// A failed kernel has taken the machine from this process (Accelerator::lost): the survey goes on in another one, behind that kernel.
class MachineLost : public std::exception {
 public:
  const char* what() const noexcept override { return "the machine is lost"; }
};

/// The machine under survey.
class Subject {
 public:
  using Open = std::function<std::unique_ptr<Accelerator>()>;
  explicit Subject(Open open) : open_(std::move(open)), device_(open_()) {}
  Accelerator& device() { return *device_; }
  /// After a failed kernel: a fresh machine. Throws MachineLost if this process gets none.
  void again() {
    if (device_->lost()) throw MachineLost();
    device_.reset();
    device_ = open_();
  }

 private:
  Open open_;
  std::unique_ptr<Accelerator> device_;
};

using Wanted = std::function<bool(const std::string& name)>;
using Told = std::function<void(const std::string& line)>;

// The parts ask `wanted` for each item in one order, and put an item's result into `out` before they throw MachineLost. Items that the
// machine refuses or fails are told to `failed` where the part has no place for them.
void survey_probes(Subject& subject, const Wanted& wanted, silicon::Record& out);
void survey_programs(Subject& subject, const Wanted& wanted, std::vector<Verdict>& out);
/// `every`: of the 256 ranges of a 32-bit form each that this number divides.
void survey_special(Subject& subject, const Wanted& wanted, unsigned every, std::vector<SpecialRange>& out, const Told& failed);
/// `repeats` above 1: of a GPU. Whole kernels are left out.
void survey_microbench(Subject& subject, const Wanted& wanted, unsigned repeats, microbench::Record& out, const Told& failed);

/// One special function on a device; nothing else may be loaded on it meanwhile. Throws InputError E4506 if the form does not exist.
class SpecialForm {
 public:
  SpecialForm(Accelerator& device, std::string name);
  ~SpecialForm();
  SpecialForm(const SpecialForm&) = delete;
  SpecialForm& operator=(const SpecialForm&) = delete;
  /// The digest of the range that begins with `first`.
  uint64_t digest(uint32_t first);

 private:
  Accelerator& device_;
  std::string name_;
  uint32_t ctas_;
  GmemAddr out_{};
};

/// Watts, clock in MHz and whether power holds the clock down, at this moment.
struct PowerReading {
  double watts = 0, megahertz = 0;
  bool capped = false;
};
using Meter = std::function<PowerReading()>;
/// Runs each load that the machine has for `seconds`.
void survey_power(Subject& subject, const Wanted& wanted, const Meter& meter, double seconds, std::vector<LoadFigure>& out, const Told& failed);
/// Names of the loads for a target, and the PTX of each.
std::vector<std::pair<std::string, std::string>> load_texts(isa::Target target);

}  // namespace drywell::kernels::survey
