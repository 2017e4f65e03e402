"""A directive that documents a program of click, from the objects that parse its command line.

``{command-line} module:program`` becomes one section per command, with its usage, arguments and
options. All texts are those of ``--help``, so that the page cannot say anything else. Other pages
link to a section as ``#command-evaluate``.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import click
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sphinx.application import Sphinx

# What is typed stands in a font of its own: `ratekeeper sql`, --option, FILE.RK.
TYPED = re.compile(r"`([^`]+)`|(?<![\w-])(--?[a-z][\w-]*|[A-Z][A-Z-]*\.RK)")
RANGE = re.compile(r"x[<>=]|[\d.]+<")
REMARK = re.compile(r"  \[([^][]*)\]$")
UNPARSED = "\b"
UNSEEN = "\f"


class CommandLine(SphinxDirective):
    """Write the sections of a program."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Callable[[str], object]] | None] = {
        "prog": directives.unchanged
    }

    def run(self) -> list[nodes.Node]:
        """Return what the program says about itself, and a section for each command."""
        place, _, name = self.arguments[0].partition(":")
        program = getattr(import_module(place), name)
        called = self.options.get("prog", program.name)
        context = click.Context(program, info_name=called, **program.context_settings)
        return [*self.about(context), *self.commands(context)]

    def commands(self, context: click.Context) -> Iterator[nodes.section]:
        """Yield a section for each command of a group."""
        group = context.command
        if not isinstance(group, click.Group):
            return
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command is not None and not command.hidden:
                settings = command.context_settings
                inner = click.Context(command, info_name=name, parent=context, **settings)
                yield self.section(inner)

    def section(self, context: click.Context) -> nodes.section:
        """Return the section of a command, with those of its own commands."""
        path = context.command_path
        _, *words = path.split()
        label = "-".join(["command", *words])
        section = nodes.section(ids=[label], names=[label])
        section += nodes.title("", "", nodes.literal("", path))
        section += [*self.about(context), *self.commands(context)]
        self.state.document.note_explicit_target(section)
        return section

    def about(self, context: click.Context) -> Iterator[nodes.Node]:
        """Yield the parts of the help of a command in the order of a reader."""
        command = context.command
        callback = inspect.unwrap(command.callback) if command.callback is not None else None
        if callback is not None:
            self.env.note_dependency(inspect.getfile(callback))
        yield from paragraphs(command.help or "")
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        yield from (rubric("Usage"), literal_block(usage))
        shown = [p for p in command.get_params(context) if not getattr(p, "hidden", False)]
        arguments = [p for p in shown if isinstance(p, click.Argument)]
        if arguments:
            yield from (rubric("Arguments"), definitions(map(argument, arguments)))
        options = [p for p in shown if isinstance(p, click.Option)]
        if options:
            entries = (option(one, context) for one in options)
            yield from (rubric("Options"), definitions(entries))
        yield from paragraphs(command.epilog or "")


Entry = tuple[str, list[nodes.Node]]


def argument(one: click.Argument) -> Entry:
    """Return how an argument is written, and how often it is given."""
    often = "required" if one.required else "optional"
    if one.nargs == -1:
        often += ", may be repeated"
    return one.human_readable_name.removesuffix("..."), [paragraph(f"{often.capitalize()}.")]


def option(one: click.Option, context: click.Context) -> Entry:
    """Return how an option is written, what it says, and from where else it is taken."""
    written, text = one.get_help_record(context) or ("", "")
    remarks: list[str] = []
    while (found := REMARK.search(text)) is not None:
        remarks.insert(0, found[1])
        text = text[: found.start()].rstrip()
    parts: list[nodes.Node] = [paragraph(text)] if text else []
    lines = [f"Range: `{x}`" if RANGE.match(x) else f"{x[:1].upper()}{x[1:]}" for x in remarks]
    variable = variable_of(one, context)
    if variable is not None:
        lines.append(f"Environment: `{variable}`")
    return written, [*parts, *map(paragraph, lines)]


def variable_of(one: click.Option, context: click.Context) -> str | None:
    """Return the variable of the environment that sets an option, if there is one."""
    if isinstance(one.envvar, str):
        return one.envvar
    prefix = context.auto_envvar_prefix
    ends = one.is_eager and not one.expose_value  # help and version end the program
    if prefix is None or ends or not one.allow_from_autoenv:
        return None
    return f"{prefix}_{one.name}".upper()


def definitions(entries: Iterator[Entry]) -> nodes.definition_list:
    """Return a list of terms as they are typed, with what they mean."""
    found = nodes.definition_list(classes=["command-line"])
    for written, parts in entries:
        term = nodes.term("", "", nodes.literal("", written))
        found += nodes.definition_list_item("", term, nodes.definition("", *parts))
    return found


def rubric(text: str) -> nodes.rubric:
    """Return a heading that is no section."""
    return nodes.rubric("", text)


def paragraphs(text: str) -> Iterator[nodes.Node]:
    """Yield the paragraphs of a help text; those that click does not wrap are examples."""
    for block in inspect.cleandoc(text).partition(UNSEEN)[0].split("\n\n"):
        lines = block.strip("\n").split("\n")
        if lines[0].strip() != UNPARSED:
            if block.strip():
                yield paragraph(block)
            continue
        yield from _example(lines[1:])


def _example(lines: list[str]) -> Iterator[nodes.Node]:
    """Yield lines as they are written: those that are indented are typed."""
    for match in re.finditer(r"((?:^ .*\n?)+)|^(\S.*)$", "\n".join(lines), re.MULTILINE):
        if match[1]:
            yield literal_block(textwrap.dedent(match[1]).strip("\n"))
        else:
            yield paragraph(match[2])


def literal_block(text: str) -> nodes.literal_block:
    """Return lines that are typed in a shell, or that a program lists."""
    shown = nodes.literal_block(text, text)
    shown["language"] = "console" if text.startswith("$") else "text"
    return shown


def paragraph(text: str) -> nodes.paragraph:
    """Return a paragraph in which nothing is markup but what is typed."""
    text = " ".join(text.split())
    found = nodes.paragraph(support_smartquotes=False)
    end = 0
    for match in TYPED.finditer(text):
        found += nodes.Text(text[end : match.start()])
        found += nodes.literal("", match[1] or match[2])
        end = match.end()
    found += nodes.Text(text[end:])
    return found


def setup(app: Sphinx) -> dict[str, object]:
    """Give Sphinx the directive."""
    app.add_directive("command-line", CommandLine)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
