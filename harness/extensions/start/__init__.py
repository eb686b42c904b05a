"""What is asked before a first run: the check of a server, the facts of an installation."""

from harness.extensions import AddedCommand, Extension, Step

EXTENSION = Extension(
    commands=(
        AddedCommand(
            "doctor",
            "Engines",
            "Check a server: connection, privileges, index, fields, clock.",
            "harness.extensions.start.doctor_command",
            before="engine",
        ),
        AddedCommand(
            "info",
            "Others",
            "Print versions, extras and plugins, for an issue report.",
            "harness.extensions.start.info_command",
        ),
    ),
    steps=(Step("relevance doctor --help", "check a server before a run"),),
)
