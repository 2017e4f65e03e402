"""The decision of a test as portable SQL."""
