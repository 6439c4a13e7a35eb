"""`python -m infra.proof.schema`: the provider's schema, read out of the bindings that its own schema was turned into.

No registry that is reached here has the provider itself. The package on PyPI that is named below holds JavaScript classes
generated from the provider's schema, with each argument's type and whether it is required or computed; that is put back
together for the resources this project uses and written to `schema.json`, in the shape of `terraform providers schema -json`.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from infra import lock

HERE = Path(__file__).parent
SCHEMA = HERE / "schema.json"
PACKAGE = "cdktn-provider-google==21.1.0"
DATA = ("google_project",)
UNWANTED = (
    "google_project_iam_binding",
    "google_project_iam_policy",
    "google_secret_manager_secret_version",
    "google_service_account_key",
)
"""What the configuration does not use and must not: known all the same, so that it is not the schema that finds it out."""

PRIMITIVE = {"string": "string", "number": "number", "boolean": "bool"}
READ_AS = {"String": "string", "Number": "number", "Boolean": "bool", "Any": "dynamic"}

_ENTRY = re.compile(
    r'(\w+): \{\s*value: (.*?),\s*isBlock: (true|false),\s*type: "(\w+)",\s*storageClassType: "([^"]*)",?\s*\}', re.S
)
_MEMBER = re.compile(r"// \w+ - computed: (true|false), optional: (true|false), required: (true|false)\n")
_MEMBER_TYPE = re.compile(r'_\w+ = new (?:cdkt[fn]\.)?(\w+)\(this, "(\w+)"(?:, (true|false))?\);')
_READ = re.compile(r"(tolist\()?this\.get(\w+?)Attribute\('(\w+)'\)")
_VALUES = re.compile(r"/\*\*((?:(?!\*/).)*?)\*/\s*readonly \w+\??: ", re.S)

Block = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One argument of a class: its flags, and the class that holds it (`many`: a list of it) or how it is read."""

    computed: bool
    optional: bool
    required: bool
    type_name: str | None
    is_set: bool
    read: str | None

    @property
    def many(self) -> bool:
        return self.type_name is not None and self.type_name.endswith("List")


class Module:
    """One resource's generated module: its classes, the arguments they render, and the values a text lists as possible."""

    def __init__(self, code: str, declarations: str) -> None:
        classes = re.finditer(r"^class (\w+) extends cdkt[fn]\.(\w+) \{(.*?)^\}", code, re.S | re.M)
        self._classes = {match[1]: (match[2], match[3]) for match in classes}
        rendered = re.finditer(r"^function (\w+)ToHclTerraform\(struct\) \{(.*?)^\}", code, re.S | re.M)
        self._rendered = {match[1]: match[2] for match in rendered}
        shapes = re.finditer(r"^export interface (\w+)[^{]*\{(.*?)^\}", declarations, re.S | re.M)
        self._values = {match[1]: dict(_possible(match[2])) for match in shapes}
        version = re.search(r"providerVersion: '([\d.]+)'", code)
        self.version = version[1] if version else ""

    def schema(self) -> Block:
        """Return the schema of the module's resource, data source or provider."""
        kinds = ("TerraformResource", "TerraformDataSource", "TerraformProvider")
        name, (kind, body) = next((name, class_) for name, class_ in self._classes.items() if class_[0] in kinds)
        block = self._block(name, body[body.index("synthesizeHclAttributes") :], f"{name}Config")
        if kind != "TerraformProvider":
            block["attributes"]["id"] = {"type": "string", "optional": True, "computed": True}
        return {"version": 0, "block": block}

    def _block(self, name: str, rendered: str, shape: str) -> Block:
        arguments = {match[1]: match for match in _ENTRY.finditer(rendered)}
        members, values = self._members(name), self._values.get(shape, {})
        attributes: Block = {}
        blocks: Block = {}
        for argument, argument_match in arguments.items():
            member = members.get(argument)
            if argument_match[3] == "true" or argument_match[4] == "struct":
                blocks[argument] = self._nested(argument_match, member)
            else:
                flags = _flags(member) if member else {"optional": True}
                attributes[argument] = {"type": _type(argument_match[4], argument_match[5]), **flags}
                if argument in values:
                    attributes[argument]["enum"] = values[argument]
        for argument, member in members.items():
            if argument not in arguments:
                attributes[argument] = {"type": self._computed(member), "computed": True}
        return {
            key: value for key, value in (("attributes", attributes), ("block_types", blocks)) if value or key == "attributes"
        }

    def _nested(self, argument_match: re.Match[str], member: Member | None) -> Block:
        match = re.search(r"(\w+)ToHclTerraform", argument_match[2])
        if match is None:
            raise click.ClickException(f"{argument_match[1]} is a block without a class")
        name = match[1][0].upper() + match[1][1:]
        inner = self._block(f"{name}OutputReference", self._rendered[match[1]], name)
        nested: Block = {"nesting_mode": "single" if argument_match[4] == "struct" else argument_match[4], "block": inner}
        if argument_match[4] in ("list", "set"):
            if member is not None and not member.many:
                nested["max_items"] = 1
            if member is not None and member.required:
                nested["min_items"] = 1
        return nested

    def _members(self, name: str) -> dict[str, Member]:
        parts = _MEMBER.split(self._classes[name][1])[1:] if name in self._classes else []
        members = {}
        for computed, optional, required, text in zip(*(parts[n::4] for n in range(4)), strict=True):
            flags = {"computed": computed == "true", "optional": optional == "true", "required": required == "true"}
            if type_name := _MEMBER_TYPE.search(text):
                members[type_name[2]] = Member(**flags, type_name=type_name[1], is_set=type_name[3] == "true", read=None)
            elif read := _READ.search(text):
                members[read[3]] = Member(**flags, type_name=None, is_set=bool(read[1]), read=read[2])
        return members

    def _computed(self, member: Member) -> Any:
        if member.read is not None:
            return _read(member.read, member.is_set)
        type_name = str(member.type_name)
        if type_name not in self._classes:  # one of the generator's own maps
            of = READ_AS.get(type_name.removesuffix("List").removesuffix("Map"), "dynamic")
            return ["list", ["map", of]] if type_name.endswith("MapList") else ["map", of]
        inner = type_name.removesuffix("List") + "OutputReference" if member.many else type_name
        fields = {name: self._computed(member) for name, member in self._members(inner).items()}
        return ["set" if member.is_set else "list", ["object", fields]]


def _flags(member: Member) -> dict[str, bool]:
    return {name: True for name in ("required", "optional", "computed") if getattr(member, name)}


def _type(kind: str, type_name: str) -> Any:
    if kind == "simple":
        return PRIMITIVE.get(type_name, "dynamic")
    match = re.fullmatch(r"(string|number|boolean|any)(?:List|Map)", type_name)
    return [kind, PRIMITIVE.get(match[1], "dynamic")] if match else "dynamic"


def _read(kind: str, is_set: bool) -> Any:
    if kind in READ_AS:
        return READ_AS[kind]
    of = "number" if kind.startswith("Number") else "string"
    return ["map" if kind.endswith("Map") else "set" if is_set else "list", of]


def _possible(shape: str) -> Iterator[tuple[str, list[str]]]:
    for match in _VALUES.finditer(shape):
        named, listed = re.search(r"#(\w+) \w+#\w+\}", match[1]), re.search(r"Possible values: \[([^\]]*)\]", match[1])
        if named and listed:
            yield named[1], re.findall(r'"([^"]*)"', listed[1])


def list_resource_types(folder: Path) -> list[str]:
    """Return the types of resource that the configuration in `folder` declares."""
    texts = (path.read_text() for path in sorted(folder.rglob("*.tf")))
    return sorted({name for text in texts for name in re.findall(r'^resource "(\w+)"', text, re.M)})


def extract(wheel: Path, resources: list[str]) -> dict[str, Any]:
    """Return the schemas of the provider, of `resources` and of the data sources, from the package."""
    folders = {"provider": ("provider", ""), **{_folder(name): ("resource_schemas", name) for name in resources}}
    folders |= {f"data-google-{name.removeprefix('google_')}": ("data_source_schemas", name) for name in DATA}
    files: dict[str, dict[str, str]] = {}
    with zipfile.ZipFile(wheel) as outer:
        inner = outer.read(next(name for name in outer.namelist() if name.endswith(".jsii.tgz")))
    with tarfile.open(fileobj=io.BytesIO(inner), mode="r:gz") as archive:
        for member in archive:
            place = member.name.split("/")
            if len(place) == 4 and place[2] in folders and place[3] in ("index.js", "index.d.ts"):
                content = archive.extractfile(member)
                assert content is not None
                files.setdefault(place[2], {})[place[3]] = content.read().decode()
    if missing := sorted(set(folders) - set(files)):
        raise click.ClickException(f"{wheel.name} does not have {', '.join(missing)}")
    schemas: dict[str, Any] = {"package": PACKAGE, "resource_schemas": {}, "data_source_schemas": {}}
    for folder, (kind, name) in folders.items():
        module = Module(files[folder]["index.js"], files[folder]["index.d.ts"])
        if kind == "provider":
            schemas |= {"provider": module.schema()}
        else:
            schemas[kind][name] = module.schema()
            schemas["provider_version"] = module.version
    return schemas


def _folder(resource: str) -> str:
    return resource.removeprefix("google_").replace("_", "-")


def text(schema: Mapping[str, Any]) -> str:
    """Return the schema as it is committed: a line for each resource, so that a change of the provider shows where it is."""

    def line(value: Any) -> str:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))

    parts = []
    for key in sorted(schema):
        if key.endswith("_schemas"):
            rows = ",\n".join(f"  {line(name)}: {line(value)}" for name, value in sorted(schema[key].items()))
            parts.append(f" {line(key)}: {{\n{rows}\n }}")
        else:
            parts.append(f" {line(key)}: {line(schema[key])}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


@click.command()
@click.argument("wheel", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(wheel: Path | None) -> None:
    """Write schema.json from WHEEL, or from the package as pip finds it (67 MB)."""
    with tempfile.TemporaryDirectory() as folder:
        if wheel is None:
            pins = lock.read((HERE.parent.parent / "locks/provider.lock").read_text())
            requirements = Path(folder) / "requirements.txt"
            requirements.write_text(lock.requirements(pins, [PACKAGE.partition("==")[0]]))
            download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            command = [*download, "--require-hashes", "--dest", folder, "--requirement", str(requirements)]
            if subprocess.run(command, check=False).returncode:
                raise click.ClickException(f"pip did not get {PACKAGE}")
            wheel = next(Path(folder).glob("*.whl"))
        schema = extract(wheel, sorted({*list_resource_types(HERE.parent), *UNWANTED}))
    SCHEMA.write_text(text(schema))
    count, kilobytes = len(schema["resource_schemas"]), SCHEMA.stat().st_size // 1000
    click.echo(f"provider {schema['provider_version']}: {count} resources, {len(DATA)} data source, {kilobytes} kB")


if __name__ == "__main__":
    main()
