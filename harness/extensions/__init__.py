"""What the core does without: each folder here has all of one extension, and can be taken away with its tests."""
