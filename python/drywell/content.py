"""Texts that stand for values and functions: what results are addressed by. Equal texts mean equal results, in this process and in others."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Callable, Iterator, Mapping


def canonical(value: Any) -> str:
    """JSON with sorted names. What JSON does not have: see :func:`plain`."""
    return json.dumps(value, sort_keys=True, default=plain, separators=(",", ":"))


def plain(value: Any) -> Any:
    """A value as JSON has it: arrays with all their elements, which their text would leave out; functions and kernels by their sources, because
    their text is an address or a name; the rest by its text."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "item"):
        return value.item()
    if isinstance(value, (set, frozenset)):
        return sorted(map(canonical, value))
    own = _source_of(value)
    if own is None:
        return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    return f"{getattr(value, '__qualname__', type(value).__qualname__)} {_digest(own.encode())}"


def address(value: Any) -> str:
    """As :func:`canonical`, but short where an array is long."""
    try:
        return json.dumps(value, sort_keys=True, default=_short, separators=(",", ":"))
    except TypeError:  # a mapping whose names are no text
        return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _short(value: Any) -> Any:
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        return f"{value.dtype} {value.shape} {_digest(value.tobytes())}"
    return plain(value)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _source_of(value: Any) -> str | None:
    """Of a function, of a :class:`drywell.Kernel` its PTX, of a Triton kernel Triton's own key, which has the functions that it calls."""
    if isinstance(value, (FunctionType, MethodType)):
        return source(value)
    for name in ("ptx", "cache_key"):
        text = getattr(value, name, None)
        if isinstance(text, str):
            return text
    inner = getattr(value, "fn", None)  # an autotuned Triton kernel
    return None if inner is None or isinstance(value, type) else _source_of(inner)


def source(fn: Callable[..., Any]) -> str:
    """The text of a function; its name where there is none."""
    try:
        return inspect.getsource(fn)
    except (OSError, TypeError):
        return getattr(fn, "__qualname__", repr(fn))


def content_of(fn: Callable[..., Any]) -> str:
    """All that the result of `fn` can be seen to depend on, beside its arguments: its source, arguments of functools.partial, defaults, values of
    the function around it, the object whose method it is, and the functions, classes, kernels and constants of its module that it names, of these
    functions likewise."""
    inner = getattr(fn, "func", fn)
    bound = address([getattr(fn, "args", ()), getattr(fn, "keywords", {})])
    owner = _owner(inner)
    if owner is None:
        return "\n".join([bound, *_texts(inner, set())])
    function = inner.__func__ if isinstance(inner, MethodType) else type(owner).__call__
    return "\n".join([bound, *_state(owner), *_texts(function, set())])


def _owner(fn: Any) -> Any:
    """The object of a method, or the object that is called."""
    if isinstance(fn, MethodType):
        return fn.__self__
    return None if isinstance(fn, (FunctionType, BuiltinFunctionType, type)) else fn


def _state(owner: Any) -> Iterator[str]:
    kind = owner if isinstance(owner, type) else type(owner)
    yield from (source(k) for k in kind.__mro__ if k is not object)
    yield address({str(name): value for name, value in getattr(owner, "__dict__", {}).items() if not isinstance(owner, type) or _counts(value)})


def _texts(fn: Any, seen: set[int]) -> Iterator[str]:
    if id(fn) in seen:
        return
    seen.add(id(fn))
    yield source(fn)
    if not isinstance(fn, FunctionType):
        return
    yield address([fn.__defaults__, fn.__kwdefaults__])
    for name, value in _named(fn).items():
        if isinstance(value, FunctionType):
            if value.__module__ == fn.__module__:
                yield from _texts(value, seen)
        elif isinstance(value, type) and value.__module__ == fn.__module__:
            yield from _state(value)
        elif _counts(value):
            yield f"{name}={address(value)}"


def _named(fn: FunctionType) -> Mapping[str, Any]:
    """Variables of the function around it and of its module, by name."""
    try:
        variables = inspect.getclosurevars(fn)
    except (ValueError, TypeError):  # a variable that has no value yet
        return {}
    return {**variables.globals, **variables.nonlocals}


_PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset)


def _counts(value: Any) -> bool:
    """Whether a value's text says what it is, in every process."""
    return isinstance(value, _PLAIN) or hasattr(value, "tolist") or (not isinstance(value, type) and _source_of(value) is not None)
