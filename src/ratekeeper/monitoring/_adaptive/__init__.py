"""A test whose level moves with the labels that come in, under a cap that no drift can break.

`_level` has the arithmetic and its proof, `_ledger` knows decisions by their ids, `_state` writes
and reads what has happened, `_test` joins it with a test, and `_certificate` says what is promised.
"""

from ratekeeper.monitoring._adaptive._certificate import AdaptiveCertificate
from ratekeeper.monitoring._adaptive._ledger import Ledger, Outcome, UpdateResult
from ratekeeper.monitoring._adaptive._state import load_ledger, save_ledger
from ratekeeper.monitoring._adaptive._test import AdaptiveDecisions, AdaptiveTest, certificate_of

__all__ = [
    "AdaptiveCertificate",
    "AdaptiveDecisions",
    "AdaptiveTest",
    "Ledger",
    "Outcome",
    "UpdateResult",
    "certificate_of",
    "load_ledger",
    "save_ledger",
]
