"""carom schema: the JSON Schema of scenario files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def schema(out: Annotated[Path | None, typer.Option("--out", "-o", help="Write it to this file.")] = None) -> None:
    """Print the JSON Schema of scenario files.

    Editors complete and check files with it.

    Example: carom schema --out carom.schema.json, and at the top of a scenario: #:schema ./carom.schema.json
    """
    import json

    from ..scenario.schema_data import json_schema

    text = json.dumps(json_schema(), indent=1, ensure_ascii=False)
    if out is None:
        typer.echo(text)
        return
    from ..result._files import write_text

    write_text(out, text + "\n")
    typer.echo(f"wrote {out}")
