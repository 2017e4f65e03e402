"""The commands, one file each: the file has the command's name, its function is `command`.

A command parses, calls the library and prints. A new one is a file here and a line in `COMMANDS` of
`ratekeeper.cli`. Start with `control`.
"""
