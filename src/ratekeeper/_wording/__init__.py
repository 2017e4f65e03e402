"""Words and how they are shown: sentences, numbers, names, HTML.

Everything a person reads is written here once. `_sentences` has one file per subject, each a table
of templates; `_formatting` writes values, `_html` the cards of notebooks and the report.
Imports nothing of the package. Start with `_sentences/__init__.py`, whose `say` fills a template.
"""
