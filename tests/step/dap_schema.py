#!/usr/bin/env python3
"""A session of `drywell dap` with every request, each answer and event held to the published JSON schema of the protocol.

    dap_schema.py DRYWELL [SCHEMA]

SCHEMA is debugAdapterProtocol.json of github.com/microsoft/debug-adapter-protocol; without it, or without the package jsonschema, the test is
skipped.
"""
import json
import os
import subprocess
import sys
import tempfile

KERNEL = """.version 8.7
.target sm_100a
.address_size 64
.visible .entry store(.param .u64 p) {
  .reg .b64 %a;
  .reg .b32 %v, %w;
  .reg .pred %q;
  ld.param.u64 %a, [p];
  mov.u32 %v, 7;
  setp.eq.u32 %q, %v, 7;
  st.global.u32 [%a], %v;
  ld.global.u32 %w, [%a];
  st.global.u32 [%a+4096], %v;
  ret;
}
"""


class Client:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sequence = 0
        self.messages = []

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message = json.loads(self.process.stdout.read(length))
        self.messages.append(message)
        return message

    def request(self, command, arguments=None):
        self.sequence += 1
        body = json.dumps({"seq": self.sequence, "type": "request", "command": command, "arguments": arguments or {}}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()
        while True:
            message = self.receive()
            if message["type"] == "response" and message["request_seq"] == self.sequence:
                return message.get("body", {})

    def event(self, name):
        while self.messages[-1].get("event") != name:
            self.receive()


def session(client, file):
    ask = client.request
    ask("initialize", {"adapterID": "drywell", "clientID": "schema", "linesStartAt1": True})
    ask("launch", {"program": file, "args": ["--block=32", "--buffer=x=u32[1]:zeros", "--arg=@x"]})
    source = {"path": file}
    ask("setBreakpoints", {"source": source, "breakpoints": [{"line": 11}, {"line": 2000}, {"line": 12, "logMessage": "v {%v}"}]})
    ask("setFunctionBreakpoints", {"breakpoints": [{"name": "store"}, {"name": "nothing"}]})
    ask("setInstructionBreakpoints", {"breakpoints": [{"instructionReference": "0x20"}]})
    ask("setExceptionBreakpoints", {"filters": []})
    ask("breakpointLocations", {"source": source, "line": 11})
    ask("configurationDone")
    client.event("stopped")
    ask("setFunctionBreakpoints", {"breakpoints": []})
    ask("setInstructionBreakpoints", {"breakpoints": []})
    for command in ("continue", "stepBack", "stepIn", "next", "reverseContinue", "continue"):
        ask(command, {"threadId": 1})
        client.event("stopped")
        client.messages.append({"seq": 0, "type": "event", "event": "mark"})  # the next wait is for another event
    ask("threads")
    frame = ask("stackTrace", {"threadId": 1})["stackFrames"][0]
    address = None
    for scope in ask("scopes", {"frameId": frame["id"]})["scopes"]:
        for v in ask("variables", {"variablesReference": scope["variablesReference"]})["variables"]:
            if v["variablesReference"]:
                ask("variables", {"variablesReference": v["variablesReference"], "start": 0, "count": 4})
            address = v["memoryReference"] if v["name"] == "%a" else address
            if v["name"] == "%v":
                ask("setVariable", {"variablesReference": scope["variablesReference"], "name": "%v", "value": "42"})
                info = ask("dataBreakpointInfo", {"variablesReference": scope["variablesReference"], "name": "%v"})
                ask("setDataBreakpoints", {"breakpoints": [{"dataId": info["dataId"]}] if info.get("dataId") else []})
    ask("readMemory", {"memoryReference": address, "count": 8})
    ask("writeMemory", {"memoryReference": address, "data": "AQIDBA=="})
    ask("disassemble", {"memoryReference": frame["instructionPointerReference"], "instructionOffset": -2, "instructionCount": 6})
    ask("evaluate", {"expression": "%v + 1", "context": "watch", "frameId": frame["id"]})
    ask("evaluate", {"expression": "info registers", "context": "repl", "frameId": frame["id"]})
    ask("completions", {"text": "reverse-c", "column": 10})
    ask("modules")
    ask("loadedSources")
    ask("setDataBreakpoints", {"breakpoints": []})
    ask("continue", {"threadId": 1})  # to the fault
    client.event("stopped")
    ask("exceptionInfo", {"threadId": 1})
    ask("fly")
    ask("disconnect")


def name_of(message):
    """The definition of the schema that a message must match."""
    if message["type"] == "event":
        return message["event"][0].upper() + message["event"][1:] + "Event"
    if not message["success"]:
        return "ErrorResponse"
    return message["command"][0].upper() + message["command"][1:] + "Response"


def main():
    try:
        import jsonschema
    except ImportError:
        print("skipped: the package jsonschema is not installed")
        return 0
    path = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("DRYWELL_DAP_SCHEMA", "")
    if not os.path.exists(path):
        print("skipped: DRYWELL_DAP_SCHEMA does not name debugAdapterProtocol.json")
        return 0
    schema = json.load(open(path, encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "store.ptx")
        with open(file, "w", encoding="utf-8") as f:
            f.write(KERNEL)
        client = Client(sys.argv[1])
        session(client, file)
    wrong = checked = 0
    seen = set()
    for message in client.messages:
        if message.get("event") == "mark":
            continue
        name = name_of(message)
        seen.add(name)
        checked += 1
        if name not in schema["definitions"]:
            print(f"{name}: the schema has no such message")
            wrong += 1
            continue
        validator = jsonschema.Draft4Validator({"$ref": f"#/definitions/{name}", "definitions": schema["definitions"]})
        for error in validator.iter_errors(message):
            wrong += 1
            print(f"{name}: {error.message[:200]} at {list(error.absolute_path)}")
    refused = sorted({m["command"] for m in client.messages if m["type"] == "response" and not m["success"]})
    print(f"refused: {refused}")
    print(f"{checked} messages of {len(seen)} kinds checked, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
