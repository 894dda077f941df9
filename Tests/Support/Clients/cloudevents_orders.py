"""Sends COUNT orders as CloudEvents, made by the SDK and sent by requests: by turns binary, structured, and in a batch of one.

Usage: cloudevents_orders.py URL KEY COUNT

It sends each event twice, as a client does that got no answer.
"""

import datetime
import sys

import requests
from cloudevents.core.bindings.http import to_binary_event, to_structured_event
from cloudevents.core.v1.event import CloudEvent

url, key, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
session = requests.Session()
session.headers["Authorization"] = f"Bearer {key}"


def send(headers, body):
    for attempt in range(2):
        response = session.post(url + "/v1/events", data=body, headers=headers)
        assert response.status_code == 200, response.text
        assert response.json()["accepted"] == 1, response.text


for number in range(count):
    event = CloudEvent(
        attributes={
            "id": f"order-{number}",
            "source": "/shop/caf\u00e9",
            "type": "com.example.Order Completed",
            "subject": f"user-{number % 5}",
            "specversion": "1.0",
            "time": datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),
            "datacontenttype": "application/json",
        },
        data={"number": number, "total": number / 4},
    )
    if number % 3 == 0:
        message = to_binary_event(event)
        send(message.headers, message.body)
    else:
        message = to_structured_event(event)
        if number % 3 == 1:
            send(message.headers, message.body)
        else:
            body = message.body if isinstance(message.body, bytes) else message.body.encode()
            send({"Content-Type": "application/cloudevents-batch+json"}, b"[" + body + b"]")
