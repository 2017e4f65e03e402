"""Pictures of calibrations and tests, as scikit-learn style Display objects."""
