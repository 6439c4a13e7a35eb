"""The wire: the messages of Terraform's plugin protocol 5 that a provider needs, and its values as msgpack."""

from __future__ import annotations

from typing import Any

import msgpack
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "tfplugin5"
UNKNOWN = msgpack.ExtType(0, b"\0")
"""What Terraform writes for a value that is known only after it was applied."""

NESTING = {"single": 1, "list": 2, "set": 3, "map": 4, "group": 5}

# name:number:type of each field; * is a list of them, and a type with a capital is another message (tfplugin5.proto).
MESSAGES = {
    "DynamicValue": "msgpack:1:bytes json:2:bytes",
    "Step": "attribute_name:1:string element_key_string:2:string element_key_int:3:int64",
    "AttributePath": "steps:1:*Step",
    "Diagnostic": "severity:1:int32 summary:2:string detail:3:string attribute:4:AttributePath",
    "Attribute": "name:1:string type:2:bytes required:4:bool optional:5:bool computed:6:bool",
    "NestedBlock": "type_name:1:string block:2:Block nesting:3:int32 min_items:4:int64 max_items:5:int64",
    "Block": "version:1:int64 attributes:2:*Attribute block_types:3:*NestedBlock",
    "Schema": "version:1:int64 block:2:Block",
    "Entry": "key:1:string value:2:Schema",
    "RawState": "json:1:bytes",
    "Empty": "",
    "SchemaAnswer": "provider:1:Schema resource_schemas:2:*Entry data_source_schemas:3:*Entry diagnostics:4:*Diagnostic",
    "Prepare": "config:1:DynamicValue",
    "Prepared": "prepared_config:1:DynamicValue diagnostics:2:*Diagnostic",
    "Validate": "type_name:1:string config:2:DynamicValue",
    "Configure": "terraform_version:1:string config:2:DynamicValue",
    "Diagnosed": "diagnostics:1:*Diagnostic",
    "Upgrade": "type_name:1:string version:2:int64 raw_state:3:RawState",
    "Upgraded": "upgraded_state:1:DynamicValue diagnostics:2:*Diagnostic",
    "Read": "type_name:1:string current_state:2:DynamicValue private:3:bytes",
    "ReadAnswer": "new_state:1:DynamicValue diagnostics:2:*Diagnostic private:3:bytes",
    "Plan": "type_name:1:string prior_state:2:DynamicValue proposed_new_state:3:DynamicValue config:4:DynamicValue",
    "Planned": "planned_state:1:DynamicValue planned_private:3:bytes diagnostics:4:*Diagnostic legacy_type_system:5:bool",
    "Apply": "type_name:1:string prior_state:2:DynamicValue planned_state:3:DynamicValue config:4:DynamicValue",
    "Applied": "new_state:1:DynamicValue private:2:bytes diagnostics:3:*Diagnostic legacy_type_system:4:bool",
    "ReadData": "type_name:1:string config:2:DynamicValue",
    "DataAnswer": "state:1:DynamicValue diagnostics:2:*Diagnostic",
    "Stopped": "error:1:string",
}


def _build_messages() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="tfplugin5.proto", package=PACKAGE, syntax="proto3")
    field = descriptor_pb2.FieldDescriptorProto
    for message, fields in MESSAGES.items():
        described = file.message_type.add(name=message)
        for part in fields.split():
            name, number, kind = part.split(":")
            label = field.LABEL_REPEATED if kind.startswith("*") else field.LABEL_OPTIONAL
            added = described.field.add(name=name, number=int(number), label=label)
            kind = kind.removeprefix("*")
            if kind[0].isupper():
                added.type, added.type_name = field.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
            else:
                added.type = field.Type.Value(f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in MESSAGES}


MESSAGE = _build_messages()


def decode(value: Any) -> Any:
    """Return a value as Terraform sends it; None for what is to go."""
    return msgpack.unpackb(value.msgpack, strict_map_key=False) if value.msgpack else None


def encode(value: Any) -> Any:
    """Return the same, for an answer."""
    return MESSAGE["DynamicValue"](msgpack=msgpack.packb(value))
