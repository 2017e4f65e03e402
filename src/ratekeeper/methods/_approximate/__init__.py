"""The paper's other estimators, which fit or resample the scores and promise nothing exactly."""
