"""What the first steps add to the tests that hold for each command."""

REQUESTS = [["doctor", "--index", "products"]]
