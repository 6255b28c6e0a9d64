"""A search strategy for ndtune in Python: a small evolutionary algorithm.

    ndtune tune kernel.yaml --max-evals 100 --strategy 'command:python3 evolution.py'
    ndtune simulate record.json.gz --strategy auto,random_sample --strategy 'command:python3 evolution.py --popsize 12'

docs/strategy-command.md describes the messages. The arguments are those of the command.
"""

import argparse
import json
import random
import sys


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit()  # the search is over
    return json.loads(line)


def send(message):
    print(json.dumps(message), flush=True)


def question(message):
    send(message)
    return receive()["configurations"]


arguments = argparse.ArgumentParser()
arguments.add_argument("--popsize", type=int, default=8)
arguments.add_argument("--mutation", type=float, default=0.15)
arguments = arguments.parse_args()
hello = receive()["hello"]
parameters = {p["name"]: p["values"] for p in hello["parameters"]}
sign = -1 if hello["objectives"][0]["direction"] == "maximize" else 1
rng = random.Random(hello["seed"])
population = []  # of pairs: an objective, to be minimized, and a configuration; the best first
seen = set()


def propose():
    """Returns a child of two members that was not seen before, else a random configuration, else None."""
    if len(population) == arguments.popsize:
        for _ in range(10):
            mother, father = rng.sample(population, 2)
            child = {name: rng.choice((mother, father))[1][name] for name in parameters}
            for name, values in parameters.items():
                if rng.random() < arguments.mutation:
                    child[name] = rng.choice(values)
            child = question({"nearest": child})[0]
            if json.dumps(child) not in seen:
                return child
    for configuration in question({"sample": 1}):
        return configuration


send({"ready": 1})
while True:
    message = receive()
    for result in message.get("tell", []):
        seen.add(json.dumps(result["configuration"]))
        if result["objective"] is not None:
            population.append((sign * result["objective"], result["configuration"]))
            population = sorted(population, key=lambda member: member[0])[:arguments.popsize]
    if "ask" in message:
        proposals = []
        for _ in range(message["ask"]):
            child = propose()
            if child is not None:
                seen.add(json.dumps(child))
                proposals.append(child)
        send({"propose": proposals})
