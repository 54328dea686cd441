// An accelerator that hands every call on to another one: for host code that owns its accelerator while the other one has an owner
// already, and as the base of classes that change a part.
#pragma once

#include <utility>

#include "drywell/launch/accelerator.h"

namespace drywell::kernels {

class ForwardingAccelerator : public Accelerator {
 public:
  explicit ForwardingAccelerator(Accelerator& to) : to_(to) {}
  /// A copy would leave out what a derived class changes.
  ForwardingAccelerator(const ForwardingAccelerator&) = delete;
  ForwardingAccelerator& operator=(const ForwardingAccelerator&) = delete;

  const sim::ArchConfig& arch() const override { return to_.arch(); }
  uint32_t sm_count() const override { return to_.sm_count(); }
  GmemAddr allocate(uint64_t bytes, std::string name) override { return to_.allocate(bytes, std::move(name)); }
  void release(GmemAddr a) override { to_.release(a); }
  void write(GmemAddr to, const void* from, uint64_t bytes) override { to_.write(to, from, bytes); }
  void read(void* to, GmemAddr from, uint64_t bytes) override { to_.read(to, from, bytes); }
  isa::TensorMap encode(const isa::TensorMapFields& fields) override { return to_.encode(fields); }
  using Accelerator::load;
  void load(isa::Module module, std::string_view text) override { to_.load(std::move(module), text); }
  sim::RunResult launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, const sim::RunOptions& options) override {
    return to_.launch(kernel, config, args, options);
  }

 protected:
  Accelerator& target() const { return to_; }

 private:
  Accelerator& to_;
};

}  // namespace drywell::kernels
