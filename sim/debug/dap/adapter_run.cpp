// Requests that run the launch.
#include <utility>

#include "sim/debug/dap/adapter.h"
#include "sim/debug/describe.h"

namespace drywell::sim::dap {

// The response is sent first; then serve() runs the motion.
Json DapAdapter::start(Motion m, Json body) {
  motion_ = std::move(m);
  return body;
}

void DapAdapter::run_motion() {
  handles_.clear();
  pause_ = false;
  while (true) {
    const StopReason r = motion_();
    if (!is_wanted(r)) continue;
    if (r.kind != StopReason::Kind::interrupted) {
      motion_ = nullptr;
      return report_stop(r);
    }
    // Answers a message and continues, unless the message ends the motion.
    std::optional<Wire::Message> m = wire_.receive();
    if (!m.has_value())
      left_ = true;
    else if (!m->error.empty())
      refuse(Json::object(), m->error);
    else {
      const Motion before = std::exchange(motion_, nullptr);
      const std::string name = motion_name_;
      handle(m->body);
      if (!motion_) {
        motion_ = before;
        motion_name_ = name;
      }
    }
    if (left_ || std::exchange(pause_, false)) {
      motion_ = nullptr;
      motion_name_ = "pause";
      if (!left_) report_stop({});
      return;
    }
  }
}

void DapAdapter::report_stop(const StopReason& r) {
  const std::string printed = session().output();
  if (printed.size() > printed_) event("output", {{"category", "stdout"}, {"output", printed.substr(printed_)}});
  printed_ = printed.size();
  Json body = {{"threadId", thread_id(debugger_.focus)}, {"allThreadsStopped", true}};
  body["reason"] = motion_name_;
  switch (r.kind) {
    case StopReason::Kind::hit: {
      const Stop* stop = debugger_.stops().find(r.hit.id);
      const bool data = stop != nullptr && is_watch(stop->what);
      body["reason"] = data ? "data breakpoint" : "breakpoint";
      body["hitBreakpointIds"] = {r.hit.id};
      if (stop != nullptr) body["description"] = stop->text;
      body["text"] = r.hit.text.empty() ? describe_step(session(), debugger_.code()) : r.hit.text;
      break;
    }
    case StopReason::Kind::start: body["description"] = "the beginning of the launch"; break;
    case StopReason::Kind::end:
      if (!session().fault().has_value()) {
        over_ = true;
        return;
      }
      body["reason"] = "exception";
      body["description"] = code_name(session().fault()->code);
      body["text"] = session().fault()->to_string();
      break;
    default: break;
  }
  event("stopped", body);
}

// A relay says it for each launch (relay.cpp).
Json DapAdapter::configuration_done(const Json& a) {
  if (a.value("stopOnEntry", stop_on_entry_)) {
    return start([this]() -> StopReason {
      motion_name_ = "entry";
      return {};
    });
  }
  motion_name_ = "step";
  return start([this] { return debugger_.forward({}); });
}

namespace {
bool by_instruction(const Json& a) { return a.value("granularity", "statement") == "instruction"; }
}  // namespace

Json DapAdapter::do_continue(const Json&) {
  motion_name_ = "step";
  return start([this] { return debugger_.forward({}); }, {{"allThreadsContinued", true}});
}

// A motion may run again after an interruption: its condition is made once.
Json DapAdapter::do_next(const Json& a) {
  debugger_.focus = warp_of(a.at("threadId").get<uint64_t>());
  motion_name_ = "step";
  const auto wanted = by_instruction(a) ? debugger_.warp_step() : debugger_.line_step(true);
  return start([this, wanted] { return debugger_.forward(wanted); });
}

Json DapAdapter::do_step_in(const Json& a) {
  debugger_.focus = warp_of(a.at("threadId").get<uint64_t>());
  motion_name_ = "step";
  const auto wanted = by_instruction(a) ? debugger_.warp_step() : debugger_.line_step(false);
  return start([this, wanted] { return debugger_.forward(wanted); });
}

Json DapAdapter::do_step_out(const Json& a) {
  debugger_.focus = warp_of(a.at("threadId").get<uint64_t>());
  motion_name_ = "step";
  const auto wanted = debugger_.out_step();
  return start([this, wanted] { return debugger_.forward(wanted); });
}

Json DapAdapter::do_step_back(const Json& a) {
  debugger_.focus = warp_of(a.at("threadId").get<uint64_t>());
  motion_name_ = "step";
  const auto wanted = by_instruction(a) ? debugger_.warp_step() : debugger_.line_step(true);
  return start([this, wanted] { return debugger_.back(wanted); });
}

Json DapAdapter::do_reverse_continue(const Json&) {
  motion_name_ = "step";
  return start([this] { return debugger_.back({}); });
}

Json DapAdapter::do_pause(const Json&) {
  pause_ = true;
  return Json::object();
}

Json DapAdapter::do_restart(const Json&) {
  motion_name_ = "entry";
  return start([this]() -> StopReason {
    session().seek(0);
    return {};
  });
}

Json DapAdapter::do_disconnect(const Json&) {
  left_ = true;
  return Json::object();
}

}  // namespace drywell::sim::dap
