"""What a system is made of: a short text that differs when its parameters or its code do.

Trials are taken up from a journal only for a system that is made alike. Code is what the modules of
its classes say, with the modules beside them that these import; comments, docstrings and the order
of lines do not count. Installed packages count by their version.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from sklearn.base import BaseEstimator

# Of this package, what takes part in a decision: a word in an error message is no other system.
_DECIDING = (
    "ratekeeper.control._both_rates",
    "ratekeeper.calibration._calibrate",
    "ratekeeper.calibration._calibration",
    "ratekeeper.comparison._our_systems",
    "ratekeeper.control._error_rate",
    "ratekeeper.control._cv_plus",
    "ratekeeper.estimators._controller",
    "ratekeeper._numerics._ranks",
    "ratekeeper.calibration._row_splits",
    "ratekeeper.baselines",
    "ratekeeper.methods",
)
_INSTALLED = tuple(
    {str(Path(sysconfig.get_path(name)).resolve()) for name in ("purelib", "platlib", "stdlib")}
)
_IMPORTS = re.compile(r"^\s*(?:from|import)\s+(\.*)([\w.]+)", re.MULTILINE)


def fingerprint(*parts: Any) -> str:  # noqa: ANN401 - systems, functions, plain values
    """Return a short text that differs when a part is made differently.

    Examples
    --------
    >>> from ratekeeper import baselines
    >>> one, same = (fingerprint(baselines.Umbrella(alpha=0.1)) for _ in range(2))
    >>> one == same, one == fingerprint(baselines.Umbrella(alpha=0.2))
    (True, False)
    """
    text = repr([_described(part) for part in parts])
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]


def _described(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, FunctionType):
        return value.__qualname__, _code_of(value)
    if isinstance(value, type):
        return value.__qualname__, _code_of(value)
    if isinstance(value, str | bytes | int | float | complex | None):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return type(value).__name__, [_described(item) for item in value]
    if isinstance(value, dict):
        return [(_described(key), _described(item)) for key, item in value.items()]
    return type(value).__name__, _code_of(type(value)), _parameters(value)


def _parameters(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, BaseEstimator) or hasattr(value, "get_params"):
        return _described(dict(sorted(value.get_params(deep=False).items())))
    if hasattr(value, "tobytes"):  # an array
        return value.shape, str(value.dtype), hashlib.sha256(value.tobytes()).hexdigest()
    own = getattr(value, "__dict__", None)
    return repr(value) if own is None else _described(dict(sorted(own.items())))


def _code_of(thing: type | FunctionType) -> tuple[str, ...]:
    """Return what the code of a class, with its bases, or of a function is."""
    kinds = thing.__mro__ if isinstance(thing, type) else (thing,)
    return tuple(dict.fromkeys(_source(kind) for kind in kinds if kind is not object))


def _source(thing: Any) -> str:  # noqa: ANN401 - a class or a function
    name = thing.__module__ or ""
    if name.partition(".")[0] == "ratekeeper" or _is_own_file(name):
        return _project(name)
    if name in ("__main__", "__mp_main__", "builtins") or name not in sys.modules:
        return _own_text(thing)
    package = name.partition(".")[0]
    return f"{name} {getattr(sys.modules.get(package), '__version__', '')}"


def _is_own_file(name: str) -> bool:
    """Whether a module is a file of the user's own, not an installed package nor a notebook."""
    place = getattr(sys.modules.get(name), "__file__", None)
    if place is None or name in ("__main__", "__mp_main__"):
        return False
    folders = (*map(str, Path(place).resolve().parents),)
    return not any(folder in folders for folder in _INSTALLED)


def _own_text(thing: Any) -> str:  # noqa: ANN401
    """Return what a class or function of a script or notebook does."""
    functions = [thing, *(vars(thing)[name] for name in sorted(vars(thing)))]
    codes = [getattr(function, "__code__", None) for function in functions]
    return " ".join(_instructions(code) for code in codes if code is not None)


def _instructions(code: CodeType) -> str:
    """Return what code does, wherever its lines stand."""
    parts = [
        _instructions(part) if isinstance(part, CodeType) else repr(part) for part in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} {' '.join(parts)}"


def _project(name: str) -> str:
    """Return a hash of a module and of what it imports that is not installed."""
    found: dict[str, str] = {}
    waiting = [name]
    while waiting:
        module = waiting.pop()
        if module in found or not _counts(module):
            continue
        found[module], imported = _module(module)
        waiting += imported
    text = repr(sorted(found.items()))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _counts(module: str) -> bool:
    if module.partition(".")[0] == "ratekeeper":
        return any(module == one or module.startswith(f"{one}.") for one in _DECIDING)
    return _is_own_file(module)


@lru_cache(maxsize=1_000)
def _module(module: str) -> tuple[str, tuple[str, ...]]:
    """Return what a module does, and what it imports."""
    place = getattr(sys.modules.get(module), "__file__", None)
    if place is None or not place.endswith(".py"):
        return "", ()
    try:
        source = Path(place).read_bytes()
        tree = ast.parse(source)
        for node in ast.walk(tree):  # classes remember their line
            if hasattr(node, "lineno"):
                vars(node).update(lineno=1, end_lineno=1, col_offset=0, end_col_offset=0)
        code = compile(tree, "", "exec", dont_inherit=True, optimize=2)  # without docstrings
    except (OSError, SyntaxError, ValueError):
        return "", ()
    package = module if Path(place).name == "__init__.py" else module.rpartition(".")[0]
    imported = [
        f"{package.rsplit('.', dots - 1)[0]}.{name}" if (dots := len(relative)) else name
        for relative, name in _IMPORTS.findall(source.decode("utf-8", "replace"))
    ]
    digest = hashlib.sha256(_instructions(code).encode("utf-8", "backslashreplace")).hexdigest()
    return digest, tuple(imported)
