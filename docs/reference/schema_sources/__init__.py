"""What JSON outputs hold: NAME.py describes schemas/NAME.schema.json.

Its docstring is the description there, FORMS are the schemas of which an output follows one, and
PARTS those that any file may refer to. `parts` has what several outputs hold, `kinds` single
values, and `shapes` what is made of them. ``python docs/reference/schemas.py`` writes the files.
"""
