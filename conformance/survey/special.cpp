// Special functions over all their arguments. A digest says whether two machines have the same bits, in 24 bytes for 2^24 arguments.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/microbench/text.h"
#include "conformance/survey/items.h"
#include "conformance/survey/survey.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"

namespace drywell::kernels::survey {
namespace {

constexpr uint32_t kRange = 1u << 24, kThreads = 256, kCtas = 1024, kSteps = kRange / (kThreads * kCtas);

struct Form {
  const char* name;
  const char* text;  // from %arg (32 bits) to %result (32 bits); %f, %h, %d and %w are free
  bool half = false;
};
// Of one f32 argument: the name is the instruction.
constexpr char kOfF32[] = "mov.b32 %f0, %arg;\n{} %f1, %f0;\nmov.b32 %result, %f1;\n";
// The 64-bit forms compute the upper word.
constexpr char kOfF64[] = "mov.b64 %d0, {{%zero, %arg}};\n{} %d1, %d0;\nmov.b64 {{%w0, %result}}, %d1;\n";
// The divisor is the argument, the dividend another number of its range.
constexpr char kQuotient[] = "mul.lo.u32 %w0, %arg, 0x9E3779B1;\nmov.b32 %f0, %w0;\nmov.b32 %f2, %arg;\n{} %f1, %f0, %f2;\nmov.b32 %result, %f1;\n";
constexpr char kOfHalf[] = "cvt.u16.u32 %h0, %arg;\n{} %h1, %h0;\ncvt.u32.u16 %result, %h1;\n";
constexpr Form kForms[] = {
    {"rcp.approx.ftz.f32", kOfF32}, {"rcp.approx.f32", kOfF32}, {"rsqrt.approx.ftz.f32", kOfF32}, {"rsqrt.approx.f32", kOfF32}, {"sqrt.approx.ftz.f32", kOfF32}, {"sqrt.approx.f32", kOfF32}, {"ex2.approx.ftz.f32", kOfF32}, {"ex2.approx.f32", kOfF32}, {"lg2.approx.ftz.f32", kOfF32}, {"lg2.approx.f32", kOfF32}, {"sin.approx.ftz.f32", kOfF32}, {"sin.approx.f32", kOfF32}, {"cos.approx.ftz.f32", kOfF32}, {"cos.approx.f32", kOfF32}, {"tanh.approx.f32", kOfF32}, {"div.approx.f32", kQuotient}, {"div.full.f32", kQuotient}, {"rcp.approx.ftz.f64", kOfF64}, {"rsqrt.approx.ftz.f64", kOfF64}, {"tanh.approx.f16", kOfHalf, true}, {"tanh.approx.bf16", kOfHalf, true}, {"ex2.approx.f16", kOfHalf, true}, {"ex2.approx.ftz.bf16", kOfHalf, true}};

// digest = sum of (result + 1) (2 argument + 1) 0x9E3779B97F4A7C15 (mod 2^64): one wrong result always shows.
std::string text_of(const Form& form, isa::Target target) {
  return fmt::format(R"(.version 8.7
.target {0}
.address_size 64
.visible .entry digest(.param .u64 out, .param .u32 first)
{{
.reg .pred %p;
.reg .b16 %h<2>;
.reg .b32 %arg, %result, %zero, %w<2>, %step, %id, %f<3>;
.reg .b64 %d<2>, %out, %a, %b, %sum;
mov.u32 %zero, 0;
mov.u32 %step, %ctaid.x;
mov.u32 %id, %tid.x;
mad.lo.u32 %id, %step, {1}, %id;
ld.param.u64 %out, [out];
ld.param.u32 %arg, [first];
add.u32 %arg, %arg, %id;
mov.u32 %step, {2};
mov.u64 %sum, 0;
NEXT:
{3}cvt.u64.u32 %a, %result;
add.u64 %a, %a, 1;
cvt.u64.u32 %b, %arg;
shl.b64 %b, %b, 1;
add.u64 %b, %b, 1;
mul.lo.u64 %a, %a, %b;
mad.lo.u64 %sum, %a, 0x9E3779B97F4A7C15, %sum;
add.u32 %arg, %arg, {4};
sub.u32 %step, %step, 1;
setp.ne.u32 %p, %step, 0;
@%p bra NEXT;
red.global.add.u64 [%out], %sum;
ret;
}}
)",
                     isa::target_name(target), kThreads, form.half ? 1 : kSteps, fmt::format(fmt::runtime(form.text), form.name), kThreads * kCtas);
}

const Form& form_of(const std::string& name) {
  const auto it = std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& f) { return name == f.name; });
  if (it == std::end(kForms)) throw InputError(Code::E4506, fmt::format("'{}' is no special function of the survey", name));
  return *it;
}

}  // namespace

SpecialForm::SpecialForm(Accelerator& device, std::string name) : device_(device), name_(std::move(name)), ctas_(form_of(name_).half ? 65536 / kThreads : kCtas) {
  const std::string text = text_of(form_of(name_), device.arch().target);
  device.load(isa::parse_ptx_or_throw(text, name_ + ".ptx"), text);
  out_ = device.allocate(8, "digest");
}

SpecialForm::~SpecialForm() { device_.release(out_); }

uint64_t SpecialForm::digest(uint32_t first) {
  uint64_t digest = 0;
  device_.write(out_, &digest, 8);
  const sim::RunResult r = device_.launch("digest", {{ctas_, 1, 1}, {kThreads, 1, 1}, {1, 1, 1}, 0}, sim::Args().add(out_).add(first), {});
  if (!r.ok()) throw InputError(Code::E4505, fmt::format("{}: {}", name_, r.fault->to_string()));
  device_.read(&digest, out_, 8);
  return digest;
}

void survey_special(Subject& subject, const Wanted& wanted, unsigned every, std::vector<SpecialRange>& out, const Told& failed) {
  for (const Form& form : kForms) {
    if (!wanted(form.name)) continue;
    past_failures(subject, form.name, failed, [&] {
      SpecialForm on(subject.device(), form.name);
      for (unsigned i = 0; i < (form.half ? 1 : 256); i += every) out.push_back({form.name, i * kRange, on.digest(i * kRange)});
    });
  }
}

}  // namespace drywell::kernels::survey
