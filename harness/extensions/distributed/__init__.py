"""One run in several parts: shards with their journals, and workers of a Dask scheduler."""
