#include "conformance/programs/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "conformance/programs/values.h"
#include "drywell/core/error.h"
#include "drywell/isa/builder.h"

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
    case 'h':
    case 'e':
    case 'k':
    case 'c': return {Mod::b16, 2};
    case 'f':
    case 'n': return {Mod::f32, 4};
    case 'g':
    case 'm': return {Mod::f64, 8};
    case 'd':
    case 'F': return {Mod::b64, 8};
    default: return {Mod::b32, 4};
  }
}

/// An operand as parsed: scalar letter, immediate or sink, a vector or a pair of them.
struct Slot {
  enum class Kind : uint8_t {
    value,
    immediate,
    sink,
    vector,
    pair,
    memory
  } kind = Kind::value;
  char letter = 'w';
  bool minus = false;    // -w
  bool negated = false;  // !p
  std::string selector;  // w.b0
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
    if (c == 'M') {
      Slot m{Slot::Kind::memory};
      m.parts = {one()};
      return m;
    }
    if (c == '-') {
      Slot s = one();
      s.minus = true;
      return s;
    }
    if (c == '!') {
      Slot s = one();
      s.negated = true;
      return s;
    }
    if (c != '{') return value(c);
    Slot v{Slot::Kind::vector};
    v.parts = read();
    ++at_;
    return v;
  }
  Slot value(char letter) {
    Slot s{Slot::Kind::value, letter};
    if (at_ == text_.size() || text_[at_] != '.') return s;
    const size_t first = ++at_;
    while (++at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
    }
    s.selector = text_.substr(first, at_ - first);
    return s;
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

/// Collects the scalar values of a signature's side, in order; memory cells go to `cells`.
void letters(const std::vector<Slot>& slots, std::string& out, std::string* cells) {
  for (const Slot& s : slots) {
    if (s.kind == Slot::Kind::value) out += s.letter;
    if (s.kind == Slot::Kind::memory) {
      letters(s.parts, *cells, nullptr);
    } else {
      letters(s.parts, out, cells);
    }
  }
}

std::vector<std::string_view> split_steps(std::string_view text) {
  std::vector<std::string_view> steps;
  for (;;) {
    const size_t end = text.find(';');
    steps.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return steps;
    text.remove_prefix(end + 1);
  }
}

/// The operands of one instruction of a form.
struct Step {
  std::vector<Slot> outputs, inputs;
};

struct Signature {
  std::vector<Step> steps;
  std::string output_letters, input_letters, cell_letters;
  explicit Signature(std::string_view text) {
    for (const std::string_view step : split_steps(text)) {
      const size_t eq = step.find('=');
      steps.push_back({SignatureReader(step.substr(0, eq)).read(), SignatureReader(step.substr(eq + 1)).read()});
      letters(steps.back().outputs, output_letters, nullptr);
      letters(steps.back().inputs, input_letters, &cell_letters);
    }
  }
};

uint32_t cell_bytes(const std::string& letters) {
  uint32_t n = 0;
  for (const char c : letters) n += storage(c).bytes;
  return n;
}

class LaneKernel {
 public:
  LaneKernel(const LaneForm& form, const Signature& s, Target target) : k_("lanes", target), form_(form), s_(s) {}

  Module build() {
    std::vector<Symbol> params;
    const size_t columns = s_.input_letters.size() + s_.output_letters.size() + (s_.cell_letters.empty() ? 0 : 1);
    for (size_t i = 0; i < columns; ++i) params.push_back(k_.param(Mod::u64, fmt::format("column{}", i)));
    const Reg cta = k_.def("mov.u32", SpecialReg::ctaid_x), tid = k_.def("mov.u32", SpecialReg::tid_x);
    index_ = k_.def("mad.lo.u32", cta, kThreads, tid);
    std::vector<Reg> in, out;
    for (size_t i = 0; i < s_.input_letters.size(); ++i) in.push_back(load(params[i], s_.input_letters[i]));
    for (const char c : s_.output_letters) out.push_back(k_.reg(storage(c).type));
    if (!s_.cell_letters.empty()) open_cell(params.back(), tid);
    emit_steps(in, out);
    for (size_t i = 0; i < out.size(); ++i) store(params[s_.input_letters.size() + i], s_.output_letters[i], out[i]);
    if (cell_.valid() && cell_.id != global_cell_.id) {
      if (form_.expect_warp) k_("bar.sync", 0);
      copy_cell("shared", cell_, "global", global_cell_);
    }
    return k_.finish();
  }

 private:
  void emit_steps(const std::vector<Reg>& in, const std::vector<Reg>& out) {
    const std::vector<std::string_view> ops = split_steps(form_.op);
    DRYWELL_CHECK(ops.size() == s_.steps.size(), "every instruction of a form needs its operands");
    size_t next_out = 0, next_in = 0;
    for (size_t i = 0; i < ops.size(); ++i) {
      std::vector<Arg> args;
      for (const Slot& s : s_.steps[i].outputs) args.push_back(argument(s, out, next_out));
      for (const Slot& s : s_.steps[i].inputs) args.push_back(argument(s, in, next_in));
      k_.emit(OpText(std::string(ops[i])), args);
    }
  }
  // Sets the row's cell; forms on shared memory work on a copy there.
  void open_cell(Symbol p, Reg tid) {
    global_cell_ = cell_ = address(p, cell_bytes(s_.cell_letters));
    if (form_.op.find(".shared") == std::string::npos) return;
    const Symbol cells = k_.shared("cells", kThreads * cell_bytes(s_.cell_letters), 16);
    cell_ = k_.def("mad.lo.u32", tid, cell_bytes(s_.cell_letters), k_.def("mov.u32", cells));
    copy_cell("global", global_cell_, "shared", cell_);
    if (form_.expect_warp) k_("bar.sync", 0);  // lanes read the cells of other lanes
  }
  void copy_cell(const char* from_space, Reg from, const char* to_space, Reg to) {
    const uint32_t bytes = cell_bytes(s_.cell_letters), unit = std::min(bytes, 8u);
    for (uint32_t at = 0; at < bytes; at += unit) {
      const Reg v = k_.reg(unit == 8 ? Mod::b64 : unit == 4 ? Mod::b32
                                                            : Mod::b16);
      k_.emit(OpText(fmt::format("ld.{}.b{}", from_space, 8 * unit)), {v, mem(from, at)});
      k_.emit(OpText(fmt::format("st.{}.b{}", to_space, 8 * unit)), {mem(to, at), v});
    }
  }
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
  static Arg register_argument(const Slot& s, Reg r) {
    if (s.negated) return !r;
    if (s.selector.empty() && !s.minus) return r;
    PartReg p = s.selector.empty() ? PartReg{r} : part(r, s.selector);
    p.minus = s.minus;
    return p;
  }
  Arg argument(const Slot& s, const std::vector<Reg>& regs, size_t& next) {
    switch (s.kind) {
      case Slot::Kind::value: return register_argument(s, regs.at(next++));
      case Slot::Kind::immediate: return Arg(static_cast<long>(s.immediate));
      case Slot::Kind::sink: return sink();
      case Slot::Kind::memory: return mem(cell_);
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
  Reg index_, cell_, global_cell_;
};

uint64_t seed_of(std::string_view text) {  // FNV-1a
  uint64_t h = 0xCBF29CE484222325ull;
  for (const char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001B3ull;
  return h;
}

using Lanes = std::vector<std::array<uint64_t, kWarpSize>>;

// Words behind the inputs of a row, which are no form's to change or to use.
constexpr size_t kBehind = 4;
constexpr uint64_t kNobodys = 0x5A5A5A5A5A5A5A5A;

void check_inputs_alone_count(const LaneForm& form, std::vector<uint64_t> row_in, const std::vector<uint64_t>& row_out) {
  std::vector<uint64_t> again(row_out.size());
  std::fill(row_in.end() - kBehind, row_in.end(), ~kNobodys);
  form.expect(row_in.data(), again.data());
  DRYWELL_CHECK(again == row_out, form.op + ": its expectation depends on words behind its inputs");
}

// Prepares one lane's inputs and, unless the form works on whole warps, computes its outputs.
void expect_lane(const LaneForm& form, Lanes& in, Lanes& out, size_t lane) {
  std::vector<uint64_t> row_in(in.size() + kBehind, kNobodys), row_out(out.size());
  for (size_t i = 0; i < in.size(); ++i) row_in[i] = in[i][lane];
  if (form.prepare) form.prepare(row_in.data());
  DRYWELL_CHECK(std::count(row_in.end() - kBehind, row_in.end(), kNobodys) == kBehind, form.op + ": its preparation changes words behind its inputs");
  if (form.expect) form.expect(row_in.data(), row_out.data());
  if (form.expect && lane == 0) check_inputs_alone_count(form, row_in, row_out);
  for (size_t i = 0; i < in.size(); ++i) in[i][lane] = row_in[i];
  for (size_t i = 0; i < out.size(); ++i) out[i][lane] = row_out[i];
}

// Buffer of a value, and its place in a row.
struct Place {
  size_t buffer;
  uint32_t row_bytes, offset, bytes;
};
struct Places {
  std::vector<Place> in, out;  // operands, then cells
  size_t buffers = 0;
  explicit Places(const Signature& s) {
    for (const char c : s.input_letters) in.push_back({buffers++, storage(c).bytes, 0, storage(c).bytes});
    for (const char c : s.output_letters) out.push_back({buffers++, storage(c).bytes, 0, storage(c).bytes});
    uint32_t offset = 0;
    for (const char c : s.cell_letters) {
      in.push_back({buffers, cell_bytes(s.cell_letters), offset, storage(c).bytes});
      out.push_back(in.back());
      offset += storage(c).bytes;
    }
    if (!s.cell_letters.empty()) ++buffers;
  }
};

void put(std::vector<uint8_t>& bytes, const Place& p, size_t row, uint64_t value) {
  std::memcpy(bytes.data() + row * p.row_bytes + p.offset, &value, p.bytes);
}

Program make(const LaneForm& form, Target target) {
  const Signature s(form.operands);
  const Places places(s);
  Program p;
  p.module = LaneKernel(form, s, target).build();
  p.launch = {.grid = {kRows / kThreads}, .block = {kThreads}};
  p.buffers.resize(places.buffers);
  for (const Place& at : places.out) {
    ProgramBuffer& b = p.buffers[at.buffer];
    b.initial.assign(kRows * at.row_bytes, 0xEE);
    b.expected.resize(kRows * at.row_bytes);
    b.compare = form.compare;
    b.ulps = form.ulps;
  }
  for (const Place& at : places.in) p.buffers[at.buffer].initial.resize(kRows * at.row_bytes);
  const std::string kinds = s.input_letters + s.cell_letters;
  std::vector<std::vector<uint64_t>> columns;
  for (size_t i = 0; i < kinds.size(); ++i) columns.push_back(operand_values(kinds[i], i, seed_of(form.op + form.operands)));
  Lanes in(places.in.size()), out(places.out.size());
  for (size_t first = 0; first < kRows; first += kWarpSize) {
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
      for (size_t i = 0; i < in.size(); ++i) in[i][lane] = columns[i][first + lane];
      expect_lane(form, in, out, lane);
      for (size_t i = 0; i < in.size(); ++i) put(p.buffers[places.in[i].buffer].initial, places.in[i], first + lane, in[i][lane]);
    }
    if (form.expect_warp) form.expect_warp(in, out);
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
      for (size_t i = 0; i < out.size(); ++i) put(p.buffers[places.out[i].buffer].expected, places.out[i], first + lane, out[i][lane]);
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
