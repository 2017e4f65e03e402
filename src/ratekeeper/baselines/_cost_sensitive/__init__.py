"""Systems that weigh the two errors by what they cost. None keeps a rate.

A search of the cost ratio (`costs`) makes each aim at a rate. `trees` grows and prunes. Start with
`cost_system`.
"""
