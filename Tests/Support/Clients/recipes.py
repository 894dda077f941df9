"""An oracle for the answers about events: what the models of `sluice export dbt` and the page Analytics.md must find.

recipes.py events TODAY SEED        prints the first events, a line of three dashes, and those that arrive later
recipes.py expect MODEL SINCE UNTIL ZONE STEP,STEP FILE…
                                    prints the rows of a model for the events of the files, as `psql -At` does
"""

import json
import random
import sys
import uuid
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

SESSION = timedelta(minutes=30)
FUNNEL = timedelta(minutes=1440)
DAYS = 38


# Events


def event(rng, name, time, person, number):
    who = {"anonymousId": person} if person.startswith("device") else {"userId": person}
    payload = {"invoiceNo": f"{number:06d}", "stockCode": "POST", "quantity": 1, "unitPrice": 1, "country": "EIRE"}
    identity = str(uuid.UUID(int=rng.getrandbits(128), version=4))
    stated = time.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"
    return json.dumps({"id": identity, "name": name, "time": stated, **who, "payload": payload})


def times(rng, today):
    """Midnight on either side, pauses of a session's limit, and any other time, also before and after the window."""
    midnight = datetime(today.year, today.month, today.day, tzinfo=timezone.utc)
    day = midnight - timedelta(days=rng.randrange(-1, DAYS))
    instant = timedelta(milliseconds=1)
    first = day + rng.choice([timedelta(0), -instant, timedelta(hours=23), rng.randrange(86_400_000) * instant])
    yield first
    while rng.random() < 0.7:
        first += rng.choice([timedelta(0), instant, SESSION, SESSION + instant, timedelta(hours=7)])
        yield first


def print_events(today, seed):
    rng = random.Random(seed)
    people = [f"user-{number}" for number in range(150)] + [f"device-{number}" for number in range(40)]
    early, late = [], []
    number = 0
    for _ in range(400):
        person = rng.choice(people)
        for time in times(rng, today):
            number += 1
            name = rng.choice(["Item Purchased", "Item Purchased", "Item Returned"])
            line = event(rng, name, time, person, number)
            part = rng.choice([early, early, late])
            part.append(line)
            if rng.random() < 0.2:
                rng.choice([part, late]).append(line)
    rng.shuffle(late)
    print("\n".join(early), "---", "\n".join(late), sep="\n")


# Answers


def read(files):
    found = {}
    for file in files:
        with open(file) as lines:
            for line in lines:
                value = json.loads(line)
                time = datetime.fromisoformat(value["time"].replace("Z", "+00:00"))
                person = value.get("userId") or value.get("anonymousId")
                found[value["id"]] = (person, time, value["id"], value["name"])
    return sorted(found.values())


def moment(time):
    return time.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")


def by_person(events):
    groups = {}
    for one in events:
        groups.setdefault(one[0], []).append(one)
    return groups


def sessions(events, since, until, zone, steps):
    for person, own in by_person(events).items():
        session = []
        for one in own + [None]:
            if session and (one is None or one[1] - session[-1][1] > SESSION):
                yield person, moment(session[0][1]), moment(session[-1][1]), len(session), session[0][3], session[-1][3]
                session = []
            session.append(one)


def actives(events, since, until, zone, steps):
    days = {(person, time.astimezone(zone).date()) for person, time, _, _ in events}
    day = since
    while day < until:
        row = [day]
        for period in (1, 7, 30):
            first = day - timedelta(days=period - 1)
            row.append("" if first < since else len({person for person, active in days if first <= active <= day}))
        yield row
        day += timedelta(days=1)


def monday(day):
    return day - timedelta(days=day.weekday())


def retention(events, since, until, zone, steps):
    weeks = {}
    for person, time, _, _ in events:
        weeks.setdefault(person, set()).add(monday(time.astimezone(zone).date()))
    for cohort in sorted({min(active) for active in weeks.values()}):
        members = [active for active in weeks.values() if min(active) == cohort]
        week = cohort
        while week < until:
            yield cohort, (week - cohort).days // 7, len(members), sum(week in active for active in members)
            week += timedelta(days=7)


def longest_chain(own, start, steps):
    """How many steps follow one another from an event on; each step at its first time is best for those after it."""
    reached, last = 1, own[start][1]
    for step in steps[1:]:
        following = [time for _, time, _, name in own if name == step and last < time <= own[start][1] + FUNNEL]
        if not following:
            break
        reached, last = reached + 1, min(following)
    return reached


def funnel(events, since, until, zone, steps):
    reached = []
    for own in by_person(events).values():
        starts = [index for index, one in enumerate(own) if one[3] == steps[0]]
        reached.append(max((longest_chain(own, start, steps) for start in starts), default=0))
    for index, step in enumerate(steps):
        yield index + 1, step, sum(number > index for number in reached)


def expect(model, since, until, zone, steps, *files):
    since, until, zone = date.fromisoformat(since), date.fromisoformat(until), ZoneInfo(zone)
    events = [one for one in read(files) if since <= one[1].astimezone(zone).date() < until]
    rows = globals()[model](events, since, until, zone, steps.split(","))
    print("\n".join(sorted("|".join(map(str, row)) for row in rows)))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "events":
        print_events(date.fromisoformat(arguments[0]), int(arguments[1]))
    else:
        expect(*arguments)
