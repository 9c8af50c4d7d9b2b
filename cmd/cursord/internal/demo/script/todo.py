"""A to-do list in one file."""

import sys

FILE = "todo.txt"


def load():
    try:
        with open(FILE) as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def done(items, number):
    """Strike out an entry; they count from 1."""
    del items[number]


if __name__ == "__main__":
    items = load()
    done(items, int(sys.argv[1]))
    with open(FILE, "w") as f:
        f.write("\n".join(items))
