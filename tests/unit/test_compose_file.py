"""What docker-compose.yml must keep to; that it starts is shown by running it, in .ci/run."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.embedded.lock import DEFAULT_VERSION, load_lock

ROOT = Path(__file__).parents[2]
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
HARNESS = SERVICES["relevance"]
ENGINES = [name for name in SERVICES if name != "relevance"]


@pytest.mark.parametrize("name", ENGINES)
def test_every_port_is_bound_to_this_machine_because_there_is_no_login(name: str) -> None:
    ports = SERVICES[name]["ports"]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


@pytest.mark.parametrize("name", ENGINES)
def test_pages_of_other_sites_are_refused(name: str) -> None:
    """With cross-origin requests on and no origin allowed, both engines answer 403 to another origin."""
    environment = SERVICES[name]["environment"]
    assert environment["http.cors.enabled"] == "true"
    assert "http.cors.allow-origin" not in environment


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_has_a_memory_limit_and_a_health_check_to_wait_for(name: str) -> None:
    assert SERVICES[name]["mem_limit"]
    check = SERVICES[name]["healthcheck"]["test"][1]
    assert "/_cluster/health" in check
    assert "--noproxy '*'" in check  # Docker gives containers the proxy of its own configuration
    assert SERVICES[name]["environment"]["discovery.type"] == "single-node"


def test_only_elasticsearch_starts_unless_a_profile_is_named() -> None:
    assert [name for name, service in SERVICES.items() if "profiles" not in service] == ["elasticsearch"]


def test_the_container_and_the_embedded_node_are_the_same_opensearch() -> None:
    assert SERVICES["opensearch"]["image"].endswith(f":${{OPENSEARCH_VERSION:-{load_lock(DEFAULT_VERSION).version}}}")


def test_the_harness_has_no_rights_and_writes_nowhere() -> None:
    assert HARNESS["read_only"] is True
    assert HARNESS["cap_drop"] == ["ALL"]
    assert all(volume.endswith(":ro") for volume in HARNESS["volumes"])
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("USER ")] == ["USER 10001:10001"]


def test_the_base_of_the_image_is_the_one_of_the_dockerfile_unless_another_is_named() -> None:
    [default] = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("ARG BASE=")]
    assert HARNESS["build"]["args"]["BASE"] == f"${{RELEVANCE_BASE:-{default.removeprefix('ARG BASE=')}}}"


def test_the_image_is_built_from_files_that_are_sent_to_the_builder() -> None:
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copies = [line.split()[1:-1] for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("COPY ")]
    copied = {name for names in copies for name in names if not name.startswith(("--", "/"))}
    assert copied == sent
    assert all((ROOT / name).exists() for name in sent)
