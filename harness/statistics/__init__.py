"""
Is a difference between two runs more than chance? Paired tests, intervals, corrections, and what a suite can detect.

Every function takes *differences*: candidate minus reference, one finite number a query, both runs scored on the same
queries. Where many measures are asked at once the array has shape (queries, measures) and one resampling serves all of
them, so that what their correlation implies for the corrections is kept. Randomness is a seeded PCG64: the same
differences, seed and number of samples give the same figure everywhere.

scipy has the t distribution and Wilcoxon's; it is imported only by the functions that need it, for it takes a second.
"""
