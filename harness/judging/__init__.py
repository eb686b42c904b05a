"""Work on judgments that needs suites and an engine: what is to be judged, and what is judged wrongly."""
