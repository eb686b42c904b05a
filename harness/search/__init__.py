"""
Searches any server: Elasticsearch, OpenSearch, or an HTTP service.

A `Search` takes requests and yields one response for each. A problem of one query is that query's `Failure`;
`SearchError` is raised if no query could be sent at all. `harness.search.testing` has a `Search` without a server.
`harness.search.protocol` says what the harness asks of a server, `harness.search.dialects` opens one. The package
itself imports nothing: who reads a suite needs its presets alone.
"""
