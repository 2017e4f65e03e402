"""The paper's normality experiment, run again as published and without its leak."""
