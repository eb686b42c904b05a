"""The pytest plugin: collects suites, one item a threshold."""
