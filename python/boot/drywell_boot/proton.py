"""Proton, Triton's profiler: its sessions have the kernels that Triton launches, with predicted times instead of a GPU's counters.

Proton's library takes kernels and times from CUPTI, which is not there; the functions of that library that Proton's Python code calls
are replaced. Files have the library's own forms (hatchet's tree, Chrome's trace).
"""

import contextlib
import functools
import json
import os
import threading
import traceback

from drywell_boot import device

_TIME, _COUNT = "time (ns)", "count"
_DEVICE = {"device_id": "0", "device_type": "CUDA"}
_ENDS = {"hatchet": "hatchet", "hatchet_msgpack": "hpb", "chrome_trace": "chrome_trace"}
_of_thread = threading.local()


def _frames():
    """What this thread has entered: (kind, number, name), the outermost first."""
    _of_thread.frames = getattr(_of_thread, "frames", [])
    return _of_thread.frames


class _Node:
    """A frame of the tree."""

    def __init__(self, name):
        self.name, self.metrics, self.children = name, {}, {}

    def child(self, name):
        return self.children.setdefault(name, _Node(name))

    def at(self, names):
        return functools.reduce(_Node.child, names, self)

    def add(self, metrics):
        for name, value in metrics.items():
            self.metrics[name] = _sum(self.metrics.get(name), value)

    def literal(self):
        return {"frame": {"name": self.name, "type": "function"}, "metrics": self.metrics, "children": [c.literal() for c in self.children.values()]}


def _sum(before, value):
    if before is None or isinstance(value, str):
        return value
    return [a + b for a, b in zip(before, value)] if isinstance(value, (list, tuple)) else before + value


class _Phase:
    """What was recorded between two calls of advance_data_phase."""

    def __init__(self):
        self.root, self.events, self.scopes = _Node("ROOT"), [], {}
        self.root.metrics = {_COUNT: 0, **({_TIME: 0} if device.timed() else {})}


class _Session:
    def __init__(self, name, context, data):
        self.name, self.context, self.data = name, context, data
        self.active, self.phases = True, [_Phase()]

    def path(self):
        frames = [name for _, _, name in _frames()]
        return (_python_frames() if self.context == "python" else []) + frames

    def enter(self, number):
        phase = self.phases[-1]
        phase.scopes[number] = phase.root.at(self.path())

    def add(self, number, metrics):
        if number in self.phases[-1].scopes:
            self.phases[-1].scopes[number].add(metrics)

    def kernel(self, name, start, seconds):
        path = self.path()
        phase = self.phases[-1]
        time = {_TIME: round(seconds * 1e9, 3)} if device.timed() else {}
        phase.root.at([*path, name]).add({_COUNT: 1, **time, **_DEVICE})
        if time:
            phase.events.append(_event(name, path, start, seconds))

    def tree(self, phase):
        return [self.phases[phase].root.literal(), {"CUDA": {"0": _device_info()}}]

    def text(self, form, phase=-1):
        return json.dumps({"displayTimeUnit": "us", "traceEvents": self.phases[phase].events} if form == "chrome_trace" else self.tree(phase))

    def packed(self, phase):
        import msgpack

        return msgpack.packb(self.tree(phase))

    def write(self, form):
        form = form or ("chrome_trace" if self.data == "trace" else "hatchet")
        packed = form == "hatchet_msgpack"
        with open(f"{self.name}.{_ENDS[form]}", "wb") as out:
            out.write(self.packed(-1) if packed else self.text(form).encode())


def _event(name, path, start, seconds):
    return {"name": name, "cat": "kernel", "ph": "X", "pid": 0, "tid": 0, "ts": start * 1e6, "dur": seconds * 1e6, "args": {"call_stack": ["ROOT", *path, name]}}


def _python_frames():
    """The calls of the program, as Proton writes them; Triton's and Drywell's are left out."""
    import triton

    skip = tuple(os.path.dirname(file) + os.sep for file in (triton.__file__, __file__))
    return [f"{f.filename}:{f.lineno}@{f.name}" for f in traceback.extract_stack() if not f.filename.startswith(skip)]


def _device_info():
    import triton

    active = triton.runtime.driver.active
    p = active.utils.get_device_properties(active.get_current_device())
    figures = {"num_sms": "multiprocessor_count", "clock_rate": "sm_clock_rate", "memory_clock_rate": "mem_clock_rate", "bus_width": "mem_bus_width"}
    return {"arch": str(active.get_current_target().arch), **{ours: p[theirs] for ours, theirs in figures.items()}}


def _plain(value):
    value = getattr(value, "_value", value)  # a metric on the device holds its tensor
    return value.tolist() if hasattr(value, "tolist") else value


class Profiles:
    """The functions of Proton's library by their names there. A session that instruments kernels is the library's own."""

    def __init__(self, library):
        self._own = {name: getattr(library, name) for name in dir(library)}
        self._sessions, self._next, self._scope, self._lock = {}, 0, 0, threading.Lock()
        self._of_thread = threading.local()

    def _chosen(self, session=None):
        return [s for number, s in self._sessions.items() if session in (None, number)]

    def _recording(self):
        return [s for s in self._sessions.values() if s.active]

    # ---- sessions
    def start(self, name, context="shadow", data="tree", backend="cupti", mode=""):
        if backend == "instrumentation":
            device.say("Proton's instrumentation of kernels is not supported: its profile is empty")
        elif not device.timed():
            device.say("Proton's profile has counts and no times without --driver=timed: the other drivers have no clock")
        self._listen()
        number = self._next
        self._sessions[number], self._next = _Session(name, context, data), number + 1
        return number

    def activate(self, session=None):
        for s in self._chosen(session):
            s.active = True

    def deactivate(self, session=None, flushing=False):
        for s in self._chosen(session):
            s.active = False

    def finalize(self, session=None, output_format=""):
        for number, s in list(self._sessions.items()):
            if session in (None, number):
                s.write(output_format)
                del self._sessions[number]
        if not self._sessions:
            self._listen(False)

    def activate_all(self):
        self.activate()

    def deactivate_all(self, flushing=False):
        self.deactivate()

    def finalize_all(self, output_format=""):
        self.finalize(None, output_format)

    # ---- data of a session
    def get_data(self, session, phase=0):
        return self._sessions[session].text("hatchet", phase)

    def get_data_msgpack(self, session, phase=0):
        return self._sessions[session].packed(phase)

    def advance_data_phase(self, session):
        phases = self._sessions[session].phases
        phases.append(_Phase())
        return len(phases) - 1

    def is_data_phase_complete(self, session, phase):
        return phase < len(self._sessions[session].phases) - 1

    def clear_data(self, session, phase=0, clear_up_to_phase=False):
        phases = self._sessions[session].phases
        for i in range(0 if clear_up_to_phase else phase, phase + 1):
            phases[i] = _Phase()

    def get_context_depth(self, session):
        return len(self._sessions[session].path())

    # ---- scopes
    def record_scope(self):
        with self._lock:
            self._scope += 1
            return self._scope

    def _enter(self, kind, number, name):
        _frames().append((kind, number, name))
        for s in self._recording():
            s.enter(number)

    def _exit(self, kind, number=None):
        """Scopes may end in another order than the reverse."""
        frames = _frames()
        for i in reversed(range(len(frames))):
            if frames[i][0] == kind and number in (None, frames[i][1]):
                del frames[i]
                return

    def enter_scope(self, number, name):
        self._enter("scope", number, name)

    def exit_scope(self, number, name):
        self._exit("scope", number)

    def enter_op(self, number, name):
        self._enter("op", number, name)

    def exit_op(self, number, name):
        self._exit("op", number)

    def enter_state(self, name):
        """A state is a frame of the kernels in it, and none without."""
        _frames().append(("state", 0, name))

    def exit_state(self):
        self._exit("state")

    def add_metrics(self, number, scalars, tensors=None):
        metrics = {name: _plain(value) for name, value in {**scalars, **(tensors or {})}.items()}
        for s in self._recording():
            s.add(number, metrics)

    def set_metric_kernels(self, *_):
        """The kernels that copy metrics on the device are not needed: tensors are read."""

    def init_function_metadata(self, *_):
        pass

    destroy_function_metadata = enter_instrumented_op = exit_instrumented_op = init_function_metadata

    # ---- launches
    def _listen(self, on=True):
        """Triton calls its hooks around each launch. The time is taken in the innermost, because Proton's own enter the scope of the launch; they
        also give the launch the name of that scope, so that the outermost keeps the kernel's."""
        from triton import knobs

        enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
        for chain, hook in ((enter, self._named), (enter, self._begin), (leave, self._end)):
            chain.remove(hook)
        if on:
            enter.calls.insert(0, self._named)
            enter.add(self._begin)
            leave.add(self._end)

    def _launches(self):
        """Launches of this thread that have begun: computing what a launch is told about may launch kernels."""
        self._of_thread.launches = getattr(self._of_thread, "launches", [])
        return self._of_thread.launches

    def _named(self, metadata):
        self._launches().append([metadata.data.get("name", "kernel"), 0.0])

    def _begin(self, metadata):
        self._launches()[-1][1] = device.kernel_seconds()

    def _end(self, metadata):
        name, start = self._launches().pop()
        for s in self._recording():
            s.kernel(name, start, device.kernel_seconds() - start)


def library(module):
    """Called with the extension that has Proton's library."""
    with contextlib.suppress(AttributeError):
        found = module.proton
        ours = Profiles(found)
        for name in dir(found):
            if not name.startswith("_") and callable(getattr(Profiles, name, None)):
                setattr(found, name, getattr(ours, name))


def hooks(module):
    """Called with the module that registers hooks for launches: Proton's own come before those that take the time."""
    register = module.HookManager.register

    def then_listen(hook, session):
        if type(hook).__name__ == "InstrumentationHook":  # it would change the kernels, and nothing reads what they write
            return
        register(hook, session)
        from triton._C.libproton import proton

        proton.start.__self__._listen()

    module.HookManager.register = staticmethod(functools.wraps(register)(then_listen))


def viewer(module):
    """Without a clock there is no time to derive what programs ask for: there is nothing to show."""
    if device.timed():
        return
    module.parse = functools.wraps(module.parse)(lambda *_, **__: (None, None))
    module.print_tree = functools.wraps(module.print_tree)(lambda *_, **__: None)
