#include "kernels/blockwise/kernel_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "drywell/core/error.h"

namespace drywell::kernels::blockwise {
namespace {

/// The parts of a name between underscores, read in order.
class Parts {
 public:
  explicit Parts(std::string_view name) : name_(name) {
    for (size_t at = 0; at <= name.size();) {
      const size_t end = std::min(name.find('_', at), name.size());
      parts_.push_back(name.substr(at, end - at));
      at = end + 1;
    }
  }
  std::string_view next(const char* what) {
    if (at_ == parts_.size()) throw InputError(Code::E2311, fmt::format("kernel name '{}' ends before {}", name_, what), kForm);
    return parts_[at_++];
  }
  [[noreturn]] void refuse(const char* what) const { throw InputError(Code::E2311, fmt::format("kernel name '{}': '{}' is no {}", name_, parts_[at_ - 1], what), kForm); }
  /// Skips the next part if it is `text`; returns true if it was.
  bool skip(std::string_view text) {
    if (at_ == parts_.size() || parts_[at_] != text) return false;
    ++at_;
    return true;
  }
  std::string rest() const {
    std::string out;
    for (size_t i = at_; i < parts_.size(); ++i) out += (out.empty() ? "" : "_") + std::string(parts_[i]);
    return out;
  }

 private:
  static constexpr const char* kForm =
      "as cutlass3x_sm100_tensorop_gemm_64x128f32xe4m3_1x128f32xe4m3_f32_f16_f16_64x128x128_1x1x1_0_nnn_align16_1sm";
  std::string_view name_;
  std::vector<std::string_view> parts_;
  size_t at_ = 0;
};

/// Reads a number at the front of `text` and removes it.
bool take_number(std::string_view& text, uint32_t& v) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}
bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

ScaledTensor scaled_tensor(Parts& parts, const char* what) {
  std::string_view text = parts.next(what);
  ScaledTensor t;
  if (!take_number(text, t.granularity_mn) || !take(text, "x") || !take_number(text, t.granularity_k)) parts.refuse(what);
  const size_t x = text.find('x');
  if (x == std::string_view::npos || x == 0 || x + 1 == text.size() || t.granularity_mn == 0 || t.granularity_k == 0) parts.refuse(what);
  t.scale_type = text.substr(0, x);
  t.element = text.substr(x + 1);
  return t;
}

std::array<uint32_t, 3> triple(Parts& parts, const char* what) {
  std::string_view text = parts.next(what);
  std::array<uint32_t, 3> v{};
  if (!take_number(text, v[0]) || !take(text, "x") || !take_number(text, v[1]) || !take(text, "x") || !take_number(text, v[2]) || !text.empty()) parts.refuse(what);
  return v;
}

uint32_t number_after(Parts& parts, std::string_view prefix, const char* what) {
  std::string_view text = parts.next(what);
  uint32_t v = 0;
  if (!take(text, prefix) || !take_number(text, v) || !text.empty()) parts.refuse(what);
  return v;
}

const char* order(char layout) { return layout == 'n' ? "column major" : "row major"; }

std::string layouts_text(const std::string& l) {
  if (l[0] == l[1] && l[1] == l[2]) return fmt::format("A, B, C, and D are all {}", order(l[0]));
  return fmt::format("A is {}, B is {}, C and D are {}", order(l[0]), order(l[1]), order(l[2]));
}

}  // namespace

KernelName parse_kernel_name(std::string_view name) {
  Parts parts(name);
  KernelName n;
  n.family = parts.next("the library (cutlass3x)");
  if (n.family != "cutlass3x") parts.refuse("library (cutlass3x)");
  n.sm = number_after(parts, "sm", "architecture (sm100)");
  n.core = parts.next("the kind of core (tensorop)");
  n.problem = parts.next("the kind of problem (gemm)");
  if (parts.skip("grouped")) n.problem += "_grouped";
  n.a = scaled_tensor(parts, "SFA and A (64x128f32xe4m3)");
  n.b = scaled_tensor(parts, "SFB and B (1x128f32xe4m3)");
  n.epilogue = parts.next("the type of the epilogue");
  n.c = parts.next("the type of C");
  n.d = parts.next("the type of D");
  n.tile = triple(parts, "MMA tile (64x128x128)");
  n.cluster = triple(parts, "cluster shape (1x1x1)");
  n.stages = number_after(parts, "", "number of stages");
  n.layouts = parts.next("the layouts (nnn)");
  if (n.layouts.size() != 3 || n.layouts.find_first_not_of("nt") != std::string::npos) parts.refuse("layout of A, B and C (three of n and t)");
  n.alignment = number_after(parts, "align", "alignment (align16)");
  n.rest = parts.rest();
  if (n.rest.starts_with("1sm") || n.rest.starts_with("2sm")) n.cta_group = static_cast<uint32_t>(n.rest[0] - '0');
  return n;
}

std::vector<std::string> explain(const KernelName& n) {
  const auto scales = [](const char* sf, const char* mn, const ScaledTensor& t) {
    return fmt::format("{} is {} with a {} element scale granularity {} and a {} element scale granularity k", sf, t.scale_type, t.granularity_mn, mn, t.granularity_k);
  };
  // "runtime f8 types": the launch selects one of the two.
  const auto element = [](const ScaledTensor& t) { return t.element == "f8" ? "f8, e4m3 or e5m2 as the launch says" : t.element; };
  const auto triple_text = [](const std::array<uint32_t, 3>& v) { return fmt::format("{}x{}x{}", v[0], v[1], v[2]); };
  std::vector<std::string> out = {
      fmt::format("a CUTLASS 3 {} for SM{} that uses {}", n.problem == "gemm" ? "GEMM" : n.problem == "gemm_grouped" ? "grouped GEMM"
                                                                                                                     : n.problem,
                  n.sm, n.core == "tensorop" ? "tensor cores" : n.core),
      scales("SFA", "m", n.a),
      fmt::format("the A matrix is {}", element(n.a)),
      scales("SFB", "n", n.b),
      fmt::format("the B matrix is {}", element(n.b)),
      fmt::format("the epilogue is done in {}", n.epilogue),
      n.c == "void" ? "there is no C matrix" : fmt::format("the C matrix is {}", n.c),
      fmt::format("the D matrix is {}", n.d),
      fmt::format("the MMA tile shape is {}", triple_text(n.tile)),
      n.cluster[0] == 0 ? "the cluster shape is given at the launch" : fmt::format("the cluster shape is {}", triple_text(n.cluster)),
      n.stages == 0 ? "as many stages as fit" : fmt::format("{} stages", n.stages),
      layouts_text(n.layouts),
      fmt::format("the alignment of the major modes is {} elements for A, B, C, and D", n.alignment)};
  if (n.cta_group != 0) out.push_back(fmt::format("the MMA variant is a {}SM instruction", n.cta_group));
  return out;
}

namespace {

/// Number of CTAs of an instruction.
uint32_t group_of(const KernelName& n) { return n.cta_group == 2 ? 2 : 1; }

/// Returns the reason why no kernel here has such a cluster; empty if one does.
std::string cluster_obstacle(const KernelName& n) {
  const uint32_t group = group_of(n), m = n.cluster[0] / group, columns = n.cluster[1];
  if (n.cluster[0] == 0 && columns == 0) return "";
  const auto fits = [](uint32_t tiles) { return tiles == 1 || tiles == 2 || tiles == 4 || tiles == 8; };
  if (n.cluster[2] != 1) return "clusters along k";
  if (n.cluster[0] % group != 0) return "a 2SM instruction takes two CTAs along m";
  if (!fits(m) || !fits(columns)) return "clusters here have 1, 2, 4 or 8 tiles along m and along n";
  return "";
}

/// Returns the reason why no kernel here computes the named problem; empty if one does.
std::string obstacle(const KernelName& n) {
  const bool hopper = n.sm == 90;
  if (!hopper && n.sm != 100) return fmt::format("kernels here are for sm90 and sm100, not sm{}", n.sm);
  if (n.problem != "gemm" && n.problem != "gemm_grouped") return fmt::format("problems of kind {}", n.problem);
  if (hopper && n.problem != "gemm") return "gemm-sm90-blockwise has one problem";
  for (const std::string& e : {n.a.element, n.b.element}) {
    if (e != "e4m3" && e != "e5m2" && e != "f8") return fmt::format("elements of {}", e);
  }
  if (n.d != "f16" && n.d != "bf16" && n.d != "f32") return fmt::format("D of {}", n.d);
  if (n.c != "void" && n.c != n.d) return fmt::format("C of {} here has D's type", n.c);
  if (n.a.granularity_k != n.b.granularity_k) return "SFA and SFB here share their granularity along k";
  if (const std::string why = cluster_obstacle(n); !why.empty()) return why;
  if (hopper) {
    if (n.tile[0] != 128) return "tiles here have 128 rows";
    if (n.tile[2] != n.a.granularity_k) return "a stage here is one block of scale-k";
    if (n.layouts.substr(0, 2) != "tn") return "A and B here are K-major (tn), as FP8 on Hopper has to be";
    return "";
  }
  if (n.tile[2] != 128) return "stages here are 128 elements of k";
  const uint32_t rows = n.tile[0] / group_of(n);
  if (rows != 64 && rows != 128) return fmt::format("{} rows a CTA", rows);
  return "";
}

}  // namespace

std::string equivalent(const KernelName& n) {
  if (const std::string why = obstacle(n); !why.empty()) return "none: " + why;
  const bool hopper = n.sm == 90;
  const auto element = [](const ScaledTensor& t) { return t.element == "f8" ? "e4m3" : t.element; };
  std::string words = fmt::format("{} --a-format={} --b-format={} --scale-m={} --scale-n={} --scale-k={} --bn={} --d-type={}",
                                  hopper ? "gemm-sm90-blockwise --arch=sm_90a" : "gemm-blockwise", element(n.a), element(n.b), n.a.granularity_mn,
                                  n.b.granularity_mn, n.a.granularity_k, n.tile[1], n.d);
  if (n.c != "void") words += " --beta=1";
  if (n.stages != 0) words += fmt::format(" --stages={}", n.stages);
  if (n.layouts[2] == 'n') words += " --d-major=mn";
  const uint32_t group = group_of(n);
  if (n.cluster[0] > group) words += fmt::format(" --cluster-m={}", n.cluster[0] / group);
  if (n.cluster[1] > 1) words += fmt::format(" --cluster-n={}", n.cluster[1]);
  if (hopper) return words;
  if (n.tile[0] / group != 128) words += fmt::format(" --bm={}", n.tile[0] / group);
  // A is m x k, B is k x n: the letter gives the index that is contiguous in memory.
  if (n.layouts[0] == 'n') words += " --a-major=mn";
  if (n.layouts[1] == 't') words += " --b-major=mn";
  if (group == 2) words += " --cta-group=2";
  if (n.problem == "gemm_grouped") words += " --groups=256x256x256,128x128x512";
  return words;
}

}  // namespace drywell::kernels::blockwise
