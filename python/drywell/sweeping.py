"""Many launches: a function over a space of parameters, on any executor, resumable, with its results as a table."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import os
import queue
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

from ._core import version
from .content import address, canonical, content_of
from .heat_map import heat_map, is_number
from .layouts import Picture
from .results import Run

Point = dict[str, Any]
Row = dict[str, Any]
Space = Mapping[str, Sequence[Any]] | Iterable[Mapping[str, Any]]


def points_of(space: Space) -> list[Point]:
    """All points: the product of the values per name, or the given mappings."""
    if isinstance(space, Mapping):
        names = [str(name) for name in space]
        return [dict(zip(names, values)) for values in itertools.product(*(_choices(n, v) for n, v in space.items()))]
    points: list[Any] = list(space) if isinstance(space, Iterable) else [space]
    if not all(isinstance(p, Mapping) for p in points):  # the letters of a word are none
        raise TypeError(f"space={space!r}: values by name, or a mapping for each point")
    return [dict(p) for p in points]


def _choices(name: Any, values: Any) -> Iterable[Any]:
    """A word is a value, and no sequence of letters."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"space[{name!r}]={values!r}: a sequence of values; one alone is [{values!r}]")
    return values


def keys_of(fn: Callable[..., Any], points: Iterable[Point], salt: str = "") -> Iterator[str]:
    """The content addresses of results: the function with what it names (:func:`drywell.content.content_of`), the point, the salt and
    Drywell's version. The function is read once."""
    common = hashlib.sha256("\n".join([version, salt, content_of(fn), ""]).encode())
    for point in points:
        whole = common.copy()
        whole.update(address(point).encode())
        yield whole.hexdigest()


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:  # no text, or no JSON
        return None


def _is_row(row: Any) -> bool:
    """Whether a value of a file is a row that a sweep has written."""
    return isinstance(row, dict) and isinstance(row.get("result"), dict) and {"key", "point", "error"} <= row.keys()


class Store:
    """Results by key: a folder, or any store of fsspec ("s3://…", "memory://…") where that is installed."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        text = os.fspath(place)
        self._fs: Any = None
        self._root = text.rstrip("/")
        if "://" in text:
            import fsspec

            self._fs, self._root = fsspec.core.url_to_fs(text)
        else:
            os.makedirs(text, exist_ok=True)

    def _path(self, key: str) -> str:
        return f"{self._root}/{key[:2]}/{key}.json"

    def get(self, key: str) -> Row | None:
        """The row of a key; None if there is none, or no whole one."""
        try:
            if self._fs is not None:
                row = json.loads(self._fs.cat_file(self._path(key)))
            else:
                row = json.loads(Path(self._path(key)).read_bytes())
        except (FileNotFoundError, ValueError):  # no text, or no JSON
            return None
        return row if _is_row(row) else None

    def put(self, key: str, row: Row) -> None:
        """Keeps a row; readers never see a part of it."""
        data = canonical(row)
        if self._fs is not None:
            self._fs.makedirs(os.path.dirname(self._path(key)), exist_ok=True)
            self._fs.pipe_file(self._path(key), data.encode())
            return
        path = Path(self._path(key))
        path.parent.mkdir(exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}.tmp")
        scratch.write_text(data)
        os.replace(scratch, path)  # readers see a whole file or none


class Journal:
    """A file of JSON lines that a killed sweep continues: rows are complete lines, written before further points are submitted."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.rows: dict[str, Row] = {}
        self._file: Any = None
        if path is None:
            return
        target = Path(path)
        if target.exists():
            self._read(target)
        self._file = target.open("a")

    def _read(self, target: Path) -> None:
        data = target.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):  # a line cut short by a kill
            with target.open("r+b") as f:
                f.truncate(whole)
        for number, line in enumerate(data[:whole].splitlines(), 1):
            row = _parsed(line)
            if not _is_row(row):
                raise ValueError(f"{target}:{number}: no row of a sweep: path= is for the file of an earlier one, or for a new one")
            self.rows[row["key"]] = row

    def add(self, rows: Sequence[Row]) -> None:
        """Keeps rows; they are on the disk when this returns. A visit to the disk costs milliseconds, however many rows it is for."""
        self.rows.update((row["key"], row) for row in rows)
        if self._file is not None and rows:
            self._file.write("".join(canonical(row) + "\n" for row in rows))
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Closes the file; rows stay."""
        if self._file is not None:
            self._file.close()


def _values(result: Any) -> Row:
    if isinstance(result, Run):
        return result.to_dict()
    if isinstance(result, Mapping):
        return {str(k): v for k, v in result.items()}
    return {"value": result}


def evaluate(fn: Callable[..., Any], point: Point) -> Row:
    """One point, in the worker: its values, or its error beside them."""
    try:
        return {"result": json.loads(canonical(_named(_values(fn(**point))))), "error": None}
    except (Exception, SystemExit) as e:
        return {"result": {}, "error": f"{type(e).__name__}: {e}"}


def _named(values: Row) -> Row:
    """The table has a column of this name."""
    if values.get("error") is not None:
        raise ValueError("a result has the name 'error', which is that of a point's failure: give it another")
    return values


def evaluate_all(fn: Callable[..., Any], points: Sequence[Point]) -> list[Row]:
    """The points of one task, in the worker."""
    return [evaluate(fn, point) for point in points]


@dataclass(frozen=True)
class Sweep:
    """Results of a sweep, a row per point in the order of the space. A failure is a row with ``error``."""

    rows: list[Row]
    ran: int      # points that were evaluated now
    reused: int   # from the journal or the cache

    def table(self) -> list[Row]:
        """Rows as flat mappings: the point's names, the result's names, "error"."""
        return [{**r["point"], **{k: v for k, v in r["result"].items() if k not in r["point"]}, "error": r["error"]} for r in self.rows]

    @property
    def failures(self) -> list[Row]:
        """The table's rows with an error."""
        return [r for r in self.table() if r["error"]]

    def best(self, name: str = "cycles") -> Row:
        """The row with the least ``name``; NaN is no value. ValueError if no point has it."""
        good = [r for r in self.table() if not r["error"] and is_number(r.get(name))]
        if not good:
            raise ValueError(f"no point has a value '{name}'{self._first_failure()}")
        return min(good, key=lambda r: r[name])

    def picture(self, x: str | Sequence[str], y: str | Sequence[str], value: str = "cycles", title: str = "") -> Picture:
        """The sweep as a map of ``value``: a column per value of ``x`` and a row per value of ``y``, each a name or several; the least has a
        frame. ValueError if two points have one cell, or none has the value."""
        return heat_map(self.table(), x, y, value, title)

    def columns(self) -> list[str]:
        """Names of the table, in the order in which they first appear."""
        return list(dict.fromkeys(name for row in self.table() for name in row))

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The table as CSV; also written to ``path``."""
        out = io.StringIO()
        writer = csv.DictWriter(out, self.columns(), restval="")
        writer.writeheader()
        writer.writerows(self.table())
        return _written(out.getvalue(), path)

    def to_jsonl(self, path: str | os.PathLike[str] | None = None) -> str:
        """The table as JSON lines; also written to ``path``."""
        return _written("".join(canonical(row) + "\n" for row in self.table()), path)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame. ImportError without pandas."""
        import pandas

        return pandas.DataFrame(self.table(), columns=self.columns())

    def to_arrow(self) -> Any:
        """The table as a pyarrow.Table. ImportError without pyarrow."""
        import pyarrow

        return pyarrow.Table.from_pylist([{c: row.get(c) for c in self.columns()} for row in self.table()])

    def _repr_html_(self) -> str:
        from .html import rows_html

        return rows_html(self.columns(), self.table())

    def _first_failure(self) -> str:
        failed = self.failures
        return f"; {len(failed)} of {len(self)} failed, the first with: {failed[0]['error']}" if failed else ""

    def __repr__(self) -> str:
        return f"<drywell.Sweep {len(self)} points: {self.ran} ran, {self.reused} reused, {len(self.failures)} failed>"

    def __iter__(self) -> Iterator[Row]:
        return iter(self.table())

    def __len__(self) -> int:
        return len(self.rows)


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        Path(path).write_text(text)
    return text


class RayExecutor(Executor):
    """Ray as an executor: `ray.init()` first."""

    def __init__(self) -> None:
        import ray

        self._remote = ray.remote(_call)
        self.num_workers = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return self._remote.remote(fn, args, kwargs).future()


def _call(fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    return fn(*args, **kwargs)


class _Serial:
    """Evaluates at once, in this process."""

    def submit(self, fn: Callable[..., Any], *args: Any) -> Any:
        from concurrent.futures import Future

        done: Any = Future()
        done.set_result(fn(*args))
        return done


def _pool() -> ProcessPoolExecutor:
    import multiprocessing

    methods = multiprocessing.get_all_start_methods()
    return ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork" if "fork" in methods else None))


def _workers(executor: Any) -> int:
    """How many points an executor evaluates at once; the processors of this machine if it does not say."""
    if isinstance(executor, _Serial):
        return 1
    client = getattr(executor, "_client", None)  # of Dask
    if client is not None and hasattr(client, "nthreads"):
        return sum(client.nthreads().values()) or 1
    known = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None)
    return known if isinstance(known, int) else os.cpu_count() or 1


def _arrived(done: queue.SimpleQueue[Any]) -> list[Any]:
    """Waits for a result, and takes the others that have come, too."""
    out = [done.get()]
    while True:
        try:
            out.append(done.get_nowait())
        except queue.Empty:
            return out


Work = list[tuple[str, Point]]


def _tasks(todo: Work, size: int) -> Iterator[Work]:
    """The points that an executor gets in one task each."""
    for start in range(0, len(todo), size):
        yield todo[start : start + size]


def _finished(executor: Any, fn: Callable[..., Any], tasks: Iterator[Work], in_flight: int) -> Iterator[list[Row]]:
    """Rows as they come, of any kind of future that has add_done_callback. Few tasks are submitted at a time: a million points need no memory
    in the executor."""
    done: queue.SimpleQueue[tuple[Work, Any]] = queue.SimpleQueue()

    def submit(count: int) -> int:
        chosen = list(itertools.islice(tasks, count))
        for task in chosen:
            future = executor.submit(evaluate_all, fn, [point for _, point in task])
            future.add_done_callback(lambda f, t=task: done.put((t, f)))
        return len(chosen)

    running = submit(in_flight)
    while running:
        results = _arrived(done)
        yield [row for task, future in results for row in _rows_of(task, future)]
        running += submit(len(results)) - len(results)


def _rows_of(task: Work, future: Any) -> list[Row]:
    try:
        rows = future.result()
    except Exception as e:  # the worker died, or a point cannot be sent
        rows = [{"result": {}, "error": f"{type(e).__name__}: {e}"}] * len(task)
    return [{"key": key, "point": json.loads(canonical(point)), **row} for (key, point), row in zip(task, rows)]


def _progress(wanted: bool, total: int) -> Any:
    if not wanted:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit="point", leave=False)


def sweep(fn: Callable[..., Any], space: Space, executor: Executor | str | Any | None = None, *, path: str | os.PathLike[str] | None = None,
          cache: str | os.PathLike[str] | Store | None = None, salt: str = "", retry_failures: bool = False, progress: bool = False,
          in_flight: int | None = None, task: int = 1) -> Sweep:
    """Calls ``fn(**point)`` for every point of a space and returns a table.

    ``space``: a mapping from names to values (all combinations), or mappings, one per point. ``fn`` returns a :class:`Run`, a mapping or
    a number; an exception is kept as the point's ``error``. ``executor``: None for processes of this machine, "serial", or anything with
    ``submit`` (concurrent.futures, ``dask.distributed.Client(…).get_executor()``, :class:`RayExecutor`, mpi4py.futures). Processes need a function
    that can be pickled: one of a module, no lambda.

    ``path``: a file of JSON lines; a sweep that was killed continues there, nothing is lost or run twice. ``cache``: a folder or fsspec
    store of results by content: the source of ``fn`` (of a method: its object, too), the functions, classes, kernels (PTX, Triton) and constants
    of its module that it names, the point, ``salt``, Drywell's version. What else ``fn`` reads (files, other modules) belongs into ``salt``.
    ``retry_failures``: evaluate failed points again. ``progress``: a bar of tqdm. ``in_flight``: tasks that are submitted and not finished,
    twice the executor's workers if it says how many it has. ``task``: points that an executor gets together; several if a point takes less
    than a second or the executor is slow (docs/scale.md)."""
    if task < 1 or (in_flight is not None and in_flight < 1):
        raise ValueError("task and in_flight must be at least 1")
    if executor not in (None, "serial") and not hasattr(executor, "submit"):
        raise TypeError(f"executor={executor!r}: None (processes), 'serial', or an object with submit()")
    if not isinstance(salt, str):
        raise TypeError(f"salt={salt!r}: a word is expected")
    points = points_of(space)
    store = Store(cache) if isinstance(cache, (str, os.PathLike)) else cache
    keyed = list(zip(keys_of(fn, points, salt), points))
    journal = Journal(path)
    todo = _todo(keyed, journal, store, retry_failures)
    bar = _progress(progress, len(todo))
    try:
        _evaluate_all(fn, todo, executor, journal, store, bar, in_flight, task)
    finally:
        journal.close()
        if bar is not None:
            bar.close()
    return Sweep([journal.rows[key] for key, _ in keyed], len(todo), len(dict(keyed)) - len(todo))


def _todo(keyed: Work, journal: Journal, store: Store | None, retry: bool) -> Work:
    """Points without a usable result; equal points are evaluated once."""
    if store is not None:
        known = {key: row for key, _ in keyed if key not in journal.rows and (row := store.get(key)) is not None}
        journal.add(list(known.values()))
    return list({key: point for key, point in keyed if (row := journal.rows.get(key)) is None or (retry and row["error"])}.items())


def _share(rows: list[Row], store: Store | None) -> None:
    for row in rows:
        if store is not None and not row["error"]:
            store.put(row["key"], row)


def _evaluate_all(fn: Callable[..., Any], todo: Work, executor: Any, journal: Journal, store: Store | None, bar: Any, in_flight: int | None,
                  task: int) -> None:
    if not todo:
        return
    own = _pool() if executor is None else None
    chosen = own or (_Serial() if executor == "serial" else executor)
    most = in_flight or (1 if isinstance(chosen, _Serial) else 2 * _workers(chosen))
    try:
        for rows in _finished(chosen, fn, _tasks(todo, task), most):
            journal.add(rows)
            _share(rows, store)
            if bar is not None:
                bar.update(len(rows))
    finally:
        if own is not None:
            own.shutdown(cancel_futures=True)
