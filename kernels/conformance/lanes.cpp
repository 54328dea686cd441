#include "kernels/conformance/lanes.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>

#include "drywell/isa/builder.h"
#include "kernels/conformance/values.h"

namespace drywell::kernels::conformance {
namespace {

using namespace isa;

constexpr uint32_t kThreads = 128;

/// A register type and its size in memory.
struct Storage {
  Mod type;
  uint32_t bytes;
};
Storage storage(char letter) {
  switch (letter) {
    case 'p': return {Mod::pred, 4};
    case 'b': return {Mod::b8, 1};
    case 'h': case 'e': case 'k': return {Mod::b16, 2};
    case 'f': return {Mod::f32, 4};
    case 'g': return {Mod::f64, 8};
    case 'd': case 'F': return {Mod::b64, 8};
    default: return {Mod::b32, 4};
  }
}

/// An operand as parsed: scalar letter, immediate or sink, a vector or a pair of them.
struct Slot {
  enum class Kind : uint8_t { value, immediate, sink, vector, pair } kind = Kind::value;
  char letter = 'w';
  int64_t immediate = 0;
  std::vector<Slot> parts;
};

class SignatureReader {
 public:
  explicit SignatureReader(std::string_view text) : text_(text) {}
  std::vector<Slot> read() {
    std::vector<Slot> slots;
    while (at_ < text_.size() && text_[at_] != '}') {
      Slot s = one();
      while (at_ < text_.size() && text_[at_] == '|') {
        ++at_;
        Slot pair{Slot::Kind::pair};
        pair.parts = {std::move(s), one()};
        s = std::move(pair);
      }
      slots.push_back(std::move(s));
    }
    return slots;
  }

 private:
  Slot one() {
    const char c = text_.at(at_++);
    if (c == '_') return {Slot::Kind::sink};
    if (c == '#') return number();
    if (c != '{') return {Slot::Kind::value, c};
    Slot v{Slot::Kind::vector};
    v.parts = read();
    ++at_;
    return v;
  }
  Slot number() {
    const bool hex = text_.substr(at_).starts_with("0x");
    if (hex) at_ += 2;
    Slot s{Slot::Kind::immediate};
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), s.immediate, hex ? 16 : 10);
    DRYWELL_CHECK(error == std::errc(), "an immediate needs digits");
    at_ = static_cast<size_t>(end - text_.data());
    return s;
  }
  std::string_view text_;
  size_t at_ = 0;
};

/// The scalar values of a signature's side, in order.
void letters(const std::vector<Slot>& slots, std::string& out) {
  for (const Slot& s : slots) {
    if (s.kind == Slot::Kind::value) out += s.letter;
    letters(s.parts, out);
  }
}

struct Signature {
  std::vector<Slot> outputs, inputs;
  std::string output_letters, input_letters;
  explicit Signature(std::string_view text) {
    const size_t eq = text.find('=');
    outputs = SignatureReader(text.substr(0, eq)).read();
    inputs = SignatureReader(text.substr(eq + 1)).read();
    letters(outputs, output_letters);
    letters(inputs, input_letters);
  }
};

class LaneKernel {
 public:
  LaneKernel(const LaneForm& form, const Signature& s, Target target) : k_("lanes", target), form_(form), s_(s) {}

  Module build() {
    std::vector<Symbol> params;
    for (size_t i = 0; i < s_.input_letters.size() + s_.output_letters.size(); ++i) params.push_back(k_.param(Mod::u64, fmt::format("column{}", i)));
    const Reg cta = k_.def("mov.u32", SpecialReg::ctaid_x), tid = k_.def("mov.u32", SpecialReg::tid_x);
    index_ = k_.def("mad.lo.u32", cta, kThreads, tid);
    std::vector<Reg> in, out;
    for (size_t i = 0; i < s_.input_letters.size(); ++i) in.push_back(load(params[i], s_.input_letters[i]));
    for (const char c : s_.output_letters) out.push_back(k_.reg(storage(c).type));
    std::vector<Arg> args;
    size_t next_out = 0, next_in = 0;
    for (const Slot& s : s_.outputs) args.push_back(argument(s, out, next_out));
    for (const Slot& s : s_.inputs) args.push_back(argument(s, in, next_in));
    k_.emit(OpText(form_.op), args);
    for (size_t i = 0; i < out.size(); ++i) store(params[s_.input_letters.size() + i], s_.output_letters[i], out[i]);
    return k_.finish();
  }

 private:
  Reg address(Symbol p, uint32_t bytes) { return k_.def("mad.wide.u32", index_, bytes, k_.load_param(p, Mod::u64)); }
  Reg load(Symbol p, char letter) {
    const Storage st = storage(letter);
    const Reg at = address(p, st.bytes);
    const Reg r = k_.reg(st.type);
    if (letter == 'p') {
      const Reg word = k_.def("ld.global.u32", mem(at));
      k_("setp.ne.u32", r, word, 0);
    } else {
      k_.emit(OpText(fmt::format("ld.global.b{}", 8 * st.bytes)), {r, mem(at)});
    }
    return r;
  }
  void store(Symbol p, char letter, Reg r) {
    const Storage st = storage(letter);
    const Reg at = address(p, st.bytes);
    if (letter == 'p') {
      k_("st.global.u32", mem(at), k_.def("selp.b32", 1, 0, r));
    } else {
      k_.emit(OpText(fmt::format("st.global.b{}", 8 * st.bytes)), {mem(at), r});
    }
  }
  Arg argument(const Slot& s, const std::vector<Reg>& regs, size_t& next) {
    switch (s.kind) {
      case Slot::Kind::value: return regs.at(next++);
      case Slot::Kind::immediate: return Arg(static_cast<long>(s.immediate));
      case Slot::Kind::sink: return sink();
      case Slot::Kind::pair: {
        Arg a = argument(s.parts[0], regs, next);
        return pair(std::move(a), argument(s.parts[1], regs, next).reg);
      }
      case Slot::Kind::vector: break;
    }
    Arg v({});
    for (const Slot& part : s.parts) v.parts.push_back(argument(part, regs, next));
    return v;
  }

  KernelBuilder k_;
  const LaneForm& form_;
  const Signature& s_;
  Reg index_;
};

uint64_t seed_of(std::string_view text) {  // FNV-1a
  uint64_t h = 0xCBF29CE484222325ull;
  for (const char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001B3ull;
  return h;
}

void put(std::vector<uint8_t>& bytes, size_t row, uint32_t size, uint64_t value) { std::memcpy(bytes.data() + row * size, &value, size); }

using Lanes = std::vector<std::array<uint64_t, kWarpSize>>;

// Prepares one lane's inputs and, unless the form looks at whole warps, computes its outputs.
void expect_lane(const LaneForm& form, Lanes& in, Lanes& out, size_t lane) {
  std::vector<uint64_t> row_in(in.size()), row_out(out.size());
  for (size_t i = 0; i < in.size(); ++i) row_in[i] = in[i][lane];
  if (form.prepare) form.prepare(row_in.data());
  if (form.expect) form.expect(row_in.data(), row_out.data());
  for (size_t i = 0; i < in.size(); ++i) in[i][lane] = row_in[i];
  for (size_t i = 0; i < out.size(); ++i) out[i][lane] = row_out[i];
}

Program make(const LaneForm& form, Target target) {
  const Signature s(form.operands);
  Program p;
  p.module = LaneKernel(form, s, target).build();
  p.launch = {.grid = {kRows / kThreads}, .block = {kThreads}};
  const size_t inputs = s.input_letters.size(), outputs = s.output_letters.size();
  std::vector<std::vector<uint64_t>> columns;
  for (size_t i = 0; i < inputs; ++i) columns.push_back(operand_values(s.input_letters[i], i, seed_of(form.op + form.operands)));
  p.buffers.resize(inputs + outputs);
  for (size_t i = 0; i < inputs + outputs; ++i) {
    const uint32_t bytes = storage(i < inputs ? s.input_letters[i] : s.output_letters[i - inputs]).bytes;
    p.buffers[i].initial.assign(kRows * bytes, i < inputs ? 0 : 0xEE);
    if (i >= inputs) p.buffers[i].expected.resize(kRows * bytes);
    p.buffers[i].compare = form.compare;
    p.buffers[i].ulps = form.ulps;
  }
  Lanes in(inputs), out(outputs);
  for (size_t first = 0; first < kRows; first += kWarpSize) {
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
      for (size_t i = 0; i < inputs; ++i) in[i][lane] = columns[i][first + lane];
      expect_lane(form, in, out, lane);
      for (size_t i = 0; i < inputs; ++i) put(p.buffers[i].initial, first + lane, storage(s.input_letters[i]).bytes, in[i][lane]);
    }
    if (form.expect_warp) form.expect_warp(in, out);
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
      for (size_t i = 0; i < outputs; ++i) put(p.buffers[inputs + i].expected, first + lane, storage(s.output_letters[i]).bytes, out[i][lane]);
    }
  }
  return p;
}

}  // namespace

ProgramSpec lane_program(std::string family, LaneForm form) {
  std::string name = form.name.empty() ? form.op : form.name;
  return {std::move(name), std::move(family), [form = std::move(form)](Target target) { return make(form, target); }};
}

}  // namespace drywell::kernels::conformance
