"""Hazards as SARIF 2.1.0, for code review tools: what ``drywell run --sarif`` writes, from the runs of a program or of a test session."""

from __future__ import annotations

import json
from typing import Any, Iterable

from ._core import version
from .results import Hazard, Place

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def _location(p: Place, role: str) -> dict[str, Any]:
    out: dict[str, Any] = {"message": {"text": f"{role}: {p}"}, "logicalLocations": [{"name": p.kernel, "kind": "function"}]}
    if p.line:
        out["physicalLocation"] = {"artifactLocation": {"uri": p.file}, "region": {"startLine": p.line}}
    return out


def _rule(h: Hazard) -> dict[str, Any]:
    return {"id": h.code, "shortDescription": {"text": h.rule}, "help": {"text": f"{h.why}. Fix: {h.fix}. PTX ISA {h.ptx_isa}"}}


def _result(h: Hazard, rules: list[str]) -> dict[str, Any]:
    order = f"; {h.order}" if h.order else ""
    out: dict[str, Any] = {"ruleId": h.code, "ruleIndex": rules.index(h.code), "level": h.level, "message": {"text": f"{h.rule}: {h.memory}{order}. Fix: {h.fix}"}}
    if h.here is not None:
        out["locations"] = [_location(h.here, h.roles[0])]
    if h.other is not None:
        out["relatedLocations"] = [_location(h.other, h.roles[1])]
    return out


def to_sarif(hazards: Iterable[Hazard]) -> str:
    """The document as JSON text: a rule for each code, a result for each hazard; equal hazards (of several drivers) are one."""
    unique = list({h.text: h for h in hazards}.values())
    rules = list({h.code: h for h in unique}.values())
    codes = [h.code for h in rules]
    driver = {"name": "drywell", "version": version, "rules": [_rule(h) for h in rules]}
    run = {"tool": {"driver": driver}, "results": [_result(h, codes) for h in unique]}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)
