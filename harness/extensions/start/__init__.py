"""What stands before the first run: a first suite, the check of a server, the facts of an installation."""
