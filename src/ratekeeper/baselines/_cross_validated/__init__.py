"""P-values from classifiers that are trained with the new object among the rows."""
