"""What keeps a rate while the population moves, measured."""
