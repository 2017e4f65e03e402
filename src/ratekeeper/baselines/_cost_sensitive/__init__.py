"""Systems that weigh the two errors by what they cost. None keeps a rate."""
