"""How the command line fails: one sentence, one code, never a stack.

Rules this module keeps:
- What the sentence says is safe to paste into a bug report.
- The code is 1 unless the failure has one of its own.
"""

import contextlib
import sys
from collections.abc import Iterator
from typing import NoReturn

from core.errors import GatewayError

FAILED = 1
USAGE = 2
CONFIG = 78
"""Unsafe or missing settings. Source: sysexits.h, EX_CONFIG."""


def fail(message: str, *, code: int = FAILED) -> NoReturn:
    """Say `message` on stderr and end with `code`."""
    sys.stderr.write(f"memwarden: {message}\n")
    sys.exit(code)


@contextlib.contextmanager
def failing_plainly() -> Iterator[None]:
    """Turn the errors that a person can act on into a sentence and a code."""
    # Imported here: the embedded engines are not needed by every command.
    from gateway.embedded.children import EngineFailed  # noqa: PLC0415
    from gateway.embedded.folder import FolderInUse, FolderUnusable  # noqa: PLC0415
    from gateway.settings import SettingsInvalid  # noqa: PLC0415

    try:
        yield
    except SettingsInvalid as err:
        for fault in err.faults:
            sys.stderr.write(f"memwarden: {fault}\n")
        sys.exit(CONFIG)
    except (FolderInUse, FolderUnusable, EngineFailed) as err:
        fail(str(err))
    except GatewayError as err:
        fail(err.detail)
