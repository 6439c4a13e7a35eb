"""Settings: what the environment may say, and what a deployed function does not start with."""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations

import pytest

from ferryman.composition.objects import build_objects, build_wire
from ferryman.domain.files.access import S3Access
from ferryman.gcp.clock import SystemClock
from ferryman.settings import S3_PREFIXES, SEARXNG_VARIABLES, WORKSPACE_VARIABLES, MisconfiguredError, read, read_workspace

LOCAL = {"FIRESTORE_EMULATOR_HOST": "127.0.0.1:1"}
SWITCHES = {
    "FERRYMAN_PRETEND_INTERNET": "/tmp/internet.json",
    "FERRYMAN_CERTS_URL": "http://127.0.0.1/certs",
    "FERRYMAN_SCRIPTED_MODEL_URL": "http://127.0.0.1/",
}


@pytest.mark.parametrize("name", SWITCHES)
def test_a_deployed_function_does_not_start_with_a_switch_of_the_local_stack(name):
    with pytest.raises(MisconfiguredError, match=name):
        read({name: SWITCHES[name], "K_SERVICE": "api"})


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_of_the_local_stack_is_refused_beside_a_real_firestore(name):
    with pytest.raises(MisconfiguredError, match=name):
        read({name: SWITCHES[name]})


@pytest.mark.parametrize("name", SWITCHES)
def test_the_local_stack_may_set_its_switches(name):
    assert read({**LOCAL, name: SWITCHES[name]}).local


@pytest.mark.parametrize(
    "name",
    ["FIRESTORE_EMULATOR_HOST", "SECRET_MANAGER_EMULATOR_HOST", "CLOUD_TASKS_EMULATOR_HOST", "STORAGE_EMULATOR_HOST"],
)
def test_a_deployed_function_does_not_start_with_an_emulator(name):
    with pytest.raises(MisconfiguredError, match="emulator"):
        read({name: "127.0.0.1:1", "K_SERVICE": "api"})


@pytest.mark.parametrize("text", ["x", "-1", "0", "nan", "inf"])
def test_a_length_of_time_must_be_a_positive_number_of_seconds(text):
    with pytest.raises(MisconfiguredError, match="FERRYMAN_LEASE_S"):
        read({"FERRYMAN_LEASE_S": text})


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_table_must_be_a_json_object(text):
    with pytest.raises(MisconfiguredError, match="FERRYMAN_PLANS"):
        read({"FERRYMAN_PLANS": text})


def test_amounts_in_a_table_are_decimals():
    assert read({"FERRYMAN_PRICES": '{"m": {"input": 0.1}}'}).prices["m"]["input"] == Decimal("0.1")


def test_no_secret_shows_in_the_settings_text():
    assert "hush" not in repr(read({"ANTHROPIC_API_KEY": "hush", "FERRYMAN_SEALING_PUBLIC_KEY": "hush"}))


@pytest.mark.parametrize("name", ["GOOGLE_SDK_PYTHON_LOGGING_SCOPE", "ANTHROPIC_LOG", "GRPC_TRACE", "SSLKEYLOGFILE"])
def test_nothing_starts_with_a_library_that_writes_what_passes_through_it(name):
    with pytest.raises(MisconfiguredError, match=name):
        read({**LOCAL, name: "debug"})


def test_a_level_that_is_none_is_refused():
    with pytest.raises(MisconfiguredError, match="FERRYMAN_LOG_LEVEL must be one of DEBUG, INFO, WARNING, ERROR"):
        read({"FERRYMAN_LOG_LEVEL": "LOUD"})


@pytest.mark.parametrize(("text", "size"), [(None, 10_485_760), ("", 10_485_760), ("10485760", 10_485_760), ("1", 1)])
def test_so_many_bytes_of_a_page_are_read(text, size):
    assert read({} if text is None else {"FERRYMAN_PAGE_BYTES_MAX": text}).page_bytes_max == size


@pytest.mark.parametrize("text", ["0", "10485761", "-1", "1.5", "many", "999999999"])
def test_bytes_of_a_page_must_be_a_number_that_a_reader_of_pages_takes(text):
    with pytest.raises(
        MisconfiguredError, match="FERRYMAN_PAGE_BYTES_MAX must be a whole number of bytes from 1 to 10,485,760"
    ):
        read({"FERRYMAN_PAGE_BYTES_MAX": text})


@pytest.mark.parametrize(("text", "days"), [(None, 90), ("30", 30), ("0", 0), ("", 0)])
def test_executions_are_kept_for_days_and_with_none_for_ever(text, days):
    assert read({} if text is None else {"FERRYMAN_RETENTION_DAYS": text}).retention_days == days


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "100000", " 7", "٣"])
def test_days_must_be_a_whole_number(text):
    with pytest.raises(MisconfiguredError, match="FERRYMAN_RETENTION_DAYS"):
        read({"FERRYMAN_RETENTION_DAYS": text})


def test_a_deployed_function_does_not_start_with_the_token_of_a_local_cloud(tmp_path):
    (tmp_path / "token").write_text("t")
    for name, value in (("LOCAL_CLOUD_TOKEN", "t"), ("LOCAL_CLOUD_TOKEN_FILE", str(tmp_path / "token"))):
        with pytest.raises(MisconfiguredError, match="token"):
            read({name: value, "K_SERVICE": "api"})


def test_the_token_of_a_local_cloud_is_read_and_not_shown(tmp_path):
    (tmp_path / "token").write_text("a-token\n")
    known = read({**LOCAL, "LOCAL_CLOUD_TOKEN_FILE": str(tmp_path / "token")})
    assert (known.local_token, read({**LOCAL, "LOCAL_CLOUD_TOKEN": "a-token"}).local_token) == ("a-token", "a-token")
    assert "a-token" not in repr(known)
    with pytest.raises(MisconfiguredError, match="LOCAL_CLOUD_TOKEN_FILE"):
        read({**LOCAL, "LOCAL_CLOUD_TOKEN_FILE": str(tmp_path / "none")})


def test_googles_own_firestore_emulator_is_not_shown_the_token():
    ours = {**LOCAL, "SECRET_MANAGER_EMULATOR_HOST": LOCAL["FIRESTORE_EMULATOR_HOST"], "LOCAL_CLOUD_TOKEN": "t"}
    assert read(ours).firestore_token == "t"
    assert read({**ours, "FIRESTORE_EMULATOR_HOST": "127.0.0.1:2"}).firestore_token is None
    assert read({**LOCAL, "LOCAL_CLOUD_TOKEN": "t"}).firestore_token is None


MODEL = '{"llama": {"url": "http://127.0.0.1:11434", "input": 0, "output": 0.5}}'


def test_models_of_an_operator_are_read_with_their_prices():
    assert read({"FERRYMAN_MODELS": MODEL}).models["llama"].price == {"input": 0, "output": Decimal("0.5")}


def test_a_mistake_in_a_model_is_named_with_its_variable_and_field():
    with pytest.raises(MisconfiguredError, match=r"^FERRYMAN_MODELS: llama.url: must be an http or https URL"):
        read({"FERRYMAN_MODELS": MODEL.replace("http:", "ftp:")})


def test_a_deployed_function_sends_prompts_over_tls_alone():
    with pytest.raises(MisconfiguredError, match=r"FERRYMAN_MODELS: llama.url must be https where deployed"):
        read({"FERRYMAN_MODELS": MODEL, "K_SERVICE": "orchestrator"})
    assert read({"FERRYMAN_MODELS": MODEL.replace("http:", "https:"), "K_SERVICE": "orchestrator"}).models


KEYED = '{"own": {"url": "http://a.test", "input": 0, "output": 0, "key": "MODEL_KEY_OWN"}}'


def test_a_key_is_read_where_a_model_names_it_and_nowhere_else():
    variables = {"FERRYMAN_MODELS": KEYED, "MODEL_KEY_OWN": "the key\n".replace(" ", "-"), "MODEL_KEY_OTHER": "x"}
    known = read(variables)
    assert known.model_keys == {"MODEL_KEY_OWN": "the-key"}
    assert "the-key" not in repr(known)


def test_a_key_that_is_not_set_is_left_out():
    assert read({"FERRYMAN_MODELS": KEYED, "MODEL_KEY_OWN": ""}).model_keys == {}


@pytest.mark.parametrize("key", ["a b", "schlüssel", "x" * 4_097])
def test_a_key_that_no_header_can_hold_is_refused_without_it(key):
    with pytest.raises(MisconfiguredError, match=r"^MODEL_KEY_OWN must be a key of at most 4,096 visible ASCII characters$"):
        read({"FERRYMAN_MODELS": KEYED, "MODEL_KEY_OWN": key})


OURS, OTHERS = WORKSPACE_VARIABLES


@pytest.mark.parametrize(
    ("variables", "workspace"),
    [
        ({}, None),
        ({OURS: "", OTHERS: ""}, None),
        ({OURS: "ws_1"}, "ws_1"),
        ({OTHERS: "ws_2"}, "ws_2"),
        ({OURS: "", OTHERS: "ws_2"}, "ws_2"),
        ({OTHERS: "ws_2", OURS: "ws_1"}, "ws_1"),
    ],
)
def test_the_workspace_of_a_caller_is_read_from_our_variable_or_else_from_the_other(variables, workspace):
    assert read_workspace(variables) == workspace


@pytest.mark.parametrize("name", WORKSPACE_VARIABLES)
@pytest.mark.parametrize("text", [" ", "_1", "ws 1", "ws_1\n", "ws/1", "wß", "w" * 65])
def test_what_can_be_no_workspace_is_refused_with_its_variable_and_without_the_text(name, text):
    with pytest.raises(MisconfiguredError, match=f"^{name} must be the id of a workspace: 1 to 64 ASCII") as refused:
        read_workspace({OURS: "ws_1", name: text})
    assert text.strip() == "" or text not in str(refused.value)


S3 = {
    "ENDPOINT": "https://fra1.example.com/",
    "REGION": "fra1",
    "BUCKET": "files",
    "ACCESS_KEY": "KEY-ID-OF-SPACES",
    "SECRET_KEY": "hush-of-spaces",
}


@pytest.mark.parametrize("prefix", S3_PREFIXES)
def test_a_bucket_of_s3_is_named_by_five_variables(prefix):
    settings = read({f"{prefix}{name}": value for name, value in S3.items()})
    assert settings.s3 == S3Access(
        endpoint="https://fra1.example.com",
        region="fra1",
        bucket="files",
        access_key="KEY-ID-OF-SPACES",
        secret_key="hush-of-spaces",
    )
    assert settings.has_files


@pytest.mark.parametrize("count", range(1, 5))
@pytest.mark.parametrize("prefix", S3_PREFIXES)
def test_some_of_the_five_are_refused_with_the_names_of_those_missing(prefix, count):
    for names in combinations(S3, count):
        with pytest.raises(MisconfiguredError) as error:
            read({f"{prefix}{name}": S3[name] for name in names})
        missing = [f"FERRYMAN_S3_{name}" for name in S3 if name not in names]
        assert str(error.value).startswith(f"{', '.join(missing)} must be set")
        assert not any(value in str(error.value) for value in S3.values())


def test_our_own_name_counts_before_the_other():
    both = {f"{prefix}{name}": value for prefix in S3_PREFIXES for name, value in S3.items()}
    assert read({**both, "FERRYMAN_S3_REGION": "ams3"}).s3.region == "ams3"
    assert read({**both, "FERRYMAN_S3_REGION": " "}).s3.region == "fra1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ENDPOINT", "fra1.example.com"),
        ("ENDPOINT", "https://fra1.example.com/files"),
        ("ENDPOINT", "https://user:hush@fra1.example.com"),
        ("REGION", "fra1/../x"),
        ("BUCKET", "Files"),
        ("BUCKET", "a/b"),
        ("ACCESS_KEY", "a b"),
        ("SECRET_KEY", "hush\nhush"),
    ],
)
def test_what_is_no_bucket_of_s3_is_refused_without_repeating_it(name, value):
    with pytest.raises(MisconfiguredError, match=f"FERRYMAN_S3_{name} must be") as error:
        read({f"FERRYMAN_S3_{part}": text for part, text in {**S3, name: value}.items()})
    assert "hush" not in str(error.value)


def test_access_keys_do_not_show_in_the_settings_text():
    settings = read({f"CRAWBL_SPACES_{name}": value for name, value in S3.items()})
    assert not any(text in f"{settings!r} {settings.s3!r}" for text in ("KEY-ID-OF-SPACES", "hush"))


def test_without_a_bucket_there_are_no_files():
    settings = read({f"CRAWBL_SPACES_{name}": "" for name in S3})
    assert (settings.s3, settings.has_files, build_objects(settings, build_wire(settings), SystemClock())) == (
        None,
        False,
        None,
    )


def test_files_are_kept_in_one_bucket():
    assert read({"FERRYMAN_OBJECTS_BUCKET": "files"}).has_files
    with pytest.raises(MisconfiguredError, match="FERRYMAN_OBJECTS_BUCKET"):
        read({"FERRYMAN_OBJECTS_BUCKET": "files", **{f"CRAWBL_SPACES_{name}": value for name, value in S3.items()}})


def test_a_deployed_function_sends_files_over_tls_alone():
    plain = {f"FERRYMAN_S3_{name}": value for name, value in {**S3, "ENDPOINT": "http://127.0.0.1:1"}.items()}
    assert read(plain).s3.endpoint == "http://127.0.0.1:1"
    with pytest.raises(MisconfiguredError, match="FERRYMAN_S3_ENDPOINT must be https"):
        read({**plain, "K_SERVICE": "files"})


def test_without_an_endpoint_searxng_is_looked_for_at_its_default():
    assert read({}).searxng_endpoint == "http://searxng.backend.svc.cluster.local:8080"
    assert read(dict.fromkeys(SEARXNG_VARIABLES, " ")).searxng_endpoint == "http://searxng.backend.svc.cluster.local:8080"


@pytest.mark.parametrize("name", SEARXNG_VARIABLES)
@pytest.mark.parametrize("endpoint", ["http://10.1.2.3:8080", "https://search.example.com/searxng", "http://[fd00::1]:8080"])
def test_either_variable_names_the_endpoint_of_searxng(name, endpoint):
    assert read({name: f"{endpoint}/"}).searxng_endpoint == endpoint


def test_our_own_name_of_the_endpoint_counts_before_the_other():
    ours, others = SEARXNG_VARIABLES
    assert read({ours: "http://a.example", others: "http://b.example"}).searxng_endpoint == "http://a.example"


@pytest.mark.parametrize("name", SEARXNG_VARIABLES)
@pytest.mark.parametrize(
    "endpoint",
    ["hush.example", "ftp://hush.example", "http://ann:hush@a.example", "http://a.example/?hush=1", "http://a.example/hush#x"],
)
def test_what_is_no_endpoint_is_refused_with_its_variable_and_without_the_text(name, endpoint):
    with pytest.raises(MisconfiguredError, match=f"^{name} must be a URL of a host") as error:
        read({name: endpoint})
    assert "hush" not in str(error.value)


def test_the_endpoint_does_not_show_in_the_settings_text():
    assert "10.1.2.3" not in repr(read({SEARXNG_VARIABLES[0]: "http://10.1.2.3:8080"}))


OAUTH = {"FERRYMAN_OAUTH_ISSUER": "https://login.example.com/tenant", "FERRYMAN_OAUTH_RESOURCE": "https://api.example.com/mcp"}


def test_an_authorization_server_and_the_url_of_mcp_are_named_together():
    assert (read(OAUTH).oauth_issuer, read(OAUTH).oauth_resource) == tuple(OAUTH.values())
    assert (read({}).oauth_issuer, read(dict.fromkeys(OAUTH, "")).oauth_resource) == ("", "")
    for name in OAUTH:
        with pytest.raises(MisconfiguredError, match="needed together"):
            read({name: OAUTH[name]})


@pytest.mark.parametrize("issuer", ["http://login.example.com", "https://login.example.com?a=b", "login", "https://a.test/#x"])
def test_an_issuer_is_an_https_url_without_query(issuer):
    with pytest.raises(MisconfiguredError, match="FERRYMAN_OAUTH_ISSUER must be"):
        read({**OAUTH, "FERRYMAN_OAUTH_ISSUER": issuer})


@pytest.mark.parametrize("resource", ["https://api.example.com", "https://api.example.com/mcp?x", "api.example.com/mcp"])
def test_the_resource_is_the_url_of_mcp(resource):
    with pytest.raises(MisconfiguredError, match="FERRYMAN_OAUTH_RESOURCE must be"):
        read({**OAUTH, "FERRYMAN_OAUTH_RESOURCE": resource})


def test_access_tokens_are_sent_in_clear_on_the_local_stack_alone():
    plain = {**OAUTH, "FERRYMAN_OAUTH_RESOURCE": "http://127.0.0.1:8080/mcp"}
    assert read({**plain, "FIRESTORE_EMULATOR_HOST": "127.0.0.1:1"}).oauth_resource == "http://127.0.0.1:8080/mcp"
    with pytest.raises(MisconfiguredError, match="must be https"):
        read(plain)


PLATFORM = {"CRAWBL_MCP_ENDPOINT": "https://platform.example.com/mcp", "CRAWBL_MCP_SIGNING_KEY": "k" * 32}


def test_the_platform_s_variables_are_read_by_their_own_names_and_by_ours_before():
    settings = read({**PLATFORM, "CRAWBL_USER_ID": "ann", "CRAWBL_WORKSPACE_ID": "ws_1", "FERRYMAN_PLATFORM_USER_ID": "eve"})
    assert (settings.platform_endpoint, settings.platform_signing_key) == tuple(PLATFORM.values())
    assert (settings.platform_user_id, settings.platform_workspace_id) == ("eve", "ws_1")


def test_without_them_the_platform_is_our_own_for_every_user_and_workspace():
    settings = read({})
    assert (settings.platform_endpoint, settings.platform_signing_key, settings.platform_user_id) == ("", "", "")
    assert settings.platform_key_secret == "ferryman-platform-key"


@pytest.mark.parametrize("name", PLATFORM)
def test_the_endpoint_of_a_platform_and_its_key_go_together(name):
    with pytest.raises(MisconfiguredError, match="must be set: the endpoint of a platform and the key go together"):
        read({name: PLATFORM[name]})


@pytest.mark.parametrize(
    "changes",
    [
        {"CRAWBL_MCP_SIGNING_KEY": "hush"},
        {"CRAWBL_MCP_ENDPOINT": "hush.example"},
        {"CRAWBL_MCP_ENDPOINT": "https://a.example/?hush"},
        {"CRAWBL_USER_ID": "hush hush"},
    ],
)
def test_a_variable_of_the_platform_that_is_none_is_refused_without_its_text(changes):
    with pytest.raises(MisconfiguredError) as error:
        read({**PLATFORM, **changes})
    assert next(iter(changes)) in str(error.value)
    assert "hush" not in str(error.value)


def test_where_deployed_the_platform_is_asked_over_https_alone():
    with pytest.raises(MisconfiguredError, match="FERRYMAN_PLATFORM_ENDPOINT must be https"):
        read({**PLATFORM, "CRAWBL_MCP_ENDPOINT": "http://127.0.0.1:1/mcp", "K_SERVICE": "platform_call"})


def test_the_key_of_the_platform_does_not_show_in_the_settings_text():
    assert "k" * 32 not in repr(read(PLATFORM))
