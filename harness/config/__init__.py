"""
relevance.toml: the clusters that suites may name, how to log in to them, what suites may read, and models that judge.

It holds no secret: logins are the names of environment variables, a URL with a password in it is refused, and no error
prints a value that could be one. `harness.config.trust` decides which file counts.
"""

from harness.config.addresses import (
    ENGINES,
    decode_cloud_id,
    find_engine_problem,
    find_index_problem,
    find_url_problem,
    lacks_scheme,
    uses_tls,
)
from harness.config.reading import Config, read_config
from harness.config.trust import CONFIG_VARIABLE, Configs, find_machine_judge, find_trusted, resolve_cluster

__all__ = [
    "CONFIG_VARIABLE",
    "ENGINES",
    "Config",
    "Configs",
    "decode_cloud_id",
    "find_engine_problem",
    "find_index_problem",
    "find_machine_judge",
    "find_trusted",
    "find_url_problem",
    "lacks_scheme",
    "read_config",
    "resolve_cluster",
    "uses_tls",
]
