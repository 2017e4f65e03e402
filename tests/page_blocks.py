"""The runner of pages, docs/pages.py, for tests."""

import importlib.util
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
_spec = importlib.util.spec_from_file_location("page_blocks_of_docs", DOCS / "pages.py")
_module = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = _module  # for its dataclass
_spec.loader.exec_module(_module)
blocks, check, pages = _module.blocks, _module.check, _module.pages
