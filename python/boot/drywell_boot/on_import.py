"""Calls a function with a module when the program imports it."""

import importlib
import importlib.abc
import importlib.util
import sys


class _Then(importlib.abc.Loader):
    """Loads as `loader` does, and calls the hook before or after."""

    def __init__(self, loader, hook, before):
        self.loader, self.hook, self.before = loader, hook, before

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        # The module keeps its own loader: inspect and pkgutil ask it for the source.
        module.__loader__ = module.__spec__.loader = self.loader
        then = self.hook(module) if self.before else None
        self.loader.exec_module(module)
        if not self.before:
            self.hook(module)
        elif then is not None:
            then(module)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, hooks, boot):
        self.hooks, self.boot = hooks, boot
        self.searching = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.hooks or name in self.searching:
            return None
        self.searching.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.searching.discard(name)
        if spec is not None and spec.loader is not None:
            module, function, *when = self.hooks[name]
            spec.loader = _Then(spec.loader, self._hook(module, function), when == ["before"])
        return spec

    def _hook(self, module, function):
        def call(imported):
            # The folder of the hooks is on the path only while one is loaded.
            sys.path.insert(0, self.boot)
            try:
                hook = getattr(importlib.import_module(module), function)
            finally:
                sys.path.remove(self.boot)
            return hook(imported)

        return call


def install(hooks):
    """`hooks`: name of a module to the module and function that get it after its import, or "before" it runs; what such a function returns gets
    it after, too."""
    import os

    sys.meta_path.insert(0, _Finder(hooks, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
