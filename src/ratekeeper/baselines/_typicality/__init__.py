"""P-values that say how typical an object is of a class, by the class's density."""
