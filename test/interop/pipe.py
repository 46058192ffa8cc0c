"""What the programs of this folder say to the test that runs them: one JSON object a line. It has their wallet."""
import json
import sys


def tell(heading, **values):
    print(json.dumps({heading: values}), flush=True)


def sign_message(message):
    """The wallet's signature of a text; one line is the answer."""
    print(json.dumps({"sign": message}), flush=True)
    return sys.stdin.readline().strip()
