"""One file per command; the file has the command's name and its function is `command`."""
