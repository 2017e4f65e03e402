"""The study of rival systems: which keep the rate that they promise, and at what price."""
