"""How the measures of a suite went over its kept runs."""
