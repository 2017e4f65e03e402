"""The test that was written."""

from __future__ import annotations

from .certificate import held
from .parts import WRITTEN
from .shapes import Members, ref

STATED: Members = {
    "alerts?": ("What the test means at the stated prevalence.", ref("alerts_by_group"))
}
FORMS = held(WRITTEN, STATED)
