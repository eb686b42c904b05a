"""What the workbench adds to the tests that hold for each command."""
