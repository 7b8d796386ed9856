"""The pinned npm packages and the node that runs them; `make test-interop` installs both."""

import shutil
import subprocess
from pathlib import Path

FOLDER = Path(__file__).with_name("npm")
MODULES = FOLDER / "node_modules"
OLDEST_NODE = 22


def node() -> str:
    """Return a node that is new enough: the machine's own, else the pinned one."""
    pinned = [path for path in MODULES.glob("node-*/bin/node") if path.is_file()]
    found = shutil.which("node")
    if found is not None:
        said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
        if int(said.stdout.lstrip("v").partition(".")[0]) >= OLDEST_NODE:
            return found
    if not pinned:
        raise FileNotFoundError("no node of version 22 or later: run `make test-interop`")
    return str(pinned[0])
