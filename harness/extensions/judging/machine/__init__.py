"""A language model as a judge: what it is asked, how its answers are read, and what they may cost."""
