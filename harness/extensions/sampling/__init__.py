"""Draws queries for a suite from a log of searches."""
