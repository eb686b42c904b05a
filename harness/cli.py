"""The command line: options in, exit status out."""
