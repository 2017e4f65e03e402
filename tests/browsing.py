"""Pages in a real browser: what goes wrong in one, and what axe-core says of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def watch(page, allowed):
    """Return a list that takes up whatever goes wrong: messages, errors, requests elsewhere."""
    troubles = []
    page.set_default_timeout(60_000)  # no test is about time
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))

    def refuse(route):
        troubles.append(route.request.url)
        route.abort()

    page.route(lambda url: not allowed(url), refuse)
    return troubles


def violations(page):
    """Return what axe-core finds serious or critical, as lines that say where."""
    script = os.environ.get("AXE_CORE")
    if script is None:
        pytest.skip("AXE_CORE does not name axe.min.js; .ci/run installs it")
    page.evaluate(Path(script).read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {preload: false, resultTypes: ['violations']})")
    return [
        f"{one['impact']} {one['id']}: {node['target']} {node['html'][:120]}"
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]
