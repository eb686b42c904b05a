"""What CI systems show beside the changed lines: annotations, in the form that each of them takes."""
