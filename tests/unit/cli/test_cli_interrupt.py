import signal
import socket
import subprocess
import sys
import threading

import pytest

from builders.first_suite import write_first_suite


@pytest.fixture
def silent_server():
    """Takes connections and never answers; *asked* is set when the first has come."""
    listener = socket.create_server(("127.0.0.1", 0))
    asked = threading.Event()
    held = []

    def accept():
        try:
            while True:
                held.append(listener.accept()[0])
                asked.set()
        except OSError:
            return

    threading.Thread(target=accept, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    for connection in held:
        connection.close()


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_130_and_leaves_no_report(tmp_path, silent_server, name):
    url, asked = silent_server
    write_first_suite(tmp_path)
    (tmp_path / "r.json").write_text('{"timing": {}, "harness": "0.0.9"}')
    words = ["run", str(tmp_path), "--url", url, "--output", f"json={tmp_path}/r.json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert asked.wait(60)
    process.send_signal(name)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert err.splitlines()[-1] == "relevance: interrupted"
    assert "Traceback" not in err
    assert not (tmp_path / "r.json").exists()
