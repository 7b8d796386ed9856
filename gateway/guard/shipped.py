"""Loads what a deployment brings: the rules for secrets, its policy and the profiles.

Rules this module keeps:
- A file that is not wholly understood ends the start; none is left out.
"""

from pathlib import Path

from gateway.guard.guard import Guard
from gateway.guard.judged import Tally, uncounted
from gateway.guard.overlay import PROFILES, Shipped
from gateway.guard.pii.finding import PiiDetector
from gateway.guard.policy import load_pii_policy
from gateway.guard.rules import load_secret_rules
from gateway.resources import data_path

DEFAULT_PROFILE = "balanced"


def load_shipped(
    detector: PiiDetector, *, pii_policy: Path | None = None, tally: Tally = uncounted
) -> Shipped:
    """Return what the deployment brings.

    Args:
        detector: warm.
        pii_policy: file of the policy for whoever has none of their own; None for the default
            profile.
        tally: told of every finding.

    Raises:
        PolicyInvalid: a file does not load.
    """
    profiles = {
        name: load_pii_policy(data_path("policies", "pii", f"{name}.yaml")) for name in PROFILES
    }
    policy = profiles[DEFAULT_PROFILE] if pii_policy is None else load_pii_policy(pii_policy)
    rules = load_secret_rules(data_path("policies", "secrets.yaml"))
    return Shipped(guard=Guard(rules, policy, detector, tally=tally), profiles=profiles)
