// Detects writes of a place in the steps of a session, also writes of an equal value.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/debug/provenance.h"
#include "sim/events/hub.h"

namespace drywell::sim {

class WriteProbe : public Listener {
 public:
  WriteProbe(Session& s, const Place& place);

  void memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store) override;
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override;
  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask) override;

  /// True if the place was written since the last call.
  bool take() { return std::exchange(hit_, false); }
  // Of the last write.
  const std::vector<Origin>& origins() const { return origins_; }
  const std::string& detail() const { return detail_; }
  bool accumulates() const { return accumulates_; }
  /// No event reports writes of predicates: the caller must watch them for changes.
  bool is_predicate() const { return register_.has_value() && register_->predicate; }

 private:
  bool writes_register(const Cluster& c, const AsyncOp& op) const;

  Session& session_;
  Place place_;
  std::optional<RegisterRef> register_;
  uint32_t frame_base_ = 0;
  bool hit_ = false;
  std::string detail_;
  std::vector<Origin> origins_;
  bool accumulates_ = false;
};

}  // namespace drywell::sim
