"""Drafts of suites: what is known of a suite that is to be written, and its files."""
