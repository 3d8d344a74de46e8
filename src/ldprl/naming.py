"""Mechanisms and learners by name: built-in ones are found, others are ``module:Class``.

A class says by itself what it is called, how it is shown and, by its constructor, what it is made
of. No list of names is kept anywhere.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeGuard, TypeVar

from ldprl.errors import InputError, one_of, raised

_WANTED = {"epsilon": "a finite number > 0", "delta": "a number in (0, 1)"}


class Named:
    """A class that is known by name. What a class does not say has a default that serves.

    Attributes
    ----------
    name
        As options, files and deployments write it; the class's own name by default.
    summary
        One line that says what it is; the first of its docstring by default.
    title, colour
        In pictures and tables.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    title: ClassVar[str]
    colour: ClassVar[str] = "#6b6b6b"
    _own_name: ClassVar[bool] = False

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        if "name" in cls.__dict__:
            cls._own_name = True
        elif not cls._own_name:
            cls.name = cls.__name__
        if "name" in cls.__dict__:
            if "title" not in cls.__dict__:
                cls.title = cls.name
            if "summary" not in cls.__dict__:
                cls.summary = (cls.__doc__ or cls.name).strip().splitlines()[0].rstrip(".")

    @classmethod
    def parameters(cls) -> dict[str, bool]:
        """Return what the constructor takes, and whether it must be given."""
        taken = list(inspect.signature(cls.__init__).parameters.values())[1:]
        free = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        nothing = inspect.Parameter.empty
        return {one.name: one.default is nothing for one in taken if one.kind not in free}


N = TypeVar("N", bound=Named)


def built_from(kind: type[N], given: Mapping[str, Any]) -> N:
    """Call the constructor with what it takes of ``given``; None is as if not given."""
    chosen = {}
    for name, needed in kind.parameters().items():
        if given.get(name) is not None:
            chosen[name] = given[name]
        elif needed:
            wanted = _WANTED.get(name, "a value")
            raise InputError(name, 0.0 if name == "delta" else None, f"{wanted} for {kind.name}")
    return kind(**chosen)


class Catalogue(Mapping[str, type[N]], Generic[N]):
    """The classes of one package by name, found on first use: a new file adds a name.

    Parameters
    ----------
    field
        What errors call it.
    package
        Where to look.
    base
        What they all are.
    moved
        Names that were in the package, and the ``module:Class`` that each has become.
    """

    def __init__(
        self, field: str, package: str, base: type[N], moved: Mapping[str, str] | None = None
    ) -> None:
        self._field = field
        self._package = package
        self._base = base
        self._moved = moved or {}

    @cached_property
    def _known(self) -> dict[str, type[N]]:
        package = importlib.import_module(self._package)
        found: dict[str, type[N]] = {}
        for module in pkgutil.iter_modules(package.__path__):
            loaded = importlib.import_module(f"{self._package}.{module.name}")
            for kind in vars(loaded).values():
                if self._is_named_in(loaded.__name__, kind):
                    found[kind.name] = kind
        return dict(sorted(found.items()))

    def _is_named_in(self, module: str, kind: object) -> TypeGuard[type[N]]:
        """Whether ``kind`` is a concrete class with a name, defined in this module."""
        if not inspect.isclass(kind) or kind.__module__ != module or inspect.isabstract(kind):
            return False
        own = vars(kind)
        return issubclass(kind, self._base) and "name" in own and own.get("catalogued", True)

    def __getitem__(self, name: str) -> type[N]:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def find(self, name: str, *, load: bool = True, field: str = "") -> type[N]:
        """Return the class called ``name``, or the one that ``module:Class`` names.

        Without ``load`` a module must have been imported before: what comes over the network
        cannot have modules loaded.
        """
        field = field or self._field
        if not isinstance(name, str) or (":" not in name and name not in self._moved):
            return self[one_of(field, name, self)]
        if name in self._moved:
            return self._found_elsewhere(name, field)
        module, _, attribute = name.partition(":")
        loaded = sys.modules.get(module) if not load else loaded_module(field, name, module)
        if loaded is None:
            raise InputError(field, name, "a class of a module that this program has imported")
        kind = getattr(loaded, attribute, None)
        if not inspect.isclass(kind):
            raise InputError(field, name, f"a class: {module} has no class {attribute!r}")
        what = self._base.__name__
        if not issubclass(kind, self._base):
            raise InputError(field, name, f"a {what}: {attribute} is not a {what}")
        if missing := sorted(getattr(kind, "__abstractmethods__", ())):
            raise InputError(field, name, f"a whole {what}: it lacks {', '.join(missing)}")
        return kind

    def name_of(self, kind: type[N]) -> str:
        """Return what :meth:`find` finds a class by."""
        if self.get(kind.name) is kind:
            return kind.name
        return f"{kind.__module__}:{kind.__qualname__}"

    def _found_elsewhere(self, name: str, field: str) -> type[N]:
        """Return the class that has left the package, where its new module can be imported."""
        place = self._moved[name]
        if importlib.util.find_spec(place.partition(".")[0]) is None:
            raise InputError(field, name, f"one of {', '.join(self)}, or {place} in a checkout")
        return self.find(place, field=field)


def loaded_module(field: str, name: str, module: str) -> Any:
    """Import a module that ``name`` names, or refuse it in one line."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        expected = f"a module to import: no module named {error.name!r}"
        raise InputError(field, name, expected) from None
    except (Exception, SystemExit) as error:  # a program that ends as it is imported
        expected = f"a module that can be imported ({raised(error)})"
        raise InputError(field, name, expected) from None
