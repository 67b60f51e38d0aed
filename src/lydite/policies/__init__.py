"""Policies: what answers a prompt."""

from lydite.policies.protocol import Attempt, Policy, Prompt, SamplingParams
from lydite.policies.registry import open_policy
from lydite.policies.scripted import ScriptedPolicy
from lydite.policies.weights import load_local

__all__ = ["Attempt", "Policy", "Prompt", "SamplingParams", "ScriptedPolicy", "load_local", "open_policy"]
