"""Pieces of HTML for notebooks."""
