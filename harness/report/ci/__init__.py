"""Annotations that CI systems show beside changed lines, in the format of each system."""
