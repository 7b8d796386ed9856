"""Finds the data files that travel with the code: `policies/` and `examples/`.

Rules this module keeps:
- A wheel carries them under `gateway/_data`; a checkout has them beside the packages. The place is
  decided once: an installed gateway never looks outside its own package, since a folder called
  `policies` in site-packages is somebody else's.
- Only the two named folders are served, and no path leaves them.
"""

from pathlib import Path

CARRIED = frozenset({"policies", "examples"})
"""Folders that the wheel carries."""


def data_path(*parts: str) -> Path:
    """Return the path of a carried file or folder.

    Args:
        parts: path below the root, first `policies` or `examples`: `data_path("policies", "pii")`.

    Raises:
        ValueError: the path is outside the carried folders.
        FileNotFoundError: the installation lacks it; nothing is served in its place.
    """
    root = _root(Path(__file__).resolve().parent)
    path = root.joinpath(*parts)
    if not parts or parts[0] not in CARRIED or ".." in path.parts or not path.is_relative_to(root):
        message = "only policies/ and examples/ are carried"
        raise ValueError(message)
    if not path.exists():
        message = f"this installation lacks {'/'.join(parts)}"
        raise FileNotFoundError(message)
    return path


def _root(package: Path) -> Path:
    installed = package / "_data"
    return installed if installed.is_dir() else package.parent
