"""Systems that classify by a two-sample test. None keeps a rate; inside our test each does.

The new object is put into either class, and the test says which fits worse. Start with
`proxy_system`; `two_sample` has the statistics.
"""
