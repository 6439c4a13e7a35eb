"""A pet store in Swagger 2.0: the twenty operations of the well-known one, in words of our own."""

from __future__ import annotations

from typing import Any


def _path(name: str, kind: str = "integer") -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "type": kind}


def _query(name: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": True, "type": "string"}


def _many(name: str) -> dict[str, Any]:
    return {**_query(name), "type": "array", "items": {"type": "string"}, "collectionFormat": "multi"}


def _form(name: str, kind: str = "string") -> dict[str, Any]:
    return {"name": name, "in": "formData", "type": kind}


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": "body", "in": "body", "required": True, "schema": schema}


def _refer(name: str) -> dict[str, Any]:
    return {"$ref": f"#/definitions/{name}"}


def _operation(name: str, *parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"operationId": name, "summary": f"What {name} does", "parameters": list(parameters), "responses": {}, **more}


_USERS = _body({"type": "array", "items": _refer("User")})
_KEY = {"security": [{"api_key": []}]}
_SIGNED = {"security": [{"petstore_auth": ["write:pets"]}]}
_MULTIPART = {"consumes": ["multipart/form-data"]}
_FORM = {"consumes": ["application/x-www-form-urlencoded"]}

PETSTORE: dict[str, Any] = {
    "swagger": "2.0",
    "info": {"title": "Petstore", "version": "1"},
    "host": "petstore.test.example",
    "basePath": "/v2",
    "schemes": ["https", "http"],
    "securityDefinitions": {
        "api_key": {"type": "apiKey", "name": "api_key", "in": "header"},
        "petstore_auth": {"type": "oauth2", "flow": "implicit", "authorizationUrl": "https://petstore.test.example/oauth"},
    },
    "paths": {
        "/pet": {
            "post": _operation("addPet", _body(_refer("Pet")), **_SIGNED),
            "put": _operation("updatePet", _body(_refer("Pet")), **_SIGNED),
        },
        "/pet/findByStatus": {"get": _operation("findPetsByStatus", _many("status"), **_SIGNED)},
        "/pet/findByTags": {"get": _operation("findPetsByTags", _many("tags"), **_SIGNED)},
        "/pet/{petId}": {
            "get": _operation("getPetById", _path("petId"), **_KEY),
            "post": _operation("updatePetWithForm", _path("petId"), _form("name"), _form("status"), **_FORM, **_SIGNED),
            "delete": _operation("deletePet", _path("petId"), **_SIGNED),
        },
        "/pet/{petId}/uploadImage": {"post": _operation("uploadFile", _path("petId"), _form("file", "file"), **_MULTIPART)},
        "/store/inventory": {"get": _operation("getInventory", **_KEY)},
        "/store/order": {"post": _operation("placeOrder", _body(_refer("Order")))},
        "/store/order/{orderId}": {
            "get": _operation("getOrderById", _path("orderId")),
            "delete": _operation("deleteOrder", _path("orderId")),
        },
        "/user": {"post": _operation("createUser", _body(_refer("User")))},
        "/user/createWithArray": {"post": _operation("createUsersWithArrayInput", _USERS)},
        "/user/createWithList": {"post": _operation("createUsersWithListInput", _USERS)},
        "/user/login": {"get": _operation("loginUser", _query("username"), _query("password"))},
        "/user/logout": {"get": _operation("logoutUser")},
        "/user/{username}": {
            "get": _operation("getUserByName", _path("username", "string")),
            "put": _operation("updateUser", _path("username", "string"), _body(_refer("User"))),
            "delete": _operation("deleteUser", _path("username", "string")),
        },
    },
    "definitions": {
        "Category": {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}},
        "Pet": {
            "type": "object",
            "required": ["name", "photoUrls"],
            "properties": {
                "id": {"type": "integer", "format": "int64"},
                "category": _refer("Category"),
                "name": {"type": "string", "example": "doggie"},
                "photoUrls": {"type": "array", "items": {"type": "string"}},
                "status": {"type": "string", "enum": ["available", "pending", "sold"]},
            },
        },
        "Order": {
            "type": "object",
            "properties": {"petId": {"type": "integer"}, "quantity": {"type": "integer"}, "complete": {"type": "boolean"}},
        },
        "User": {
            "type": "object",
            "properties": {"username": {"type": "string"}, "email": {"type": "string"}, "userStatus": {"type": "integer"}},
        },
    },
}
