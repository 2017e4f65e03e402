"""Names with their docstrings: the directive ``public``. No public name may lack a page.

.. public:: ratekeeper.files

   classify_file
   Classified
   FORMATS: The formats that are read and written. (A constant has no docstring.)
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

import ratekeeper

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

LOGGER = logging.getLogger(__name__)


@cache
def public_modules() -> list[str]:
    """Return the package and its modules that have no underscore in their path."""
    found = pkgutil.walk_packages(ratekeeper.__path__, "ratekeeper.")
    names = (module.name for module in found)
    return ["ratekeeper", *(n for n in names if not any(p[0] == "_" for p in n.split(".")))]


@cache
def public_names(module: str) -> list[str]:
    """Return the names that a module offers."""
    home = import_module(module)
    listed = getattr(home, "__all__", None)
    if listed is not None:
        return [name for name in listed if not inspect.ismodule(getattr(home, name))]
    return [
        name
        for name, value in vars(home).items()
        if name[0] != "_" and getattr(value, "__module__", None) == module
    ]


class Public(SphinxDirective):
    """Shows the docstrings of some names of a module."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar = {"own": directives.flag}  # nothing that a class inherits

    def run(self) -> list[nodes.Node]:
        """Return a list of the names, and what autodoc makes of each."""
        module = self.arguments[0]
        shown = self.env.public_names_shown.setdefault(self.env.docname, [])
        list_, lines = [], []
        for line in filter(None, map(str.strip, self.content)):
            name, _, text = line.partition(": ")
            value = getattr(import_module(module), name)
            shown.append(f"{module}:{name}")
            first = text or inspect.getdoc(value).split("\n\n")[0].replace("\n", " ")
            list_ += [f"- :py:obj:`{name} <{module}.{name}>`: {first}"]
            if text:
                lines += [f".. py:data:: {module}.{name}", "", f"   {text}"]
            elif inspect.isclass(value):
                kind = "exception" if issubclass(value, BaseException) else "class"
                lines += [f".. auto{kind}:: {module}.{name}"]
                lines += [] if "own" in self.options else ["   :inherited-members:"]
            else:
                lines += [f".. autofunction:: {module}.{name}"]
            lines += [""]
        return self.parse_text_to_nodes("\n".join([*list_, "", *lines]))


class Name(SphinxRole):
    """A single backtick of a docstring: code, and a link where it is a public name."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return a link to a name, whose page Sphinx finds, or plain code."""
        code = nodes.literal(self.rawtext, self.text, classes=["py", "py-obj"])
        first = self.text.split(".")[0]
        for module in public_modules():
            if first in public_names(module) and first != "ratekeeper":
                target = f"{module}.{self.text}"
                link = addnodes.pending_xref(
                    self.rawtext, code, refdomain="py", reftype="obj", reftarget=target
                )
                return [link], []
        return [code], []


COLON = "\ue000"


def plain(
    _app: Sphinx, what: str, _name: str, _value: object, _options: object, lines: list[str]
) -> None:
    """Keep napoleon from taking the words before a colon for the type of a property."""
    if what in ("property", "attribute"):
        lines[:] = [line.replace(":", COLON) for line in lines]


def escaped(
    _app: Sphinx, _what: str, _name: str, _value: object, _options: object, lines: list[str]
) -> None:
    """Keep Sphinx from reading markup into lists of parameters, and lead to pages by their links.

    A type such as ``float, default=alpha`` is words, of which Sphinx would link each to whatever
    has that name.
    """
    for number, line in enumerate(lines):
        if line.startswith(".. attribute:: "):
            lines[number] = f"{line}\n   :no-index:"  # a property may have its own entry
        elif kind := re.match(r"(:type [^:]*: )(.*)", line):
            words = kind[2].replace("`", "").replace("*", r"\*").replace("_", r"\_")
            lines[number] = f"{kind[1]}*{words}*"
        else:
            lines[number] = re.sub(r"(?:``)?\bdocs/([\w/-]+)\.md(?:``)?", r":doc:`/\1`", line)
    lines[:] = "\n".join(lines).replace(COLON, ":").split("\n")


def foreign(
    _app: Sphinx,
    _what: str,
    _name: str,
    value: object,
    skip: bool,  # noqa: FBT001 - Sphinx's own order
    _options: object,
) -> bool | None:
    """Leave out what a class has from scikit-learn, Python and others."""
    value = getattr(value, "fget", value)
    home = getattr(getattr(value, "__objclass__", value), "__module__", None)  # of a built-in's own
    ours = home is None or home.startswith("ratekeeper")
    return None if ours or skip else True


def begin(_app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Forget what pages that are read again showed."""
    shown = env.__dict__.setdefault("public_names_shown", {})
    for docname in docnames:
        shown.pop(docname, None)


def check(_app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of every public name that no page shows."""
    listed = (one.split(":") for page in env.public_names_shown.values() for one in page)
    shown = {id(getattr(import_module(module), name)) for module, name in listed}
    for module in public_modules():
        for name in public_names(module):
            value = getattr(import_module(module), name)
            if name != "__version__" and id(value) not in shown:
                LOGGER.warning("%s.%s is public and has no page", module, name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add directive and role, and the check after all pages are read."""
    app.add_directive("public", Public)
    app.add_role("name", Name())
    app.connect("autodoc-process-docstring", plain, priority=100)  # before napoleon
    app.connect("autodoc-process-docstring", escaped, priority=900)  # after it
    app.connect("autodoc-skip-member", foreign)
    app.connect("env-before-read-docs", begin)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
