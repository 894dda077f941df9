"""An oracle for the answers about events: what the models of `sluice export dbt` and the page Analytics.md must find.

recipes.py events TODAY SEED        prints the first events, a line of three dashes, and those that arrive later
recipes.py expect MODEL SINCE UNTIL ZONE STEP,STEP PERSONS FILE…
                                    prints the rows of a model for the events of the files, as `psql -At` does; PERSONS
                                    is `stitched` if an anonymous id belongs to its only user, else `separate`
"""

import json
import random
import sys
import uuid
from collections import namedtuple
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

SESSION = timedelta(minutes=30)
FUNNEL = timedelta(minutes=1440)
# The number of days before today in the window of the tests.
WINDOW = 34
DAYS = 38


# Events


def identifiers(rng, person, time, today, is_late):
    """The identifiers of an event: users also use devices, some of which are shared.

    A user of 0 to 19 is alone on a device. Of each two users of a device of 20 to 29, the second is seen only in events
    that arrive late; of those of a device of 30 to 34, only outside the window of UTC. Devices from 35 on have no user.
    """
    kind, number = person.split("-")
    if kind == "device":
        return {"anonymousId": person}
    number = int(number)
    is_outside = not midnight(today) - timedelta(WINDOW) <= time < midnight(today)
    uses_device = number < 30 or number < 40 and is_late or 40 <= number < 45 or 50 <= number < 55 and is_outside
    if not uses_device or rng.random() < 0.4:
        return {"userId": person}
    device = number if number < 30 else number % 10 + (20 if number < 40 else 30)
    return {"userId": person, "anonymousId": f"device-{device}"}


def event(rng, name, time, who, number):
    payload = {"invoiceNo": f"{number:06d}", "stockCode": "POST", "quantity": 1, "unitPrice": 1, "country": "EIRE"}
    identity = str(uuid.UUID(int=rng.getrandbits(128), version=4))
    stated = time.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"
    return json.dumps({"id": identity, "name": name, "time": stated, **who, "payload": payload})


def midnight(day):
    return datetime(day.year, day.month, day.day, tzinfo=timezone.utc)


def times(rng, today):
    """Midnight on either side, pauses of a session's limit, and any other time, also before and after the window."""
    day = midnight(today) - timedelta(days=rng.randrange(-1, DAYS))
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
            part = rng.choice([early, early, late])
            line = event(rng, name, time, identifiers(rng, person, time, today, part is late), number)
            part.append(line)
            if rng.random() < 0.2:
                rng.choice([part, late]).append(line)
    rng.shuffle(late)
    print("\n".join(early), "---", "\n".join(late), sep="\n")


# Answers


Event = namedtuple("Event", "person time id name user device")


def read(files, since, until, zone):
    found = {}
    for file in files:
        with open(file) as lines:
            for line in lines:
                value = json.loads(line)
                time = datetime.fromisoformat(value["time"].replace("Z", "+00:00"))
                if since <= time.astimezone(zone).date() < until:
                    user, device = value.get("userId"), value.get("anonymousId")
                    found[value["id"]] = Event(user or device, time, value["id"], value["name"], user, device)
    return sorted(found.values())


def owners(events):
    """The users of the anonymous ids that have exactly one."""
    seen = {}
    for one in events:
        if one.user and one.device:
            seen.setdefault(one.device, set()).add(one.user)
    return {device: min(found) for device, found in seen.items() if len(found) == 1}


def stitch(events):
    found = owners(events)
    return sorted(one._replace(person=one.user or found.get(one.device, one.device)) for one in events)


def moment(time):
    return time.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")


def by_person(events):
    groups = {}
    for one in events:
        groups.setdefault(one.person, []).append(one)
    return groups


def users(events, since, until, zone, steps):
    for device, user in owners(events).items():
        seen = [one.time for one in events if one.device == device]
        yield device, user, moment(min(seen)), moment(max(seen))


def sessions(events, since, until, zone, steps):
    for person, own in by_person(events).items():
        session = []
        for one in own + [None]:
            if session and (one is None or one.time - session[-1].time > SESSION):
                first, last = session[0], session[-1]
                yield person, moment(first.time), moment(last.time), len(session), first.name, last.name
                session = []
            session.append(one)


def actives(events, since, until, zone, steps):
    days = {(one.person, one.time.astimezone(zone).date()) for one in events}
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
    for one in events:
        weeks.setdefault(one.person, set()).add(monday(one.time.astimezone(zone).date()))
    for cohort in sorted({min(active) for active in weeks.values()}):
        members = [active for active in weeks.values() if min(active) == cohort]
        week = cohort
        while week < until:
            yield cohort, (week - cohort).days // 7, len(members), sum(week in active for active in members)
            week += timedelta(days=7)


def longest_chain(own, start, steps):
    """How many steps follow one another from an event on; each step at its first time is best for those after it."""
    reached, last = 1, own[start].time
    end = last + FUNNEL
    for step in steps[1:]:
        following = [one.time for one in own if one.name == step and last < one.time <= end]
        if not following:
            break
        reached, last = reached + 1, min(following)
    return reached


def funnel(events, since, until, zone, steps):
    reached = []
    for own in by_person(events).values():
        starts = [index for index, one in enumerate(own) if one.name == steps[0]]
        reached.append(max((longest_chain(own, start, steps) for start in starts), default=0))
    for index, step in enumerate(steps):
        yield index + 1, step, sum(number > index for number in reached)


def expect(model, since, until, zone, steps, persons, *files):
    since, until, zone = date.fromisoformat(since), date.fromisoformat(until), ZoneInfo(zone)
    events = read(files, since, until, zone)
    if persons == "stitched":
        events = stitch(events)
    rows = globals()[model](events, since, until, zone, steps.split(","))
    print("\n".join(sorted("|".join(map(str, row)) for row in rows)))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "events":
        print_events(date.fromisoformat(arguments[0]), int(arguments[1]))
    else:
        expect(*arguments)
