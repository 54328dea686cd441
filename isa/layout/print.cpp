#include "drywell/isa/layout/print.h"

#include <fmt/format.h>

#include "drywell/core/types.h"

namespace drywell::layout {
namespace {

const char* space_prefix(Pointer::Space s) {
  switch (s) {
    case Pointer::Space::none: return "";
    case Pointer::Space::gmem: return "gmem_";
    case Pointer::Space::smem: return "smem_";
    case Pointer::Space::rmem: return "rmem_";
    case Pointer::Space::tmem: return "tmem_";
  }
  return "";
}

struct PrintOrigin {
  Marks marks;
  std::string operator()(const NoOrigin&) const { return {}; }
  std::string operator()(const Offset& o) const { return to_string(o.value, marks); }
  std::string operator()(const SmemFlag& f) const {
    std::string s = fmt::format("smem_ptr[{}b](unset)", f.bits);
    return f.offset == 0 ? s : s + fmt::format("{:+}", f.offset);
  }
  std::string operator()(const CoordOrigin& c) const { return "ArithTuple" + to_string(c.value, marks); }
  std::string operator()(const Pointer& p) const { return to_string(p); }
  std::string operator()(const DescriptorOrigin& d) const {
    return d.gmma ? "GMMA::DescriptorIterator" : "UMMA::DescriptorIterator";
  }
};

template <class T>
std::string join(const T& modes, Marks marks) {
  std::string s = "(";
  for (size_t i = 0; i < modes.size(); ++i) {
    if (i != 0) s += ',';
    s += to_string(modes[i], marks);
  }
  return s + ')';
}

}  // namespace

std::string to_string(const Int& v, Marks marks) {
  std::string s = fmt::format("{}{}", marks == Marks::cute && v.is_static ? "_" : "", v.value);
  for (int i = v.basis_depth; i-- > 0;) s += fmt::format("@{}", v.basis[i]);
  return s;
}

std::string to_string(const IntTuple& t, Marks marks) {
  if (t.is_underscore()) return "_";
  if (t.is_leaf()) return to_string(t.leaf(), marks);
  return join(t.modes(), marks);
}

std::string to_string(const Layout& l, Marks marks) {
  return to_string(l.shape(), marks) + ":" + to_string(l.stride(), marks);
}

std::string to_string(const Tiler& t, Marks marks) {
  if (t.is_layout()) return to_string(t.layout(), marks);
  if (t.is_tuple()) return join(t.modes(), marks);
  return to_string(t.leaf(), marks);
}

std::string to_string(const Swizzle& s, Marks marks) {
  return fmt::format("{}<{},{},{}>", marks == Marks::cute ? "Sw" : "S", s.bits(), s.base(), s.shift());
}

std::string to_string(const Pointer& p) {
  if (p.space == Pointer::Space::tmem) {
    return fmt::format("tmem_[{}b](0x{:04x}.{:04x})", p.bits, TmemAddr(static_cast<uint32_t>(p.address)).lane(), TmemAddr(static_cast<uint32_t>(p.address)).column());
  }
  if (p.sub_byte) {
    return fmt::format("{}subptr[{}b](0x{:x}.{})", space_prefix(p.space), p.bits, p.address, p.bit_index);
  }
  return fmt::format("{}ptr[{}b](0x{:x})", space_prefix(p.space), p.bits, p.address);
}

std::string to_string(const ComposedLayout& l, Marks marks) {
  std::string s;
  if (l.swizzle()) {
    // A swizzled pointer is one object; everything else is a chain of functions.
    s = to_string(*l.swizzle(), marks) + (std::holds_alternative<Pointer>(l.origin()) ? "_" : " o ");
  }
  const std::string origin = std::visit(PrintOrigin{marks}, l.origin());
  if (!origin.empty()) s += origin + " o ";
  return s + to_string(l.layout(), marks);
}

}  // namespace drywell::layout
