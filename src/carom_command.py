"""The `carom` script. It stands outside of the package, whose import takes a second, so that Ctrl-C is heard in it."""

import sys


def main() -> None:
    """Entry point."""
    try:
        from carom.cli import main as command

        command()
    except KeyboardInterrupt:
        print("carom: interrupted; nothing was written", file=sys.stderr)
        raise SystemExit(130) from None
