"""Systems that classify by a two-sample test. None keeps a rate; inside our test each does."""
