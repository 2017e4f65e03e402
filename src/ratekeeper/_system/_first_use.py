"""Public names of a package that are loaded when they are first used.

What imports one module of a large package needs few of the others, and a command would load all of
them before it does anything.
"""

# The package itself begins here, so no module of Python's own is imported: see its `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def on_first_use(
    package: str, homes: "Mapping[str, Sequence[str]]"
) -> "tuple[Callable[[str], object], Callable[[], list[str]]]":
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to sequence of str
        The names by the module that has them, below ratekeeper.
    """
    places = {name: home for home, names in homes.items() for name in names}

    def load(name: str) -> object:
        import sys
        from importlib import import_module

        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"ratekeeper.{places[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(places)
