"""
Which of the differences between two requests moved the results: ``relevance compare A B --why``.

`differences` takes two requests apart into differences, each with a switch in a `tree`, by `clauses` and `fields`;
`arms` lists the requests to send for them, `asking` sends these; `causes` decides which differences moved the mean, and
`queries` which moved each query; `explaining` joins all that. `planning` is what the command calls, `document` and
`sentences` say the result.
"""
