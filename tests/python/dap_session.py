"""Editors' debugging of Python programs: `drywell dap`, driven as an editor drives it, with a script as the program.

    dap_session.py DRYWELL PYTHON driver|triton|gluon|cute
"""

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SILENCE = 240  # seconds: Triton compiles first


class Client:
    def __init__(self, drywell):
        self.process = subprocess.Popen([drywell, "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=HERE)
        self.sequence, self.events, self.messages = 0, [], queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        out = self.process.stdout
        while header := out.readline():
            length = 0
            while header.strip():
                length = int(header.split(b":")[1])
                header = out.readline()
            self.messages.put(json.loads(out.read(length)))
        self.messages.put(None)

    def receive(self):
        message = self.messages.get(timeout=SILENCE)
        assert message is not None, "the adapter is gone"
        return message

    def send(self, command, **arguments):
        self.sequence += 1
        body = json.dumps({"seq": self.sequence, "type": "request", "command": command, "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()
        return self.sequence

    def response(self, sequence):
        while True:
            message = self.receive()
            if message["type"] == "response" and message["request_seq"] == sequence:
                return message
            self.events.append(message)

    def ask(self, command, **arguments):
        answer = self.response(self.send(command, **arguments))
        assert answer["success"], answer
        return answer.get("body", {})

    def refused(self, command, **arguments):
        answer = self.response(self.send(command, **arguments))
        assert not answer["success"], answer
        return answer["message"]

    def event(self, name):
        while True:
            for i, message in enumerate(self.events):
                if message.get("event") == name:
                    return self.events.pop(i)["body"]
            self.events.append(self.receive())

    def output(self):
        return "".join(m["body"]["output"] for m in self.events if m.get("event") == "output")

    def begin(self, program, **launch):
        self.ask("initialize", adapterID="drywell", linesStartAt1=launch.pop("linesStartAt1", True))
        answer = self.response(self.send("launch", program=program, **launch))
        assert answer["success"], (answer["message"], self.output())
        self.event("initialized")

    def break_at(self, file, *lines):
        return self.ask("setBreakpoints", source={"path": file}, breakpoints=[{"line": n} for n in lines])["breakpoints"]

    def top(self, stopped):
        return self.ask("stackTrace", threadId=stopped["threadId"])["stackFrames"][0]

    def frames(self, stopped):
        return [(f["source"]["path"], f["line"]) for f in self.ask("stackTrace", threadId=stopped["threadId"])["stackFrames"]]

    def go(self, stopped, command="continue", **more):
        self.ask(command, threadId=stopped["threadId"], **more)
        return self.event("stopped")

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def line_of(file, text):
    with open(os.path.join(HERE, file)) as f:
        return next(n for n, line in enumerate(f, 1) if text in line)


def driver(drywell, python):
    script = os.path.join(HERE, "dap_program.py")
    at = {mark: line_of(script, "#: " + mark) for mark in ("scale, load", "scale, multiply", "scale, store", "shift, load", "shift, store")}

    # Breakpoints of both kernels' lines: each stops in the launch that has the line, and keeps its number.
    client = Client(drywell)
    client.begin(script, python=python, stopOnEntry=False)
    first, second, none = client.break_at(script, at["scale, multiply"], at["shift, store"], 100000)
    assert (first["verified"], second["verified"], none["verified"]) == (True, False, False), (first, second, none)
    client.ask("configurationDone")
    stopped = client.event("stopped")
    assert stopped["reason"] == "breakpoint" and stopped["hitBreakpointIds"] == [first["id"]], stopped
    frame = client.top(stopped)
    assert (frame["source"]["path"], frame["line"]) == (script, at["scale, multiply"]), frame
    stopped = client.go(stopped, "next")
    assert stopped["reason"] == "step" and client.top(stopped)["line"] == at["scale, store"]
    stopped = client.go(stopped, "stepBack")
    assert client.top(stopped)["line"] == at["scale, multiply"]
    stopped = client.go(stopped)
    changed = client.event("breakpoint")
    assert changed["breakpoint"]["id"] == second["id"] and changed["breakpoint"]["verified"], changed
    assert stopped["hitBreakpointIds"] == [second["id"]] and client.top(stopped)["line"] == at["shift, store"]
    # The third launch, of the first kernel again.
    stopped = client.go(stopped)
    assert stopped["hitBreakpointIds"] == [first["id"]]
    client.break_at(script)
    client.ask("continue", threadId=stopped["threadId"])
    assert client.event("exited")["exitCode"] == 0
    client.event("terminated")
    assert "values 15 24 33 42" in client.output(), client.output()  # (3 i + 5) * 3
    client.ask("disconnect")
    client.close()

    # Of one kernel only, with lines from 0, stopped at its beginning; a register is changed; then the program is ended from outside.
    client = Client(drywell)
    client.begin("dap_program.py", cwd=HERE, python=python, kernel="shift", linesStartAt1=False)
    assert client.break_at(script, at["shift, store"] - 1)[0]["verified"]
    client.ask("configurationDone")
    stopped = client.event("stopped")
    assert stopped["reason"] == "entry" and client.top(stopped)["line"] == at["shift, load"] - 1
    stopped = client.go(stopped)
    assert client.top(stopped)["line"] == at["shift, store"] - 1
    assert "no such" not in client.ask("evaluate", expression="set %x = 100", context="repl")["result"]
    client.ask("continue", threadId=stopped["threadId"])
    assert client.event("exited")["exitCode"] == 0
    assert "values 315 315" in client.output(), client.output()  # (100 + 5) * 3
    client.ask("disconnect")
    client.close()

    # The second launch alone, as a program under `drywell exec`; the client ends it.
    client = Client(drywell)
    client.begin(shutil.which(python), args=["dap_program.py"], launch=2)
    client.ask("configurationDone")
    stopped = client.event("stopped")
    assert client.top(stopped)["line"] == at["shift, load"]
    pid = int(client.output().split("process ")[1].split()[0])
    assert alive(pid)
    client.ask("terminate")
    client.event("terminated")
    assert not alive(pid)
    client.ask("disconnect")
    client.close()

    # The same when the client vanishes.
    client = Client(drywell)
    client.begin(script, python=python)
    client.ask("configurationDone")
    client.event("stopped")
    pid = int(client.output().split("process ")[1].split()[0])
    client.close()
    until = time.monotonic() + 10
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(pid)

    # A program without a launch, an interpreter that is not there, an option that is not.
    client = Client(drywell)
    client.ask("initialize", adapterID="drywell")
    assert "ended with 3" in client.refused("launch", program=script, python=python, args=["--no-launch"])
    assert "no launch came" in client.refused("launch", program=script, python="/no/python")
    assert "no launch came" in client.refused("launch", program=script, python=python, driver="nonsense")
    assert "nonsense" in client.output() and "/no/python" in client.output()
    client.ask("disconnect")
    client.close()


def triton(drywell, python):
    script = os.path.join(HERE, "triton_kernels.py")
    line = line_of(script, "tl.store(out + i, tl.load(x + i, mask=i < n)")
    dot = line_of(script, "e = tl.exp(v - tl.max(v, axis=0))")
    client = Client(drywell)
    client.begin(script, python=python, args=["vector_add", "softmax"], stopOnEntry=False)
    add, soft = client.break_at(script, line, dot)
    assert (add["verified"], soft["verified"]) == (True, False), (add, soft)
    client.ask("configurationDone")
    stopped = client.event("stopped")
    frame = client.top(stopped)
    assert stopped["hitBreakpointIds"] == [add["id"]] and (frame["source"]["path"], frame["line"]) == (script, line), frame
    assert "add_kernel" in frame["name"], frame
    client.break_at(script, dot)
    stopped = client.go(stopped)
    # The line's first instructions are of Triton's own max, which was inlined there.
    assert stopped["hitBreakpointIds"] == [soft["id"] + 1] and (script, dot) in client.frames(stopped), client.frames(stopped)
    assert "softmax_kernel" in client.top(stopped)["name"]
    # Steps of this warp go to other lines; the script's is in the stack.
    client.break_at(script)
    lines = [client.frames(stopped)]
    for _ in range(6):
        stopped = client.go(stopped, "next")
        lines.append(client.frames(stopped))
        assert lines[-1] != lines[-2] and any(path == script for path, _ in lines[-1]), lines
    client.break_at(script)
    client.ask("continue", threadId=stopped["threadId"])
    assert client.event("exited")["exitCode"] == 0, client.output()
    client.ask("disconnect")
    client.close()


def through(drywell, python, script, kernel, lines, **launch):
    """Stops at each of these lines of a kernel in turn, in frames that have the script's line; steps forth and back; ends well."""
    at = [line_of(script, text) for text in lines]
    path = os.path.join(HERE, script)
    client = Client(drywell)
    client.begin(path, python=python, stopOnEntry=False, **launch)
    client.break_at(path, at[0])
    client.ask("configurationDone")
    stopped = client.event("stopped")
    for i, line in enumerate(at):
        assert stopped["reason"] == "breakpoint" and (path, line) in client.frames(stopped), (line, stopped, client.frames(stopped))
        assert kernel in client.top(stopped)["name"], client.top(stopped)
        before = client.frames(stopped)
        client.break_at(path)  # other warps come to the line
        stopped = client.go(stopped, "next")
        assert client.frames(stopped) != before, before
        stopped = client.go(stopped, "stepBack")
        assert client.frames(stopped) == before, (before, client.frames(stopped))
        client.break_at(path, *at[i + 1 : i + 2])
        client.ask("continue", threadId=stopped["threadId"])
        if i + 1 < len(at):
            stopped = client.event("stopped")
    assert client.event("exited")["exitCode"] == 0, client.output()
    client.ask("disconnect")
    client.close()


def gluon(drywell, python):
    lines = ["hopper.tma.async_load(a, [0, k]", "blackwell.tcgen05_mma(a_tile", "c_tile.store(sums.load()"]
    through(drywell, python, "triton_kernels.py", "gluon_kernel", lines, args=["gluon_tcgen05"])


def cute(drywell, python):
    through(drywell, python, "cute_kernels.py", "scale_kernel", ["value = x[i] * 3", "y[i] = value + 1"])


if __name__ == "__main__":
    {"driver": driver, "triton": triton, "gluon": gluon, "cute": cute}[sys.argv[3]](os.path.abspath(sys.argv[1]), sys.argv[2])
    print("passed")
