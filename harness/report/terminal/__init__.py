"""Reports as text: laid out by rich for a terminal, and plain everywhere else."""
