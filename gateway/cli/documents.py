"""JSON documents that a command takes from a file or from stdin."""

import json
import sys
from pathlib import Path
from typing import Any

from gateway.cli.exits import USAGE, fail

MOST_BYTES = 4 * 1024 * 1024
STDIN = Path("-")


def read_document(file: Path) -> dict[str, Any]:
    """Return the JSON object in `file` (`-`: stdin); ends the command when there is none."""
    try:
        with sys.stdin.buffer if file == STDIN else file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
        document = json.loads(data) if len(data) <= MOST_BYTES else None
    except OSError as err:
        fail(f"{file} cannot be read ({type(err).__name__})", code=USAGE)
    except ValueError:
        fail(f"{file} is not JSON", code=USAGE)
    if not isinstance(document, dict):
        fail(f"{file} holds no JSON object, or more than 4 MiB", code=USAGE)
    return document
