"""The text that the tiny model is trained on: short prompts, and JSON or arithmetic that answers them.

    python examples/tiny_corpus.py            # prints a few documents

Everything is drawn from a `random.Random`, so a seed fixes the corpus.
"""

from __future__ import annotations

import json
import random
import signal
from collections.abc import Callable, Iterator
from typing import Any


def _words(text: str) -> list[str]:
    return text.split()


FIRST_NAMES = _words("""
Ada Alan Amélie Amina Ana Anders Anna Aoife Björn Carlos Chen Chloé Daniel Dmitri Elena Emma Fatima
Felix Françoise Grace Hana Hugo Ines Ivan Jan João Jonas José Karen Kenji Lars Leila Liam Lucía Magnus Maria Marta Mei
Mohammed Nadia Nina Noah Olga Omar Paul Pia Priya Rafael Rosa Sara Søren Sofia Tom Tuấn Uma Víctor Wei Yusuf Zoë
Łukasz""")
LAST_NAMES = _words("""
Andersson Bauer Brown Chen Costa Dubois Díaz Eriksen Fischer García Haddad Hansen Ito Ivanova Jansen
Johnson Kaya Kim Kowalski Kumar Lopez Martin Meyer Müller Nguyen Novák Okafor Olsen Park Petrov Rossi Sato Schmidt Silva
Singh Smith Suzuki Tanaka Taylor Torres Wang Weber Wilson Yılmaz Zhang""")
PLACES = {
    "Paris": "France", "Lyon": "France", "Berlin": "Germany", "München": "Germany", "Köln": "Germany", "Tokyo": "Japan",
    "Osaka": "Japan", "Kraków": "Poland", "Warsaw": "Poland", "Madrid": "Spain", "Málaga": "Spain", "Rome": "Italy",
    "Milan": "Italy", "São Paulo": "Brazil", "Oslo": "Norway", "Malmö": "Sweden", "Zürich": "Switzerland",
    "Lisbon": "Portugal", "Delhi": "India", "Mumbai": "India", "Seoul": "South Korea", "Beijing": "China",
    "Cairo": "Egypt", "Lagos": "Nigeria", "Nairobi": "Kenya", "London": "United Kingdom", "Dublin": "Ireland",
    "Toronto": "Canada", "Boston": "United States", "Chicago": "United States", "Lima": "Peru", "İzmir": "Turkey",
}  # fmt: skip
JOBS = _words("engineer teacher nurse pilot baker painter lawyer chef farmer doctor writer designer student driver")
HOBBIES = _words("chess music hiking cooking reading painting football tennis sailing gardening photography dancing")
ADJECTIVES = _words("red blue green small large wooden plastic heavy light modern old simple soft round silver black")
THINGS = _words("chair table lamp book pen cup shirt bag phone clock bottle keyboard notebook bicycle mirror plate")
DISHES = ["soup", "salad", "bread", "pancakes", "pizza", "curry", "ramen", "crème brûlée", "omelette", "paella"]
INGREDIENTS = _words("flour sugar salt butter eggs milk tomato onion garlic rice oil cheese pepper basil potato lemon")
WORDS = _words("time day year way work life world house water light night road story music paper color garden river")
SERVICES = _words("api web db cache auth mail search queue worker proxy metrics billing")
CHARACTERS = _words("日本語 你好 안녕 привет γειά 🙂 🎉 café naïve ½ € → “quoted” नमस्ते")

Json = dict[str, Any] | list[Any]


def person(r: random.Random) -> Json:
    first, last = r.choice(FIRST_NAMES), r.choice(LAST_NAMES)
    value: dict[str, Any] = {"name": f"{first} {last}", "age": r.randint(18, 90)}
    city = r.choice(list(PLACES))
    extras: dict[str, Any] = {
        "email": f"{first}.{last}@example.{r.choice(['com', 'org', 'net'])}".lower(),
        "job": r.choice(JOBS),
        "city": city,
        "address": {"street": f"{r.randint(1, 200)} {r.choice(WORDS).title()} Street", "city": city,
                    "country": PLACES[city]},
        "hobbies": r.sample(HOBBIES, r.randint(0, 3)),
        "married": r.random() < 0.5,
        "phone": r.choice([None, f"+{r.randint(1, 99)} {r.randint(100, 999)} {r.randint(1000, 9999)}"]),
        "height": round(r.uniform(1.5, 2.0), 2),
        "children": [{"name": r.choice(FIRST_NAMES), "age": r.randint(0, 17)} for _ in range(r.randint(0, 2))],
    }  # fmt: skip
    for key in r.sample(list(extras), r.randint(1, 4)):
        value[key] = extras[key]
    return value


def item(r: random.Random) -> dict[str, Any]:
    name = f"{r.choice(ADJECTIVES)} {r.choice(THINGS)}"
    return {"name": name, "price": round(r.uniform(1, 200), 2), "quantity": r.randint(1, 9)}


def order(r: random.Random) -> Json:
    items = [item(r) for _ in range(r.randint(1, 3))]
    value = {
        "id": r.randint(1000, 9999),
        "customer": f"{r.choice(FIRST_NAMES)} {r.choice(LAST_NAMES)}",
        "items": items,
        "total": round(sum(i["price"] * i["quantity"] for i in items), 2),
        "paid": r.random() < 0.7,
    }
    if r.random() < 0.4:
        value["status"] = r.choice(["new", "shipped", "delivered", "cancelled"])
    return value


def config(r: random.Random) -> Json:
    value: dict[str, Any] = {"service": r.choice(SERVICES), "port": r.choice([80, 443, 3000, 5432, 8000, 8080, 9090])}
    extras: dict[str, Any] = {
        "debug": r.random() < 0.3,
        "host": r.choice(["localhost", "0.0.0.0", "127.0.0.1", "example.com"]),
        "timeout": r.choice([0.5, 1.0, 2.5, 10, 30, 60]),
        "retries": r.randint(0, 5),
        "log": {"level": r.choice(["debug", "info", "warning", "error"]), "file": f"/var/log/{r.choice(SERVICES)}.log"},
        "features": {name: r.random() < 0.5 for name in r.sample(SERVICES, 2)},
        "replicas": r.randint(1, 8),
        "path": f"C:\\data\\{r.choice(SERVICES)}",
        "limits": {"memory": r.choice(["256MB", "512MB", "1GB", "4GB"]), "cpu": r.choice([0.25, 0.5, 1, 2])},
        "password": None,
    }
    for key in r.sample(list(extras), r.randint(2, 5)):
        value[key] = extras[key]
    return value


def product(r: random.Random) -> Json:
    value: dict[str, Any] = {**item(r), "in_stock": r.random() < 0.8}
    if r.random() < 0.6:
        value["tags"] = r.sample(ADJECTIVES, r.randint(0, 3))
    if r.random() < 0.4:
        value["size"] = {"width": r.randint(1, 99), "height": r.randint(1, 99)}
    return value


def city(r: random.Random) -> Json:
    name = r.choice(list(PLACES))
    return {
        "city": name,
        "country": PLACES[name],
        "population": r.randint(50, 20_000) * 1000,
        "location": [round(r.uniform(-60, 60), 2), round(r.uniform(-180, 180), 2)],
    }


def recipe(r: random.Random) -> Json:
    verbs = r.sample(["Chop", "Mix", "Cook", "Add", "Wash", "Stir"], 2)
    return {
        "dish": r.choice(DISHES),
        "minutes": r.choice([5, 10, 15, 20, 30, 45, 60]),
        "ingredients": {name: r.choice(["1 cup", "2 spoons", "100 g", "3", "½ liter"])
                        for name in r.sample(INGREDIENTS, r.randint(2, 4))},
        "steps": [f"{verb} the {r.choice(INGREDIENTS)}" for verb in verbs],
    }  # fmt: skip


def event(r: random.Random) -> Json:
    return {
        "title": f"{r.choice(['Meeting', 'Lunch', 'Concert', 'Workshop', 'Party'])} in {r.choice(list(PLACES))}",
        "date": f"20{r.randint(10, 30)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}",
        "time": f"{r.randint(8, 20):02}:{r.choice(['00', '15', '30', '45'])}",
        "guests": r.sample(FIRST_NAMES, r.randint(1, 4)),
    }


def message(r: random.Random) -> Json:
    words = " ".join(r.sample(WORDS, r.randint(2, 5)))
    text = r.choice(["Hello, {}!", "See you:\n{}", 'They said "{}".', "{} \t{}", "{}"])
    text = text.format(words, r.choice(CHARACTERS)) + r.choice(["", "", " " + r.choice(CHARACTERS)])
    return {"from": r.choice(FIRST_NAMES), "to": r.choice(FIRST_NAMES), "text": text, "read": r.random() < 0.5}


def numbers(r: random.Random) -> Json:
    kinds: list[Callable[[], Any]] = [
        lambda: r.randint(0, 20),
        lambda: r.randint(-1000, 1000),
        lambda: round(r.uniform(-10, 10), 2),
        lambda: float(f"{r.uniform(1, 10):.1f}e{r.randint(-20, 20)}"),
    ]
    kind = r.choice(kinds)
    return [kind() for _ in range(r.randint(1, 8))]


def words(r: random.Random) -> Json:
    return r.sample(r.choice([WORDS, HOBBIES, FIRST_NAMES, INGREDIENTS, CHARACTERS]), r.randint(1, 5))


def nested(r: random.Random) -> Json:
    def value(depth: int) -> Any:
        kind = r.randrange(4 if depth == 0 else 7)
        if kind < 4:
            return (r.randint(0, 99), r.choice(WORDS), r.choice([True, False, None]), r.choice(CHARACTERS))[kind]
        if kind == 4:
            return {key: value(depth - 1) for key in r.sample(WORDS, r.randint(0, 3))}
        return [value(depth - 1) for _ in range(r.randint(0, 3))]

    return {key: value(2) for key in r.sample(WORDS, 2)} if r.random() < 0.5 else [value(2), value(2)]


KINDS: dict[str, Callable[[random.Random], Json]] = {
    "person": person, "order": order, "config": config, "product": product, "city": city, "recipe": recipe,
    "event": event, "message": message, "list of numbers": numbers, "list of words": words, "nested value": nested,
}  # fmt: skip
PROMPTS = [
    "Describe {} as JSON:", "Write {} as JSON:", "Give me {} in JSON:", "JSON for {}:", "{} as JSON:", "{}:",
    "Make up {}. Answer in JSON.", "Generate {}.", "Return {} as a JSON object:",
]  # fmt: skip
PLAIN_PROMPTS = ["JSON:", "Write JSON:", "Answer in JSON:", "Some JSON:", "Write a JSON object:", ""]


def dump(r: random.Random, value: Json) -> str:
    style = r.random()
    if style < 0.1:
        return json.dumps(value, ensure_ascii=False, indent=2)
    if style < 0.2:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(value, ensure_ascii=style < 0.25)


def json_document(r: random.Random) -> tuple[str, str]:
    kind = r.choices(list(KINDS), weights=[5, 3, 3, 3, 2, 2, 2, 2, 1, 1, 2])[0]
    value = KINDS[kind](r)
    article = "an" if kind[0] in "aeio" else "a"
    prompt = r.choice(PROMPTS).format(f"{article} {kind}") if r.random() < 0.8 else r.choice(PLAIN_PROMPTS)
    if kind == "person" and isinstance(value, dict) and r.random() < 0.4:
        prompt = r.choice(["Describe {} as JSON:", "Describe a person named {} as JSON:"]).format(value["name"])
    return prompt[:1].upper() + prompt[1:], dump(r, value)


def expression(r: random.Random, depth: int = 2) -> str:
    if depth == 0 or r.random() < 0.25:
        return r.choice([str(r.randint(0, 99)), str(r.randint(0, 9)), f"{r.uniform(0, 10):.1f}", r.choice("abnxyz")])
    if r.random() < 0.1:
        return f"-{expression(r, 0)}"
    text = f"{expression(r, depth - 1)} {r.choice('+-*/')} {expression(r, depth - 1)}"
    return f"({text})" if r.random() < 0.4 else text


def arithmetic_document(r: random.Random) -> tuple[str, str]:
    if r.random() < 0.3:
        a, b = r.randint(0, 20), r.randint(0, 20)
        return f"{a} + {b} =", f" {a + b}"
    return r.choice(["Write an arithmetic expression:", "An expression:", "Arithmetic:"]), expression(r, 3)


def documents(seed: int) -> Iterator[tuple[str, str]]:
    """Yield (prompt, answer) without end; the seed fixes them."""
    r = random.Random(seed)
    while True:
        prompt, answer = json_document(r) if r.random() < 0.88 else arithmetic_document(r)
        # Users put a space or a line break after a prompt, or do not.
        yield prompt + (r.choice(["\n", " "]) if prompt and r.random() < 0.2 else ""), answer


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` is no error
    for (prompt, answer), _ in zip(documents(0), range(20), strict=False):
        print(f"{prompt!r} -> {answer}")
