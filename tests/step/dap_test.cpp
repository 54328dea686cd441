// drywell dap, driven as an editor drives it.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>

#include "drywell/core/files.h"
#include "step/dap_client.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell::test {
namespace {

class Dap : public testing::Test {
 protected:
  void SetUp() override {
    if (binary_path().empty()) GTEST_SKIP() << "no drywell command in this build";
    client_ = std::make_unique<DapClient>(binary_path(), source_path(""));
  }
  Json ok(const std::string& command, Json arguments = Json::object()) {
    Json r = client_->request(command, std::move(arguments));
    EXPECT_TRUE(r.value("success", false)) << command << ": " << r.dump();
    return r.contains("body") ? r["body"] : Json::object();
  }
  std::string refused(const std::string& command, Json arguments = Json::object()) {
    const Json r = client_->request(command, std::move(arguments));
    EXPECT_FALSE(r.value("success", true)) << command << ": " << r.dump();
    return r.value("message", "");
  }
  void begin(Json launch) {
    ok("initialize", {{"adapterID", "drywell"}});
    ok("launch", std::move(launch));
    client_->event("initialized");
  }
  Json registers(uint64_t thread) {
    const Json frames = ok("stackTrace", {{"threadId", thread}})["stackFrames"];
    const Json scopes = ok("scopes", {{"frameId", frames[0]["id"]}})["scopes"];
    for (const Json& s : scopes) {
      if (s["name"] != "Registers") continue;
      const Json list = ok("variables", {{"variablesReference", s["variablesReference"]}})["variables"];
      Json values = Json::object();
      for (const Json& v : list) values[v["name"].get<std::string>()] = v["value"];
      return values;
    }
    return nullptr;
  }
  std::unique_ptr<DapClient> client_;
};

const Json kFused = {{"program", "fused-rht"}, {"args", {"--m=256", "--n=256", "--verify"}}};

// At the end of the first MMA: D lies in tensor memory, its operands in shared memory.
TEST_F(Dap, ScopesShowTheMemoriesOfTheCta) {
  begin(kFused);
  ok("configurationDone");
  client_->event("stopped");
  ok("evaluate", {{"expression", "break umma done"}, {"context", "repl"}});
  ok("evaluate", {{"expression", "continue"}, {"context", "repl"}});
  const uint64_t thread = client_->event("stopped")["threadId"].get<uint64_t>();
  const auto variables = [&](const Json& reference) { return ok("variables", {{"variablesReference", reference}})["variables"]; };
  const auto scope = [&](const std::string& name) -> Json {
    const Json frame = ok("stackTrace", {{"threadId", thread}})["stackFrames"][0];
    const Json scopes = ok("scopes", {{"frameId", frame["id"]}})["scopes"];
    for (const Json& s : scopes)
      if (s["name"] == name) return variables(s["variablesReference"]);
    return nullptr;
  };
  EXPECT_TRUE(scope("TMA in flight").is_array());
  const Json tensor = scope("Tensor memory");
  ASSERT_EQ(tensor.size(), 1u) << tensor.dump();
  const Json columns = variables(tensor[0]["variablesReference"]);
  EXPECT_EQ(columns.size(), tensor[0]["indexedVariables"].get<size_t>());
  EXPECT_EQ(variables(columns[0]["variablesReference"]).size(), 32u);
  const Json blocks = scope("Shared memory");
  ASSERT_FALSE(blocks.empty());
  const Json& block = blocks.back();
  const Json lines = variables(block["variablesReference"]);
  ASSERT_EQ(lines.size(), block["indexedVariables"].get<size_t>());
  const Json page = ok("variables", {{"variablesReference", block["variablesReference"]}, {"start", 2}, {"count", 3}})["variables"];
  ASSERT_EQ(page.size(), 3u);
  EXPECT_EQ(page[0], lines[2]);
  // The first word of a line is what its memory reference reads, byte by byte.
  const Json memory = ok("readMemory", {{"memoryReference", lines[0]["memoryReference"]}, {"count", 3}});
  EXPECT_EQ(memory["data"].get<std::string>().size(), 4u);
  ok("disconnect");
}

TEST_F(Dap, StepsAKernelForwardAndBack) {
  const Json capabilities = ok("initialize", {{"adapterID", "drywell"}});
  EXPECT_TRUE(capabilities["supportsStepBack"]);
  ok("launch", kFused);
  client_->event("initialized");

  const Json mma = ok("setFunctionBreakpoints", {{"breakpoints", {{{"name", "tcgen05.mma"}}, {{"name", "no.such"}}}}})["breakpoints"];
  ASSERT_EQ(mma.size(), 2u);
  EXPECT_TRUE(mma[0]["verified"]);
  EXPECT_FALSE(mma[1]["verified"]);
  ASSERT_TRUE(mma[0].contains("source"));
  EXPECT_NE(mma[0]["source"]["path"].get<std::string>().find("kernels/fused_rht/kernel.cpp"), std::string::npos);

  ok("configurationDone");
  Json stop = client_->event("stopped");
  EXPECT_EQ(stop["reason"], "entry");
  EXPECT_GT(ok("threads")["threads"].size(), 4u);

  ok("continue", {{"threadId", 1}});
  stop = client_->event("stopped");
  EXPECT_EQ(stop["reason"], "breakpoint");
  EXPECT_EQ(stop["hitBreakpointIds"][0], mma[0]["id"]);
  const auto thread = stop["threadId"].get<uint64_t>();
  const Json frame = ok("stackTrace", {{"threadId", thread}})["stackFrames"][0];
  EXPECT_EQ(frame["line"], mma[0]["line"]);
  EXPECT_NE(frame["name"].get<std::string>().find("tcgen05.mma"), std::string::npos);

  // A breakpoint at the line itself replaces the one by name.
  ok("setFunctionBreakpoints", {{"breakpoints", Json::array()}});
  const Json lines = ok("setBreakpoints", {{"source", frame["source"]}, {"breakpoints", {{{"line", frame["line"]}, {"condition", "warp == 0 || warp != 0"}}, {{"line", frame["line"]}, {"condition", "warp =="}}}}});
  EXPECT_TRUE(lines["breakpoints"][0]["verified"]);
  EXPECT_FALSE(lines["breakpoints"][1]["verified"]);

  const Json before = registers(thread);
  ASSERT_FALSE(before.empty());
  ok("next", {{"threadId", thread}, {"granularity", "instruction"}});
  EXPECT_EQ(client_->event("stopped")["reason"], "step");
  ok("next", {{"threadId", thread}});
  client_->event("stopped");
  ok("reverseContinue", {{"threadId", thread}});
  EXPECT_EQ(client_->event("stopped")["reason"], "breakpoint");
  EXPECT_EQ(registers(thread), before);

  ok("stepIn", {{"threadId", thread}, {"granularity", "instruction"}});
  client_->event("stopped");
  ok("stepBack", {{"threadId", thread}, {"granularity", "instruction"}});
  client_->event("stopped");
  EXPECT_EQ(registers(thread), before);

  ok("setBreakpoints", {{"source", frame["source"]}, {"breakpoints", Json::array()}});
  ok("continue", {{"threadId", thread}});
  EXPECT_EQ(client_->event("exited")["exitCode"], 0);
  client_->event("terminated");
  EXPECT_NE(client_->event("output")["output"].get<std::string>().find("verified"), std::string::npos);
  ok("disconnect");
  EXPECT_EQ(client_->finish(), 0);
}

TEST_F(Dap, ShowsWhatIsThere) {
  begin(kFused);
  ok("configurationDone");
  client_->event("stopped");
  const Json frame = ok("stackTrace", {{"threadId", 1}})["stackFrames"][0];
  const Json code = ok("disassemble", {{"memoryReference", frame["instructionPointerReference"]}, {"instructionOffset", -2}, {"instructionCount", 10}})["instructions"];
  ASSERT_EQ(code.size(), 10u);
  EXPECT_EQ(code[0]["presentationHint"], "invalid");
  EXPECT_FALSE(code[2]["instruction"].get<std::string>().empty());
  const Json at = ok("setInstructionBreakpoints", {{"breakpoints", {{{"instructionReference", code[8]["address"]}}, {{"instructionReference", "0xffffffff"}}}}})["breakpoints"];
  EXPECT_TRUE(at[0]["verified"]);
  EXPECT_FALSE(at[1]["verified"]);
  ok("continue", {{"threadId", 1}});
  EXPECT_EQ(client_->event("stopped")["reason"], "breakpoint");
  ok("setInstructionBreakpoints", {{"breakpoints", Json::array()}});

  // A command of `drywell step` in the debug console; it changes the position, so that the client receives an event.
  const Json frame2 = ok("stackTrace", {{"threadId", 1}})["stackFrames"][0];
  const Json said = ok("evaluate", {{"expression", "break umma done"}, {"context", "repl"}, {"frameId", frame2["id"]}});
  EXPECT_NE(said["result"].get<std::string>().find("breakpoint"), std::string::npos);
  ok("evaluate", {{"expression", "continue"}, {"context", "repl"}});
  const uint64_t thread = client_->event("stopped")["threadId"].get<uint64_t>();
  const Json frame3 = ok("stackTrace", {{"threadId", thread}})["stackFrames"][0];
  EXPECT_EQ(ok("evaluate", {{"expression", "%tid.x * 0 + 7"}, {"context", "watch"}, {"frameId", frame3["id"]}})["result"], "7");
  const Json scopes = ok("scopes", {{"frameId", frame3["id"]}})["scopes"];
  for (const Json& scope : scopes) {
    const Json values = ok("variables", {{"variablesReference", scope["variablesReference"]}})["variables"];
    if (scope["name"] == "mbarriers") {
      ASSERT_FALSE(values.empty());
      const Json memory = ok("readMemory", {{"memoryReference", values[0]["memoryReference"]}, {"count", 8}});
      EXPECT_EQ(memory["data"].get<std::string>().size(), 12u);
    }
    if (scope["name"] == "Special registers") {
      EXPECT_EQ(values[0]["name"], "%tid.x");
      EXPECT_EQ(ok("variables", {{"variablesReference", values[0]["variablesReference"]}})["variables"].size(), 32u);
    }
  }
  EXPECT_FALSE(ok("loadedSources")["sources"].empty());
  const Json info = ok("dataBreakpointInfo", {{"name", "tmem 5,3"}});
  ASSERT_TRUE(info["dataId"].is_string());
  EXPECT_TRUE(ok("dataBreakpointInfo", {{"name", "%nonsense"}})["dataId"].is_null());
  ok("evaluate", {{"expression", "delete"}, {"context", "repl"}});
  ok("setDataBreakpoints", {{"breakpoints", {{{"dataId", info["dataId"]}}}}});
  ok("continue", {{"threadId", thread}});
  EXPECT_EQ(client_->event("stopped")["reason"], "data breakpoint");
  ok("terminate");
  EXPECT_EQ(client_->finish(), 0);
}

TEST_F(Dap, SaysWhatTheLaunchLacks) {
  ok("initialize", {{"adapterID", "drywell"}});
  const std::string message = refused("launch", {{"args", Json::array()}});
  EXPECT_EQ(message,
            "launch takes program (a kernel, a .ptx, .toml or .py file, or a CUDA program), args, arch, driver, options, kernel, python, "
            "stopOnEntry, launch, cwd, sourceRoot: key 'program' not found");
  EXPECT_EQ(refused("launch", {{"program", 7}}).find("[json"), std::string::npos);  // the library's own numbers
}

// A breakpoint on a call of a wrapper stops at the wrapper's inlined instruction, and the call is the frame above.
TEST_F(Dap, InlinedCallsAreFrames) {
  begin({{"program", source_path("examples/cuda/tma_copy.toml")}, {"stopOnEntry", false}});
  const std::string kernel = source_path("examples/cuda/tma_copy.cu"), text = read_text_file(kernel);
  const auto call = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("ptx::load_2d")), '\n') + 1;
  const Json bp = ok("setBreakpoints", {{"source", {{"path", kernel}}}, {"breakpoints", {{{"line", call}}}}})["breakpoints"];
  EXPECT_TRUE(bp[0]["verified"]) << bp.dump();
  ok("configurationDone");
  const auto thread = client_->event("stopped")["threadId"].get<uint64_t>();
  const Json frames = ok("stackTrace", {{"threadId", thread}})["stackFrames"];
  ASSERT_EQ(frames.size(), 2u) << frames.dump();
  EXPECT_EQ(frames[0]["source"]["name"], "ptx.cuh");
  EXPECT_EQ(frames[1]["source"]["path"], kernel);
  EXPECT_EQ(frames[1]["line"], call);
  EXPECT_FALSE(ok("scopes", {{"frameId", frames[1]["id"]}})["scopes"].empty());
  ok("disconnect");
  EXPECT_EQ(client_->finish(), 0);
}

TEST_F(Dap, PausesWhatRuns) {
  const TemporaryDirectory folder;
  const std::string file = folder.file("spin.ptx");
  write_file_atomically(file, std::string_view(".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry spin(.param .u64 p) {\n  .reg .b64 %a;\n  .reg .b32 %v;\n  .reg .pred %q;\n"
                                               "  ld.param.u64 %a, [p];\nagain:\n  ld.volatile.global.u32 %v, [%a];\n  setp.eq.u32 %q, %v, 0;\n  @%q bra again;\n  ret;\n}\n"));
  begin({{"program", file}, {"args", {"--block=32", "--buffer=x=u32[1]:zeros", "--arg=@x"}}, {"stopOnEntry", false}});
  const Json bp = ok("setBreakpoints", {{"source", {{"path", file}}}, {"breakpoints", {{{"line", 10}}}}})["breakpoints"];
  EXPECT_TRUE(bp[0]["verified"]) << bp.dump();
  ok("configurationDone");
  Json stop = client_->event("stopped");
  EXPECT_EQ(stop["reason"], "breakpoint");
  const Json frame = ok("stackTrace", {{"threadId", 1}})["stackFrames"][0];
  EXPECT_EQ(frame["line"], 10);
  EXPECT_EQ(frame["source"]["path"], file);
  ok("continue", {{"threadId", 1}});  // the next iteration of the loop
  client_->event("stopped");
  ok("setBreakpoints", {{"source", {{"path", file}}}, {"breakpoints", Json::array()}});
  ok("continue", {{"threadId", 1}});
  ok("threads");  // answered while it runs
  ok("pause", {{"threadId", 1}});
  stop = client_->event("stopped");
  EXPECT_EQ(stop["reason"], "pause");
  ok("disconnect");
  EXPECT_EQ(client_->finish(), 0);
}

TEST_F(Dap, AFaultIsAnExceptionThatCanBeSteppedBackFrom) {
  const TemporaryDirectory folder;
  const std::string file = folder.file("fault.ptx");
  write_file_atomically(file, std::string_view(".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry f(.param .u64 p) {\n  .reg .b64 %a;\n  .reg .b32 %v;\n"
                                               "  ld.param.u64 %a, [p];\n  mov.u32 %v, 7;\n  st.global.u32 [%a+4096], %v;\n  ret;\n}\n"));
  begin({{"program", file}, {"args", {"--block=32", "--buffer=x=u32[1]:zeros", "--arg=@x"}}});
  ok("configurationDone");
  client_->event("stopped");
  ok("continue", {{"threadId", 1}});
  const Json stop = client_->event("stopped");
  EXPECT_EQ(stop["reason"], "exception");
  EXPECT_EQ(stop["description"], "F3001");
  ok("stepBack", {{"threadId", 1}, {"granularity", "instruction"}});
  client_->event("stopped");
  EXPECT_EQ(registers(1)["%v"], "0x00000007");
  ok("disconnect");
  EXPECT_EQ(client_->finish(), 0);
}

TEST_F(Dap, SurvivesBadMessages) {
  EXPECT_FALSE(refused("threads").empty());
  EXPECT_FALSE(refused("launch", {{"program", "no-such-kernel"}}).empty());
  EXPECT_FALSE(refused("launch", {{"args", 3}}).empty());
  EXPECT_FALSE(refused("launch", {{"program", "fused-rht"}, {"args", {"--no-such=1"}}}).empty());
  begin(kFused);
  client_->send_text("{ this is no JSON");
  EXPECT_FALSE(client_->receive()["success"]);
  client_->send_text("[1, 2]");
  EXPECT_FALSE(client_->receive()["success"]);
  client_->send_raw("GET / HTTP/1.1\r\n");
  EXPECT_FALSE(client_->receive()["success"]);
  client_->send_raw("Content-Length: banana\r\n\r\n");
  EXPECT_FALSE(client_->receive()["success"]);
  client_->send_raw("Content-Length: 12abc\r\n\r\n");
  EXPECT_FALSE(client_->receive()["success"]);
  client_->send_text(R"({"seq": 1000, "type": "response"})");
  EXPECT_FALSE(client_->receive()["success"]);
  client_->send_text(R"({"seq": "x", "type": 7, "command": []})");
  EXPECT_FALSE(client_->receive()["success"]);
  refused("fly");
  refused("next", {{"threadId", "one"}});
  refused("next");
  refused("next", {{"threadId", 123456789}});
  refused("stackTrace", {{"threadId", 0}});
  refused("variables", {{"variablesReference", 77}});
  refused("scopes", {{"frameId", -1}});
  refused("readMemory", {{"memoryReference", "zz"}, {"count", 4}});
  refused("setBreakpoints", {{"source", 3}});
  refused("evaluate", {{"expression", "1 +"}, {"context", "watch"}});
  EXPECT_EQ(ok("readMemory", {{"memoryReference", "0x10"}, {"count", 4}})["unreadableBytes"], 4);
  ok("configurationDone");
  client_->event("stopped");
  ok("threads");
  ok("disconnect");
  EXPECT_EQ(client_->finish(), 0);
}

// 52,700 brackets once ended in a stack overflow. Brackets inside a string are text.
TEST_F(Dap, RefusesDeepMessages) {
  client_->send_text(R"({"seq":1,"x":)" + std::string(52700, '['));
  EXPECT_FALSE(client_->receive()["success"]);
  client_->send_text(std::string(52700, '{'));
  EXPECT_FALSE(client_->receive()["success"]);
  EXPECT_FALSE(refused("threads", {{"x", std::string(5000, '[') + "\\\"" + std::string(5000, '{')}}).empty());
  ok("disconnect");
  EXPECT_EQ(client_->finish(), 0);
}

TEST_F(Dap, EndsWhenTheEditorIsGone) {
  begin(kFused);
  EXPECT_EQ(client_->finish(), 0);
}

/// A kernel of five rounds that ends in a fault.
std::string counting_kernel(const TemporaryDirectory& folder) {
  const std::string file = folder.file("count.ptx");
  write_file_atomically(file, std::string_view(".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry count(.param .u64 p) {\n  .reg .b64 %a;\n  .reg .b32 %round;\n  .reg .pred %q;\n"
                                               "  mov.u32 %round, 0;\nagain:\n  add.u32 %round, %round, 1;\n  setp.lt.u32 %q, %round, 5;\n  @%q bra again;\n"
                                               "  ld.param.u64 %a, [p];\n  st.global.u32 [%a+4096], %round;\n  ret;\n}\n"));
  return file;
}
Json counting_launch(const std::string& file) { return {{"program", file}, {"args", {"--block=32", "--buffer=x=u32[1]:zeros", "--arg=@x"}}, {"stopOnEntry", false}}; }

TEST_F(Dap, LogPointsPrintAndHitCountsChoose) {
  const TemporaryDirectory folder;
  const std::string file = counting_kernel(folder);
  begin(counting_launch(file));
  const Json set = ok("setBreakpoints", {{"source", {{"path", file}}},
                                         {"breakpoints", {{{"line", 11}, {"logMessage", "round {%round} of {2 + 3}, {%nothing}"}}, {{"line", 10}, {"hitCondition", "%4"}}, {{"line", 12}, {"hitCondition", "often"}}}}})["breakpoints"];
  EXPECT_TRUE(set[0]["verified"]);
  EXPECT_TRUE(set[1]["verified"]);
  EXPECT_FALSE(set[2]["verified"]);
  EXPECT_NE(set[2]["message"].get<std::string>().find("'often' is no number of hits"), std::string::npos);
  ok("configurationDone");
  EXPECT_EQ(client_->event("stopped")["hitBreakpointIds"][0], set[1]["id"]);  // the fourth arrival: three rounds are over
  for (int round = 1; round <= 3; ++round) {
    const std::string line = client_->event("output")["output"];
    EXPECT_EQ(line.find("round " + std::to_string(round) + " of 5, <"), 0u) << line;
  }
  EXPECT_EQ(registers(1)["%round"], "0x00000003");
  ok("disconnect");
  EXPECT_EQ(client_->finish(), 0);
}

TEST_F(Dap, LinesMayBeginAtZero) {
  const TemporaryDirectory folder;
  const std::string file = counting_kernel(folder);
  ok("initialize", {{"adapterID", "drywell"}, {"linesStartAt1", false}, {"columnsStartAt1", false}});
  ok("launch", counting_launch(file));
  client_->event("initialized");
  const Json set = ok("setBreakpoints", {{"source", {{"path", file}}}, {"breakpoints", {{{"line", 9}}}}})["breakpoints"];
  EXPECT_EQ(set[0]["line"], 9);  // the tenth line of the file
  ok("configurationDone");
  client_->event("stopped");
  const Json frame = ok("stackTrace", {{"threadId", 1}})["stackFrames"][0];
  EXPECT_EQ(frame["line"], 9);
  EXPECT_EQ(frame["column"], 0);
  EXPECT_NE(frame["name"].get<std::string>().find("add.u32"), std::string::npos);
  EXPECT_EQ(ok("breakpointLocations", {{"source", {{"path", file}}}, {"line", 9}})["breakpoints"].dump().find("10"), std::string::npos);
  ok("disconnect");
  EXPECT_EQ(client_->finish(), 0);
}

TEST_F(Dap, TellsTheFaultWordsAndModules) {
  const TemporaryDirectory folder;
  const std::string file = counting_kernel(folder);
  begin(counting_launch(file));
  EXPECT_FALSE(refused("exceptionInfo", {{"threadId", 1}}).empty());
  ok("configurationDone");
  EXPECT_EQ(client_->event("stopped")["reason"], "exception");
  const Json info = ok("exceptionInfo", {{"threadId", 1}});
  EXPECT_EQ(info["exceptionId"], "F3001");
  EXPECT_EQ(info["breakMode"], "always");
  EXPECT_NE(info["details"]["message"].get<std::string>().find("count.ptx"), std::string::npos);
  const Json modules = ok("modules")["modules"];
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0]["path"], file);
  const Json words = ok("completions", {{"text", "reverse-c"}, {"column", 10}})["targets"];
  ASSERT_FALSE(words.empty());
  EXPECT_EQ(words[0]["text"], "reverse-continue");
  EXPECT_EQ(words[0]["start"], 0);
  EXPECT_EQ(words[0]["length"], 9);
  ok("disconnect");
  EXPECT_EQ(client_->finish(), 0);
}

/// A kernel that stores %v and loads it again.
std::string storing_kernel(const TemporaryDirectory& folder) {
  const std::string file = folder.file("store.ptx");
  write_file_atomically(file, std::string_view(".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry store(.param .u64 p) {\n  .reg .b64 %a;\n  .reg .b32 %v, %w;\n"
                                               "  ld.param.u64 %a, [p];\n  mov.u32 %v, 7;\n  st.global.u32 [%a], %v;\n  ld.global.u32 %w, [%a];\n  ret;\n}\n"));
  return file;
}

TEST_F(Dap, ChangesRegistersAndMemory) {
  const TemporaryDirectory folder;
  const std::string file = storing_kernel(folder);
  begin(counting_launch(file));
  const auto at = [&](int line) { ok("setBreakpoints", {{"source", {{"path", file}}}, {"breakpoints", {{{"line", line}}}}}); };
  const auto go = [&](const std::string& command) {
    ok(command, {{"threadId", 1}});
    client_->event("stopped");
  };
  at(9);
  ok("configurationDone");
  client_->event("stopped");
  const auto registers_reference = [&] {
    const Json frame = ok("stackTrace", {{"threadId", 1}})["stackFrames"][0];
    return ok("scopes", {{"frameId", frame["id"]}})["scopes"][0]["variablesReference"];
  };
  const Json set = ok("setVariable", {{"variablesReference", registers_reference()}, {"name", "%v"}, {"value", "42"}});
  EXPECT_EQ(set["value"], "0x0000002a");
  const std::string address = registers(1)["%a"];
  at(10);
  go("continue");
  EXPECT_EQ(ok("readMemory", {{"memoryReference", address}, {"count", 4}})["data"], "KgAAAA==") << "the store wrote the changed register";
  // Back before the change and forward again: the change is a part of the run.
  ok("setBreakpoints", {{"source", {{"path", file}}}, {"breakpoints", Json::array()}});
  ok("reverseContinue", {{"threadId", 1}});
  client_->event("stopped");
  EXPECT_NE(registers(1)["%v"], "0x0000002a");
  at(10);
  go("continue");
  EXPECT_EQ(registers(1)["%v"], "0x0000002a");
  // Memory: the load reads what the client wrote.
  EXPECT_EQ(ok("writeMemory", {{"memoryReference", address}, {"data", "AQIDBA=="}})["bytesWritten"], 4);
  at(11);
  go("continue");
  EXPECT_EQ(registers(1)["%w"], "0x04030201");
  EXPECT_FALSE(refused("writeMemory", {{"memoryReference", "0x10"}, {"data", "AQIDBA=="}}).empty());
  EXPECT_FALSE(refused("writeMemory", {{"memoryReference", address}, {"data", "!"}}).empty());
  EXPECT_FALSE(refused("setVariable", {{"variablesReference", registers_reference()}, {"name", "%v"}, {"value", "many"}}).empty());
  EXPECT_FALSE(refused("setVariable", {{"variablesReference", registers_reference()}, {"name", "%nothing"}, {"value", "1"}}).empty());
  ok("disconnect");
  EXPECT_EQ(client_->finish(), 0);
}

TEST_F(Dap, ErrorsHaveABody) {
  const Json before = client_->request("threads");  // no launch yet
  EXPECT_EQ(before["body"]["error"]["format"], before["message"]);
  begin(kFused);
  const Json after = client_->request("fly");
  EXPECT_EQ(after["body"]["error"]["format"], after["message"]);
  ok("disconnect");
}

TEST_F(Dap, ServesAPort) {
  std::FILE* server = ::popen((binary_path() + " dap --port 0").c_str(), "r");
  ASSERT_NE(server, nullptr);
  char line[100] = {};
  ASSERT_NE(std::fgets(line, sizeof(line), server), nullptr);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<uint16_t>(std::stoi(std::string(line).substr(std::string(line).find(':') + 1))));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&at), sizeof(at)), 0);
  {
    DapClient remote(socket);
    EXPECT_TRUE(remote.request("initialize", {{"adapterID", "drywell"}})["success"]);
    EXPECT_TRUE(remote.request("disconnect")["success"]);
  }
  EXPECT_EQ(::pclose(server), 0);
}

}  // namespace
}  // namespace drywell::test
