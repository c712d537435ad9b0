"""Pydantic's own types: all samples are values to Pydantic, and the values that it writes are texts of the grammar."""

from __future__ import annotations

import dataclasses
import datetime as dt
import ipaddress
import json
import uuid
from decimal import Decimal
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.provisional import domains, urls
from pydantic import Field, Json, StringConstraints, WithJsonSchema
from support.scaling import scaled

import pdacon
from pdacon import Grammar, LimitExceededError, UnsupportedTypeError, Vocabulary

Trimmed = Annotated[str, StringConstraints(strip_whitespace=True, to_upper=True, min_length=2, max_length=5)]
Lower = Annotated[str, StringConstraints(to_lower=True, pattern="^[A-Za-z]+$")]
German = Annotated[
    dt.date,
    pydantic.BeforeValidator(lambda text: dt.datetime.strptime(text, "%d.%m.%Y").date()),
    pydantic.PlainSerializer(lambda day: day.strftime("%d.%m.%Y")),
    WithJsonSchema({"type": "string", "pattern": r"^(0[1-9]|1\d|2[0-8])\.(0[1-9]|1[0-2])\.[12]\d{3}$"}),
]


class Point(pydantic.BaseModel):
    x: int
    label: str | None = None


DSNS: list[Any] = [
    *(getattr(pydantic, f"{which}Dsn") for which in ("Postgres", "Redis", "Amqp", "Mongo", "Kafka", "Nats", "MySQL")),
    *(getattr(pydantic, f"{which}Dsn") for which in ("MariaDB", "Cockroach", "ClickHouse", "Snowflake")),
]
TYPES: list[Any] = [
    *(getattr(pydantic, f"UUID{version}") for version in (1, 3, 4, 5, 6, 7, 8)),
    *(getattr(pydantic, f"{which}Datetime") for which in ("Aware", "Naive", "Past", "Future")),
    *(
        getattr(pydantic, f"{which}Url")
        for which in ("Any", "AnyHttp", "Http", "File", "Ftp", "Websocket", "AnyWebsocket")
    ),
    *DSNS,
    *(getattr(pydantic, f"Base64{which}") for which in ("Str", "Bytes", "UrlStr", "UrlBytes")),
    *(getattr(pydantic, f"IPvAny{which}") for which in ("Address", "Interface", "Network")),
    *(getattr(ipaddress, f"IPv{which}") for which in ("4Network", "6Network", "4Interface", "6Interface")),
    Path,
    PurePosixPath,
    pydantic.EmailStr,
    pydantic.NameEmail,
    pydantic.PastDate,
    pydantic.FutureDate,
    pydantic.PaymentCardNumber,
    pydantic.SecretStr,
    pydantic.SecretBytes,
    pydantic.ByteSize,
    pydantic.JsonValue,
    pydantic.FiniteFloat,
    pydantic.OnErrorOmit[int],
    pydantic.conint(ge=3, lt=50, multiple_of=3),
    pydantic.constr(pattern="^a+$", max_length=5),
    pydantic.condecimal(max_digits=5, decimal_places=2),
    pydantic.condecimal(max_digits=4),
    pydantic.condate(ge=dt.date(2019, 12, 30), lt=dt.date(2020, 1, 10)),
    Annotated[Decimal, Field(ge=-900, le=900), Field(multiple_of=Decimal("0.5")), Field(multiple_of=Decimal("0.75"))],
    Annotated[pydantic.AnyUrl, pydantic.UrlConstraints(allowed_schemes=["s3"], max_length=40)],
    Annotated[pydantic.EmailStr, Field(pattern="@example[.]org$")],
    Annotated[str, Field(pattern="^a"), WithJsonSchema({"type": "string", "maxLength": 3})],
    Trimmed,
    Lower,
    German,
    Json,
    Json[list[int]],
    Json[Point],
    Json[dict[str, dt.date | None]],
]


IN_MODELS = [pydantic.StrictBytes, pydantic.conbytes(min_length=2, max_length=4)]  # elsewhere bytes are Base64
LONG = (pydantic.HttpUrl, pydantic.WebsocketUrl)  # of which a sample takes 0.1 s


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(TYPES)))
def test_pydantic_takes_every_sample(number: int) -> None:
    kind = TYPES[number]
    _holds_in_a_model(kind, scaled(5) if kind in LONG else 200)
    alone = Grammar.from_type(kind)
    constraint = pdacon.compile(alone, Vocabulary.bytes())
    adapter: Any = pydantic.TypeAdapter(kind)
    for text in alone.sample(5, seed=2):
        assert constraint.parse(text) == adapter.validate_json(text), (kind, text)


@pytest.mark.parametrize("kind", IN_MODELS)
def test_pydantic_takes_every_sample_in_a_model(kind: Any) -> None:
    _holds_in_a_model(kind, 200)


@dataclasses.dataclass
class Contact:
    mail: pydantic.EmailStr
    code: pydantic.Base64Str = ""


class Strings(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(str_strip_whitespace=True, str_to_lower=True, str_min_length=1)
    name: str
    tags: list[str] = []


class Small(pydantic.BaseModel):
    x: int
    when: dt.datetime | None = None

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
        schema = handler.resolve_ref_schema(handler(core))
        schema["properties"]["x"]["maximum"] = 9
        return schema


WITHIN = [
    pydantic.HttpUrl | None,
    pydantic.AnyUrl | str,
    dt.date | str,
    uuid.UUID | dt.date | int,
    list[pydantic.EmailStr],
    set[pydantic.FtpUrl],
    dict[str, pydantic.AnyUrl],
    dict[pydantic.EmailStr, int],
    Contact,
    Strings,
    Small,
    pydantic.Secret[dt.date],
    pydantic.RootModel[list[pydantic.EmailStr]],
    Annotated[str, Field(json_schema_extra={"pattern": "^z+$", "examples": ["z"]})],
]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(WITHIN)))
def test_they_are_parts_of_other_types(number: int) -> None:
    _holds_in_a_model(WITHIN[number], 30)


def test_a_schema_of_its_own_is_honoured() -> None:
    assert Grammar.from_type(Small).accepts('{"x": 9}')
    assert not Grammar.from_type(Small).accepts('{"x": 10}')
    assert not Grammar.from_type(WITHIN[-1]).accepts('"a"')


def test_what_would_run_code_is_refused() -> None:
    with pytest.raises(UnsupportedTypeError, match="would be imported"):
        Grammar.from_type(list[pydantic.ImportString])


def _holds_in_a_model(kind: Any, count: int) -> None:
    model = pydantic.create_model("Holder", x=kind)
    grammar = Grammar.from_type(model)
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    for k, text in enumerate(grammar.sample(count, seed=1)):
        value = model.model_validate_json(text)
        assert constraint.parse(text) == value, (kind, text)
        if k < 10:
            assert constraint.parse(grammar.write(value)) == value, (kind, text)


def test_a_card_number_is_too_much_for_a_pattern() -> None:
    with pytest.raises(LimitExceededError, match="characters of a pattern"):
        Grammar.from_type(pydantic.PaymentCardNumber).to_lark()


def test_a_card_number_has_a_check_digit() -> None:
    constraint = pdacon.compile(pydantic.PaymentCardNumber, Vocabulary.bytes())
    numbers = ["4242424242424242", "378282246310005", "5555555555554444", "6011111111111117", "4000000000006"]
    for number in numbers:
        assert constraint.accepts(json.dumps(number)), number
        for place in range(len(number)):
            other = f"{number[:place]}{(int(number[place]) + 1) % 10}{number[place + 1 :]}"
            assert not constraint.accepts(json.dumps(other)), other


@st.composite
def base64_texts(draw: st.DrawFn) -> str:
    import base64

    return base64.b64encode(draw(st.text(st.characters(max_codepoint=127))).encode()).decode()


OFFSETS = [dt.timezone.utc, *(dt.timezone(dt.timedelta(minutes=minutes)) for minutes in (-210, 60, 345))]


def of_version(one: uuid.UUID, version: int) -> uuid.UUID:
    return uuid.UUID(int=one.int & ~(0xF << 76) & ~(3 << 62) | version << 76 | 2 << 62)


@st.composite
def card_numbers(draw: st.DrawFn) -> str:
    """Numbers of 16 digits with their check digit (Luhn)."""
    digits = "4" + draw(st.text("0123456789", min_size=14, max_size=14))
    doubled = [sum(divmod(2 * int(digit), 10)) if place % 2 == 0 else int(digit) for place, digit in enumerate(digits)]
    return f"{digits}{-sum(doubled) % 10}"


@st.composite
def service_urls(draw: st.DrawFn, kind: Any) -> str:
    """Addresses of services: any scheme of the type, users, several hosts where it has them, paths and options."""
    is_multi = hasattr(kind, "hosts")
    plain = st.text("abcXYZ019._~!$&'()*+;=-", min_size=1, max_size=6) | st.sampled_from(["%20", "a%2Fb"])
    user = draw(st.just("") | plain.map("{}@".format) | st.builds("{}:{}@".format, plain, plain))
    port = st.just("") | st.integers(1, 65535).map(":{}".format)
    places = st.builds("{}{}".format, domains() | st.ip_addresses(v=4), port)
    hosts = ",".join(draw(st.lists(places, min_size=1, max_size=3 if is_multi else 1)))
    path = draw(st.just("") | st.lists(plain, max_size=3).map(lambda parts: "/" + "/".join(parts)))
    query = draw(st.just("") | st.builds("?{}={}".format, st.text("abc", min_size=1, max_size=3), plain))
    scheme = draw(st.sampled_from(kind._constraints.allowed_schemes))
    return f"{scheme}://{user}{hosts}{path}{query}"


VALUES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    *((getattr(pydantic, f"UUID{version}"), st.uuids(version=version)) for version in (1, 3, 4, 5)),  # type: ignore[arg-type]
    *(
        (getattr(pydantic, f"UUID{version}"), st.uuids().map(lambda one, version=version: of_version(one, version)))
        for version in (6, 7, 8)
    ),
    (pydantic.AwareDatetime, st.datetimes(timezones=st.sampled_from(OFFSETS))),
    (Path, st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)),
    (pydantic.PaymentCardNumber, card_numbers()),
    (Json[list[int]], st.lists(st.integers(-(10**18), 10**18), max_size=4).map(json.dumps)),
    (pydantic.constr(pattern="^a+$", max_length=5), st.from_regex("^a{1,5}$", fullmatch=True)),
    (pydantic.condecimal(max_digits=5, decimal_places=2), st.decimals(-999, 999, places=2).map(float)),
    (pydantic.NameEmail, st.emails()),
    *((kind, service_urls(kind)) for kind in DSNS),
    (pydantic.EmailStr, st.emails()),
    (pydantic.HttpUrl, urls()),
    (pydantic.AnyUrl, urls()),
    (pydantic.IPvAnyAddress, st.ip_addresses()),
    (pydantic.IPvAnyInterface, st.builds("{}/{}".format, st.ip_addresses(v=4), st.integers(0, 32))),
    (pydantic.IPvAnyNetwork, st.ip_addresses(v=4).map(ipaddress.ip_network)),
    (
        pydantic.IPvAnyNetwork,
        st.builds(
            lambda address, bits: ipaddress.ip_network(f"{address}/{bits}", strict=False),
            st.ip_addresses(v=4),
            st.integers(0, 32),
        ),
    ),
    (pydantic.NaiveDatetime, st.datetimes()),
    (pydantic.PastDate, st.dates(max_value=dt.date(2020, 1, 1))),
    (pydantic.PastDatetime, st.datetimes(max_value=dt.datetime(2020, 1, 1))),
    (pydantic.FutureDate, st.dates(min_value=dt.date(2500, 1, 1))),
    (pydantic.Base64Str, base64_texts()),
    (pydantic.FiniteFloat, st.floats(allow_nan=False, allow_infinity=False)),
    (pydantic.StrictInt, st.integers(-(10**18), 10**18)),
    (
        pydantic.JsonValue,
        st.recursive(
            st.none() | st.booleans() | st.text(st.characters(codec="utf-8")),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=4,
        ),
    ),
    (pydantic.SecretStr, st.text(st.characters(codec="utf-8"))),
]


def _is_left_out(kind: Any, text: str) -> bool:
    """Whether a value is one that docs/types.md says is left out."""
    if kind in (pydantic.EmailStr, pydantic.NameEmail):
        local, _, domain = text.rpartition("@")
        return "xn--" in domain.lower() or len(domain) > 63 or len(local) > 64
    if kind in (pydantic.HttpUrl, pydantic.AnyUrl, *DSNS):
        return "xn--" in text.lower() or text.startswith("HTTP")
    return False


@cache
def _constraint(number: int) -> pdacon.Constraint:
    return pdacon.compile(Grammar.from_type(VALUES[number][0]), Vocabulary.bytes())


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(VALUES)), ids=lambda number: str(VALUES[number][0]))
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_values_of_hypothesis_are_taken(number: int, data: st.DataObject) -> None:
    kind, values = VALUES[number]
    given_value = data.draw(values)
    adapter: Any = pydantic.TypeAdapter(kind)
    plain = given_value if isinstance(given_value, str | int | float | list | None) else str(given_value)
    if isinstance(given_value, dt.datetime):
        plain = given_value.isoformat()
    try:
        value = adapter.validate_python(plain)
    except pydantic.ValidationError:
        return
    if isinstance(plain, str) and _is_left_out(kind, plain):
        return
    text = json.dumps(plain, ensure_ascii=False)
    constraint = _constraint(number)
    assert constraint.accepts(text), text
    assert constraint.parse(text) == value


class Aliased(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    a: int = Field(alias="al")


@pytest.mark.parametrize("text", ['{"al": 1, "a": 2}', '{"al": 1, "a": "x"}', '{"al": 1, "b": null}', '{"al": 1}'])
def test_other_members_may_have_the_name_of_a_field_with_an_alias(text: str) -> None:
    constraint = pdacon.compile(Aliased, Vocabulary.bytes())
    parsed = constraint.parse(text)
    assert parsed == Aliased.model_validate_json(text)
    partial = constraint.partial()
    partial.feed(text)
    assert partial.value.a == 1
