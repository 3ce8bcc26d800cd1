"""Other laws for a contact, each as a table with numbers to begin with: those of the law before, else of an example."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..contact import catalogue
from ..contact.catalogue import LawEntry
from ..scenario._text import plain
from ..scenario.form_tables import plain as plain_value
from ..scenario.model import Scenario


def choices_of(scenario: Scenario) -> dict[str, dict[str, dict[str, Any]]]:
    """By the path of a law, the tables of all laws that can stand there, by name."""
    materials = list(scenario.materials)
    normal = (*catalogue.NORMAL_LAWS, *catalogue.IMPACT_LAWS)
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for name, table in plain(scenario).get("contacts", {}).items():
        place = f'contacts."{name}"' if "." in name else f"contacts.{name}"
        for field, entries in (("normal", normal), ("friction", catalogue.FRICTION_LAWS)):
            now = table.get(field, {})
            found = {entry.card.name: _table(entry, now, materials) for entry in entries}
            out[f"{place}.{field}"] = {law: made for law, made in found.items() if made is not None}
    return out


def _table(entry: LawEntry, now: dict[str, Any], materials: list[str]) -> dict[str, Any] | None:
    """The table of a law; None where it needs a material that the scenario does not have."""
    if now.get("law") == entry.card.name:
        return now
    example, out = entry.example(), dict[str, Any](law=entry.card.name)
    for field in dataclasses.fields(entry.law):
        value = getattr(example, field.name)
        if field.name in ("first", "second"):
            if not materials:
                return None
            out[field.name] = now.get(field.name, materials[0])
        elif field.name in now and field.name != "stiffness":  # a stiffness has another unit in another law
            out[field.name] = now[field.name]
        elif value is not None:
            out[field.name] = plain_value(value)
    return _in_order(out)


def _in_order(table: dict[str, Any]) -> dict[str, Any]:
    """A static coefficient is never below the sliding one."""
    if "static" in table and "mu" in table:
        table["static"] = max(table["static"], table["mu"])
    return table
