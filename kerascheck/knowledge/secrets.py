"""Names and contents of files with secrets, with sources."""

from __future__ import annotations

import fnmatch
import re

NAMES: tuple[str, ...] = (
    # Environment files: GitHub's template Python.gitignore (".env", ".envrc"), and names such as "prod.env".
    ".env*",
    "*.env",
    # Private keys and key stores: OpenSSH (ssh-keygen(1)), PuTTY, OpenSSL, Java's keytool, Apple, KeePass, WireGuard and
    # OpenVPN; GitHub's template Global/SSH.gitignore ("id_rsa"); gitleaks' rule "pkcs12-file" (".p12", ".pfx").
    "id_*",
    "*_rsa",
    "*_dsa",
    "*_ecdsa",
    "*_ed25519",
    "*.pem",
    "*.key",
    "*.ppk",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.pkcs12",
    "*.jks",
    "*.keystore",
    "*.kdb",
    "*.kdbx",
    "*.ovpn",
    # Passwords and tokens of tools, by the manuals of each: git-credential-store(1), curl, pip, npm, Docker, PostgreSQL,
    # MySQL, Apache, s3cmd, boto, rclone, Databricks and HashiCorp Vault.
    ".git-credentials",
    ".netrc",
    "_netrc",
    ".pypirc",
    ".npmrc",
    ".dockercfg",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".s3cfg",
    ".boto",
    "rclone.conf",
    ".databrickscfg",
    ".vault-token",
    "kubeconfig",
    # The same of Terraform, Ansible, R, Yarn, Composer, the Climate Data Store, Comet and browsers, by their manuals.
    ".terraformrc",
    "*.tfvars",
    "*.tfstate*",
    "vault.y*ml",
    ".renviron",
    ".yarnrc.yml",
    "auth.json",
    ".cdsapirc",
    ".comet.config",
    "cookies.txt",
    "secring.*",
    # Kaggle's API, Google's client libraries and their quick starts (developers.google.com).
    "kaggle.json",
    "token.json",
    "client_secret*.json",
    "service-account*.json",
    "service_account*.json",
    "*-service-account*.json",
    "*firebase-adminsdk*.json",
    "azureauth.json",
    "*[-_]key.json",
    # Conventions: Streamlit's secrets.toml, Ruby on Rails' credentials, AWS' credentials.
    "secrets",
    ".secrets*",
    "secrets.*",
    ".secret",
    "secret.*",
    "*[-_]secret.*",
    "*[-_]secrets.*",
    "*credentials*",
    "password*",
    "api[-_]key*",
    "apikey*",
    "*[-_]api[-_]key*",
    ".hf_token*",
    "hf_token*",
    # Folders in which tools store credentials.
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".docker",
    ".kube",
    ".kaggle",
    ".huggingface",
)
"""Lower-case patterns of :mod:`fnmatch`, each for one part of a path, or for two consecutive ones."""

_COPIES = re.compile(r"(?:~|\.(?:bak|backup|copy|old|orig|save|sw[a-p]|tmp|txt|\d))+$")
"""Suffixes of copies from editors and people: ``server.pem.bak``."""

PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d")
"""Headers of private keys: RFC 7468 (PKCS #1, #8 and OpenSSH), RFC 9580 (OpenPGP) and PuTTY's manual."""


def pattern_of(path: str) -> str | None:
    """Return the pattern of :data:`NAMES` that matches a part of ``path`` (with "/"), ignoring case; None if none does."""
    parts = [part for part in path.casefold().split("/") if part]
    for part, following in zip(parts, [*parts[1:], ""], strict=True):
        for name in {part: None, _COPIES.sub("", part): None, f"{part}/{following}": None}:
            for pattern in NAMES:
                if name.count("/") == pattern.count("/") and fnmatch.fnmatchcase(name, pattern):
                    return pattern
    return None
