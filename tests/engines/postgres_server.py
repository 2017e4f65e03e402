"""A PostgreSQL server of our own: made in a temporary folder, reached by a socket there."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from warehouses import TYPES, plain

_FOLDERS = ["/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"]
_SETTINGS = "-c listen_addresses='' -c fsync=off -c synchronous_commit=off -c jit=on"


def binaries():
    """Return the folder of initdb and pg_ctl, None if there is none."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    known = [path for pattern in _FOLDERS for path in sorted(Path("/").glob(pattern[1:]))]
    return next((path for path in reversed(known) if (path / "initdb").exists()), None)


def _unprivileged():
    """Return whom to be: PostgreSQL refuses to run as root."""
    if os.geteuid():
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return pytest.skip("PostgreSQL does not run as root, and there is no other user")


@contextmanager
def server():
    """Run a server for as long as it is needed, and give the folder of its socket."""
    folder = binaries()
    if folder is None:
        pytest.skip("PostgreSQL is not installed")
    user = _unprivileged()
    own = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    # A socket's path has at most 107 characters, so the folder is not one of pytest's.
    with tempfile.TemporaryDirectory(prefix="rk-pg-", dir="/tmp") as home:
        if user is not None:
            os.chown(home, user.pw_uid, user.pw_gid)
        data = f"{home}/data"

        def run(program, *arguments):
            environment = {**os.environ, "HOME": home, "LC_ALL": "C", "TZ": "UTC"}
            command = [folder / program, "-D", data, *arguments]
            done = subprocess.run(
                command,
                cwd=home,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                **own,
            )
            assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"

        run("initdb", "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        log, options = f"{home}/log", f"{_SETTINGS} -k {home}"
        # The server must not inherit our pipes, or we would wait for it to close them.
        run("pg_ctl", "-w", "-t", "60", "-l", log, "-o", options, "start")
        try:
            yield home
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")


class Postgres:
    """A connection, with the interface of `warehouses`."""

    dialect = "postgres"

    def __init__(self, home):
        import psycopg

        self.home = home
        self.connection = psycopg.connect(
            host=home, user="tester", dbname="postgres", autocommit=True
        )

    def put(self, table, columns, types):
        """Make a table anew."""
        kinds = [f"{name} {TYPES['postgres'].get(types[name], types[name])}" for name in columns]
        self.execute(f"DROP TABLE IF EXISTS {table}")
        self.execute(f"CREATE TABLE {table} ({', '.join(kinds)})")
        with self.connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
            for row in zip(*map(plain, columns.values()), strict=True):
                copy.write_row(row)

    def execute(self, query):
        """Run a statement."""
        return self.connection.execute(query)

    def columns(self, query):
        """Return the columns of a result."""
        cursor = self.execute(query)
        names = [column.name for column in cursor.description]
        rows = cursor.fetchall()
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def csv(self, query):
        """Return a result as the text of a CSV file, as psql exports it."""
        command = f"COPY ({query}) TO STDOUT WITH CSV HEADER"
        with self.connection.cursor() as cursor, cursor.copy(command) as copy:
            return b"".join(bytes(part) for part in copy).decode()
