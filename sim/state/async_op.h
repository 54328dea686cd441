// Asynchronous operations as objects. An operation has four moments: issue (creates this object), operand read, result
// write, signal. A driver decides when each happens; engines (sim/engine) execute them. Plain data: copyable, serialisable.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <variant>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/isa/mods.h"
#include "sim/state/mbarrier.h"

namespace drywell::sim {

/// Issuer of an operation: CTA rank in its cluster, warp in the CTA, lane, and the instruction's program counter.
struct Issuer {
  uint32_t cta = 0;
  uint32_t warp = 0;
  uint32_t lane = 0;
  uint32_t pc = 0;
};

/// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
struct TensorCopy {
  enum class Direction : uint8_t {
    load,
    store,
    reduce
  } direction = Direction::load;
  isa::Mod mode = isa::Mod::tile;
  isa::Mod reduce_op = isa::Mod::none;
  uint64_t map_address = 0;        // generic address of the map in the instruction
  std::array<uint8_t, 128> map{};  // its bytes, captured at issue (tensormap proxy read)
  std::array<int32_t, 5> coord{};
  std::array<uint16_t, 3> offset{};  // im2col
  uint32_t rank = 0;
  uint32_t smem = 0;       // shared address: rank << 24 | offset
  uint32_t mbar = 0;       // mbarrier, same encoding
  uint16_t multicast = 0;  // CTA mask; 0 = none
  uint8_t cta_group = 0;   // 0 = unspecified
  uint32_t group = 0;      // bulk-group serial of the issuing thread (stores)
};

/// tcgen05.mma in every form.
struct Umma {
  isa::Mod kind = isa::Mod::none;
  uint32_t idesc = 0;
  uint32_t d = 0;  // TMEM address
  bool a_in_tmem = false;
  uint64_t a = 0;           // SMEM descriptor or TMEM address
  uint64_t b = 0;           // SMEM descriptor
  bool accumulate = false;  // enable-input-d
  uint8_t scale_d = 0;      // D · 2^-scale_d before the add
  uint8_t cta_group = 1;
  bool ws = false, sparse = false, ashift = false;
  uint32_t sfa = 0, sfb = 0, meta = 0;  // TMEM addresses
  uint8_t scale_vec = 0;                // the form's factors per row: 1, 2, 4 (K = 96 has half as many more); 0 = not block scaled
  bool sm103 = false;                   // the machine has sm_103's forms
  std::array<uint32_t, 8> disable_lane{};
  uint64_t zero_column_mask = 0;
  isa::Mod collector = isa::Mod::none;
};

/// tcgen05.cp and tcgen05.shift.
struct TmemCopy {
  isa::Mod shape = isa::Mod::none;
  isa::Mod multicast = isa::Mod::none;
  isa::Mod format = isa::Mod::none;  // source format of the decompression
  uint32_t taddr = 0;
  uint64_t desc = 0;
  uint8_t cta_group = 1;
};
struct TmemShift {
  uint32_t taddr = 0;
  uint8_t cta_group = 1;
};

/// tcgen05.commit: signals once every operation it depends on is complete.
struct Commit {
  uint32_t mbar = 0;
  uint16_t multicast = 0;
  uint8_t cta_group = 1;
};

/// tcgen05.ld / st of one warp. `regs` are register slots in the issuing warp's frame.
struct TmemLdSt {
  bool load = true;
  isa::Mod shape = isa::Mod::none;
  uint32_t num = 1;
  bool pack = false;
  int32_t split = 0;
  uint32_t taddr = 0;
  uint32_t frame = 0;  // register frame base
  std::vector<uint32_t> regs;
  std::vector<uint32_t> data;           // st: values captured at issue, register-major, 32 lanes each
  isa::Mod reduce_op = isa::Mod::none;  // ld.red: the last of `regs` receives the minimum or maximum of the others
  isa::Mod reduce_type = isa::Mod::none;
  bool reduce_abs = false, reduce_nan = false;
};

/// Non-tensor bulk copies and reductions (cp.async.bulk, cp.reduce.async.bulk) and st.bulk.
struct BulkCopy {
  enum class Kind : uint8_t {
    global_to_shared,
    shared_to_shared,
    shared_to_global
  } kind = Kind::global_to_shared;
  isa::Mod reduce_op = isa::Mod::none, reduce_type = isa::Mod::none;
  uint64_t src = 0, dst = 0;
  uint32_t bytes = 0;
  uint32_t mbar = 0;
  uint16_t multicast = 0;
  uint16_t byte_mask = 0xFFFF;
  uint8_t ignored_left = 0, ignored_right = 0;  // .ignore_oob: bytes of the source that are not read, at most 15 at either end
  uint32_t group = 0;
  /// The memories at its two ends.
  bool from_global() const { return kind == Kind::global_to_shared; }
  bool from_shared() const { return kind == Kind::shared_to_shared || kind == Kind::shared_to_global; }
  bool to_global() const { return kind == Kind::shared_to_global; }
  /// The bytes that it reads: all but the ignored ones.
  uint64_t first_read() const { return src + ignored_left; }
  uint32_t bytes_read() const { return bytes - std::min<uint32_t>(bytes, uint32_t{ignored_left} + ignored_right); }
  /// The first byte that the mask chooses, and the place behind the last one; equal if there is none. Bytes outside of these are neither read nor written, and need not exist.
  uint32_t first_chosen() const { return byte_mask == 0 ? 0 : static_cast<uint32_t>(std::countr_zero(byte_mask)); }
  uint32_t end_chosen() const { return byte_mask == 0 || bytes == 0 ? first_chosen() : bytes - static_cast<uint32_t>(std::countl_zero(byte_mask)); }
};

/// st.async, red.async: data and completion to shared memory of the cluster, or data to global memory.
struct RemoteStore {
  bool global = false;  // dst is a global address; no mbarrier is signalled
  uint64_t dst = 0;     // otherwise rank << 24 | offset
  uint32_t mbar = 0;
  std::array<uint64_t, 4> data{};
  uint8_t element_bytes = 4, elements = 1;
  isa::Mod reduce_op = isa::Mod::none, type = isa::Mod::none;
  uint32_t bytes() const { return uint32_t{element_bytes} * elements; }
};

/// mbarrier.arrive and similar operations on another CTA's barrier.
struct RemoteArrive {
  uint32_t mbar = 0;  // rank << 24 | offset
  MbarrierOp what = MbarrierOp::arrive;
  uint32_t amount = 0;  // arrivals or bytes
};

/// cp.async (one warp instruction; per-lane addresses) and cp.async.mbarrier.arrive. All lanes of one operation belong to the
/// same group or arrive on the same barrier.
struct AsyncCopy {
  struct Lane {
    uint32_t smem;
    uint64_t gmem;
    uint8_t bytes, src_bytes;
  };
  std::vector<Lane> lanes;  // in the order of `mask`
  LaneMask mask = 0;
  uint32_t mbar = 0;  // cp.async.mbarrier.arrive: barrier; `lanes` is then empty
  bool noinc = false;
  uint32_t group = 0;
};

/// The part of a wgmma.mma_async that one warp executes: 16 of the 64 rows.
struct Wgmma {
  uint16_t n = 0, k = 0;  // k counts elements of dense A
  isa::Mod a_type = isa::Mod::none, b_type = isa::Mod::none, d_type = isa::Mod::none;
  bool a_in_registers = false;
  uint64_t a = 0, b = 0;    // SMEM descriptors
  bool accumulate = false;  // scale-d
  bool negate_a = false, negate_b = false, trans_a = false, trans_b = false;
  bool saturate = false;
  bool sparse = false;
  uint8_t selector = 0;                  // sparse: lanes that hold the metadata
  uint32_t frame = 0;                    // register frame base; slots below are relative to it
  std::vector<uint32_t> d_regs, a_regs;  // D of f16: two elements per register
  std::array<uint32_t, 32> metadata{};
  uint32_t group = 0;  // serial in Warp::wgmma_groups
};

/// clusterlaunchcontrol.try_cancel.
struct TryCancel {
  uint32_t response = 0, mbar = 0;
  bool multicast = false;
};

/// Units that execute asynchronous operations.
enum class AsyncUnit : uint8_t {
  tma,
  tensor,
  tmem,
  cluster,
  copy /* cp.async */
};

/// std::variant of all types but the first, in the order of async_kinds.inc.
template <class First, class... Payload>
struct AsyncPayloads {
  using Variant = std::variant<Payload...>;
};

struct AsyncOp {
  enum class Stage : uint8_t {
    issued,
    read,
    written
  };
  using Payload = AsyncPayloads<void
#define ASYNC_KIND(KIND_, PAYLOAD_, UNIT_) , PAYLOAD_
#include "drywell/sim/async_kinds.inc"
#undef ASYNC_KIND
                                >::Variant;

  uint64_t id = 0;  // issue order in its cluster, from 1
  Stage stage = Stage::issued;
  Issuer issuer;
  Payload payload;
  std::vector<uint64_t> after;   // operations that must complete first
  std::vector<uint8_t> staging;  // bytes read, not yet written
};

inline AsyncUnit unit_of(const AsyncOp::Payload& p) {
  static constexpr AsyncUnit kUnits[] = {
#define ASYNC_KIND(KIND_, PAYLOAD_, UNIT_) AsyncUnit::UNIT_,
#include "drywell/sim/async_kinds.inc"
#undef ASYNC_KIND
  };
  return kUnits[p.index()];
}

/// True for arrivals on and stores into shared memory of the cluster: barrier.cluster orders these.
inline bool is_for_the_cluster(const AsyncOp& op) {
  const auto* store = std::get_if<RemoteStore>(&op.payload);
  return std::holds_alternative<RemoteArrive>(op.payload) || (store != nullptr && !store->global);
}

}  // namespace drywell::sim
