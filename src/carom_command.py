"""The `carom` script. It stands outside of the package, whose import takes a second, so that Ctrl-C is heard in it."""

import os
import signal
import sys
from typing import Any

SENTENCE = "carom: interrupted; nothing was written\n"


def main() -> None:
    """Entry point."""
    try:
        # Libraries run code in which Python drops exceptions: while they load, Ctrl-C ends the process by itself.
        heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if heard:
            signal.signal(signal.SIGINT, _end)
        from carom.cli import main as command

        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command()
    except KeyboardInterrupt:
        sys.stderr.write(SENTENCE)
        raise SystemExit(130) from None


def _end(number: int, frame: Any) -> None:
    os.write(2, SENTENCE.encode())
    os._exit(130)
