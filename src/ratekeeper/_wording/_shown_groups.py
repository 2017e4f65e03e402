"""Which groups a table shows, where there are too many for all of them."""

from __future__ import annotations

from ratekeeper._wording._sentences import say


def shown_text(shown: int, n: int, about: str = "") -> list[str]:
    """Say which groups are shown, if not all: those with the fewest and the most scores."""
    facts = {"shown": shown, "n": f"{n:,}", "hidden": f"{n - shown:,}", "about": about}
    return [say("certificate.groups.shown.sizes", **facts)] if shown < n else []
