"""The files of the judging page, and the JSON that it reads."""
