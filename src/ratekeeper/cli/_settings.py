"""Settings: a flag wins over the environment, the environment over a TOML file, that over defaults.

- Environment: ``RATEKEEPER_CALIBRATE_ON_INVALID=skip``, that is the command and the option.
- TOML: a table for each command, with keys as the options are written::

      [calibrate]
      score = "risk"
      on-invalid = "skip"

  The file is named by ``--config FILE`` or by ``RATEKEEPER_CONFIG``. None is ever looked for.
  Its settings are checked by name and type.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ratekeeper._system._plain_files import open_plain
from ratekeeper._wording._formatting import did_you_mean, format_value
from ratekeeper.cli import _options as options
from ratekeeper.cli._errors import COMMAND, CommandError
from ratekeeper.cli._printing import Help, echo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Command = Callable[..., Any]
    Decorator = Callable[[Command], Command]

_META = "ratekeeper.config"
_LARGEST = 1_000_000  # bytes of a file of settings
_LONGEST_KEY = 40
_MOST_DOTS = 100  # in a line: the standard library takes long for keys of very many parts


def _config(callback: Callable[..., None], **more: Any) -> Decorator:  # noqa: ANN401
    """Return the option ``--config``, of which a command's function hears nothing."""
    return click.option(
        "--config",
        type=options.PathType(dir_okay=False),
        metavar="FILE",
        help="TOML file with settings, one table per command.",
        expose_value=False,
        callback=callback,
        **more,
    )


def program_option(function: Command) -> Command:
    """Give the program the option ``--config``, also set by RATEKEEPER_CONFIG."""

    def keep(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
        del param
        ctx.meta[_META] = value

    return _config(keep)(function)


def command_option(function: Command) -> Command:
    """Give a command the option ``--config`` and settings from file and environment."""
    # Before the options that it gives values to.
    return _config(_use, is_eager=True, allow_from_autoenv=False)(function)


def _use(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    del param
    if ctx.resilient_parsing:
        return
    ctx.meta[COMMAND] = ctx.command
    _warn_of_unknown_variables(ctx)
    path = ctx.meta[_META] = value or ctx.meta.get(_META)
    if path is not None:
        ctx.default_map = _read(path, ctx)
        ctx.formatter_class = Help


def files_read() -> list[str]:
    """Return the file of settings that the running command has read, if any."""
    context = click.get_current_context(silent=True)
    path = None if context is None else context.meta.get(_META)
    return [] if path is None else [path]


def _read(path: str, ctx: click.Context) -> dict[str, Any]:
    """Return the values that the file gives the options of this command."""
    from ratekeeper.cli import COMMANDS

    tables = _tables(path)
    for name, table in tables.items():
        if name not in COMMANDS:
            if not isinstance(table, dict):
                _refuse_outside(path, name, table)
            raise CommandError(
                f"{path}: {format_value(name)} is no command, so it can be no "
                f"table.{did_you_mean(name, COMMANDS)} "
                f"Tables are {', '.join(COMMANDS)}."
            )
        if not isinstance(table, dict):
            raise CommandError(
                f"{path}: {name} = {format_value(table)} is not a table. Write [{name}] above it."
            )
    return _values(tables.get(_table_of(ctx), {}), path, ctx)


def _table_of(ctx: click.Context) -> str:
    """Return the table of a command; what `sql` prints has one for all."""
    parent = ctx.parent
    above = parent is not None and parent.parent is not None
    return _table_of(parent) if above and parent else ctx.info_name or ""


def _refuse_outside(path: str, key: str, value: object) -> NoReturn:
    """Say under which tables a key could stand."""
    from importlib import import_module

    from ratekeeper.cli import COMMANDS

    known = {
        name: _options(import_module(f"ratekeeper.cli._commands.{name}").command)
        for name in COMMANDS
    }
    tables = [f"[{name}]" for name, keys in known.items() if key in keys]
    every = {option for keys in known.values() for option in keys}
    if tables:
        remedy = f"Write it under the command that it is for: {', '.join(tables)}"
    else:
        remedy = (
            f"No command has such a setting.{did_you_mean(key, every)} Tables are commands, such "
            "as "
        )
        remedy += "[calibrate]"
    raise CommandError(
        f"{path}: {_name(key)} = {format_value(value)} stands outside a table. {remedy}."
    )


def _options(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command, or of all its own, as a file of settings has them."""
    if isinstance(command, click.Group):
        parts = (_options(one) for one in command.commands.values())
        return {name: option for part in parts for name, option in part.items()}
    return {
        max(option.opts, key=len).lstrip("-"): option
        for option in command.params
        if isinstance(option, click.Option) and option.name != "config"
    }


def _tables(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open_plain(path) as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise CommandError(
            f"--config {path} cannot be read: {error.strerror or error}. Check the path."
        ) from error
    if len(content) > _LARGEST:
        raise CommandError(f"--config {path} has more than {_LARGEST:,} bytes. Check the path.")
    if any(line.count(b".") > _MOST_DOTS for line in content.splitlines()):
        raise CommandError(f"{path} has a line with more than {_MOST_DOTS} dots. Fix it there.")
    try:
        return tomllib.loads(content.decode())
    except RecursionError as error:
        raise CommandError(f"{path} is nested too deeply. Fix it there.") from error
    except ValueError as error:
        raise CommandError(f"{path} is not TOML in UTF-8: {error}. Fix it there.") from error


def _values(table: Mapping[str, Any], path: str, ctx: click.Context) -> dict[str, Any]:
    own, known = _options(ctx.command), _options(_family(ctx))
    values = {}
    for key, value in table.items():
        where = f"{path}: [{_table_of(ctx)}] {_name(key)} = {format_value(value)}"
        if key in known and key not in own:  # a setting of another query
            continue
        option = own.get(key)
        if option is None or option.name is None:
            raise CommandError(
                f"{where}: there is no such setting.{did_you_mean(key, known)} Settings are "
                f"{', '.join(known)}."
            )
        need = _wrong_type(option, value)
        if need:
            raise CommandError(f"{where}: write {need}.")
        try:
            option.type_cast_value(ctx, value)
        except click.BadParameter as error:
            raise CommandError(f"{where}: {error.message}") from error
        except ValueError as error:  # of whole numbers that Python does not even write
            raise CommandError(f"{where}: {error}") from error
        values[option.name] = value
    return values


def _family(ctx: click.Context) -> click.Command:
    """Return the command, or the one that it is a part of."""
    parent = ctx.parent
    return parent.command if parent and parent.info_name == _table_of(ctx) else ctx.command


def _name(key: str) -> str:
    """Write a key as it stands in the file, or in quotes if it is no ordinary one."""
    return key if key.isprintable() and len(key) <= _LONGEST_KEY else format_value(key)


def _wrong_type(option: click.Option, value: object) -> str | None:
    """Say what a value must be, or return None if it is that."""
    kind = option.type.name
    is_text = isinstance(value, str)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if option.multiple:
        is_right = isinstance(value, list) and all(isinstance(one, str) for one in value)
        need = 'a list of texts, such as ["a", "b"]'
    elif option.is_flag:
        is_right, need = isinstance(value, bool), "true or false"
    elif kind.startswith("integer"):
        is_right, need = is_number and isinstance(value, int), "a whole number"
    elif kind.startswith("float"):
        is_right, need = is_number, "a number"
    elif kind == "rate":
        is_right, need = is_number or is_text, 'a number, such as 0.05, or "5%"'
    else:
        is_right, need = is_text, f'a text in quotes, such as "{format_value(value)}"'
    return None if is_right else need


def _warn_of_unknown_variables(ctx: click.Context) -> None:
    """Say which variables look like settings of this command and are none."""
    prefix = f"{ctx.auto_envvar_prefix}_"
    family = _family(ctx)
    commands = family.commands.values() if isinstance(family, click.Group) else [family]
    params = (param for one in commands for param in one.params if param.name != "config")
    known = {f"{prefix}{param.name}".upper() for param in params}
    for name in sorted(os.environ):
        if name.startswith(prefix) and name not in known:
            echo(
                f"Warning: the environment has {name}, which is no "
                f"setting.{did_you_mean(name, known)}",
                err=True,
            )
