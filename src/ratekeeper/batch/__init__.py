"""Files of rows, streamed: calibrate, classify and evaluate whatever their size."""
