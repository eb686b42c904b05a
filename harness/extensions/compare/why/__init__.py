"""
Which of the differences between two requests moved the results: ``relevance compare A B --why``.

`differences` takes two requests apart into differences, each with a switch; `arms` lists the requests to send for
them; `asking` sends these; `causes` decides which differences moved the mean, and `queries` which moved each query.
"""
