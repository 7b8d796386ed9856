"""From policy files to checked rules.

Rules this module keeps:
- A policy is accepted whole or not at all; while one is judged, the last good one decides.
- The model is data so that it can be read and reviewed, and it is compared with the one below: no
  pattern, no `eval`, no other effect can be put in its place.
- A rule names a known role, the whole tenant (a deployment knows no tenant's namespaces), and an
  object and a verb that some action has, byte for byte. There is no wildcard, no duplicate, no
  empty field, and no empty policy.
- A policy brings its own cases: each role alone, and nobody, against every action, the denied ones
  included. A policy that fails one, or leaves one out, is refused.

Source: REQUIREMENTS C2, C3, C12 and C.4.
"""

import configparser
import csv
import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml

from core.errors import FieldFault, NamesInvalid
from core.scope import Action, Role
from gateway.access.policy import Asker, Policy
from gateway.access.rules import TENANT, RuleLine, Rules

_MODEL: Final = {
    "request_definition": {"r": "sub, dom, obj, act"},
    "policy_definition": {"p": "sub, dom, obj, act, eft"},
    "policy_effect": {"e": "some(where (p.eft == allow)) && !some(where (p.eft == deny))"},
    "matchers": {
        "m": "r.sub == p.sub && r.dom == p.dom && r.obj == p.obj && r.act == p.act",
    },
}
_FIELDS = 6  # p, subject, place, object, verb, effect
MODEL: Final = "\n".join(
    f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
    for name, keys in _MODEL.items()
)
"""The model as Casbin reads it: written from the constant, so that it never sees the file."""
_SUBJECTS = {f"role:{role.value}" for role in Role}
_PAIRS = {(action.object, action.verb) for action in Action}
_MAX_BYTES = 1 << 20  # a policy of this vocabulary has a few hundred lines at most


@dataclass(slots=True)
class _Faults:
    found: list[FieldFault] = field(default_factory=list)

    def add(self, where: str, message: str) -> None:
        self.found.append(FieldFault(field=where, message=message))

    def stop(self) -> None:
        """Refuse the policy if anything is wrong with it so far."""
        if self.found:
            raise NamesInvalid(tuple(self.found))


def load(folder: Path) -> Rules:
    """Return the rules of `folder`: `model.conf`, `policy.csv` and `cases/*.yaml`.

    Raises:
        Invalid: the policy is refused; each fault names its file and line, never a value.
        OSError: a file cannot be read.
    """
    cases = {path.name: path.read_text("utf-8") for path in sorted(folder.glob("cases/*.yaml"))}
    return check(
        (folder / "model.conf").read_text("utf-8"),
        (folder / "policy.csv").read_text("utf-8"),
        cases,
    )


def check(model: str, policy: str, cases: Mapping[str, str]) -> Rules:
    """Return the rules that these texts say, once they have passed every check.

    Args:
        model: text of `model.conf`.
        policy: text of `policy.csv`, at most 1 MiB.
        cases: file name -> text of each case.

    Raises:
        Invalid: as in `load`.
    """
    faults = _Faults()
    _check_model(model, faults)
    lines = _parse_policy(policy, faults)
    faults.stop()
    contents = hashlib.sha256(f"{len(model)}:{model}{policy}".encode()).hexdigest()
    rules = Rules(MODEL, lines, version=contents[:12])
    _run_cases(rules, cases, faults)
    faults.stop()
    return rules


def _check_model(text: str, faults: _Faults) -> None:
    reader = configparser.ConfigParser(
        interpolation=None,
        delimiters=("=",),
        strict=True,
        default_section="",
        empty_lines_in_values=False,
    )
    try:
        reader.read_string(text)
    except configparser.Error:
        faults.add("model.conf", "It cannot be read.")
        return
    if {name: dict(reader[name]) for name in reader.sections()} != _MODEL:
        faults.add("model.conf", "Only the model of exact comparison is accepted.")


def _parse_policy(text: str, faults: _Faults) -> tuple[RuleLine, ...]:
    if len(text) > _MAX_BYTES:
        faults.add("policy.csv", "It is too long.")
        return ()
    lines: list[RuleLine] = []
    seen: set[tuple[str, str, str]] = set()
    for number, raw in enumerate(text.split("\n"), start=1):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        where = f"policy.csv:{number}"
        line = _parse_line(raw, where, faults)
        if line is None:
            continue
        if (line.subject, line.object, line.verb) in seen:
            faults.add(where, "This role, object and verb were ruled on before.")
        seen.add((line.subject, line.object, line.verb))
        lines.append(line)
    if not lines and not faults.found:
        faults.add("policy.csv", "A policy without a rule is refused.")
    return tuple(lines)


def _parse_line(raw: str, where: str, faults: _Faults) -> RuleLine | None:
    try:
        fields = next(csv.reader(io.StringIO(raw), skipinitialspace=True, strict=True))
    except (csv.Error, StopIteration):
        faults.add(where, "It cannot be read.")
        return None
    if len(fields) != _FIELDS or fields[0] != "p":
        faults.add(where, "A rule is: p, role, tenant, object, verb, effect.")
        return None
    _, subject, place, obj, verb, effect = fields
    if subject not in _SUBJECTS:
        faults.add(where, "The subject is not a known role.")
    if place != TENANT:
        faults.add(where, "The place is the whole tenant.")
    if (obj, verb) not in _PAIRS:
        faults.add(where, "There is no action of this object and verb.")
    if effect not in {"allow", "deny"}:
        faults.add(where, "The effect is allow or deny.")
    return RuleLine(subject, place, obj, verb, effect)


def _run_cases(rules: Rules, cases: Mapping[str, str], faults: _Faults) -> None:
    policy = Policy(rules)
    tried: set[frozenset[Role]] = set()
    for name, text in cases.items():
        where = f"cases/{name}"
        roles, expected = _parse_case(text, where, faults)
        if roles is None:
            continue
        tried.add(roles)
        for action in Action:
            decided = "allow" if policy.judge(Asker(roles=roles), action).allowed else "deny"
            if expected.get(action.value) != decided:
                faults.add(f"{where}:{action.value}", "The policy decides otherwise.")
    wanted = {frozenset({role}) for role in Role} | {frozenset[Role]()}
    if not wanted <= tried:
        faults.add("cases", "Each role alone, and nobody, needs a case.")


def _parse_case(
    text: str, where: str, faults: _Faults
) -> tuple[frozenset[Role] | None, Mapping[str, str]]:
    try:
        case = yaml.safe_load(text)
        if case.keys() != {"case", "roles", "expect"}:
            faults.add(where, "A case has: case, roles, expect.")
            return None, {}
        roles = frozenset(Role(role) for role in case["roles"])
        expected = dict(case["expect"])
    except (yaml.YAMLError, AttributeError, TypeError, ValueError):
        faults.add(where, "It is not a case: a name, known roles, and a decision an action.")
        return None, {}
    if expected.keys() != {action.value for action in Action}:
        faults.add(where, "A case says what it expects of every action, and of nothing else.")
        return None, {}
    return roles, expected
