// The dashboard: asks for /v1/dashboard once a second, and shows it. Texts are set as text, never as HTML.
"use strict"

const byId = id => document.getElementById(id)
const maximumSamples = 720
const maximumShown = 200
const samples = []
let events, started, shown = 0

const make = (name, attributes = {}, ...children) => {
  const svg = ["svg", "path", "line", "rect", "title"].includes(name)
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...children)
  return element
}

// MARK: Numbers

const count = number => Math.round(number).toLocaleString("en")
const rate = number => number < 10 ? (Math.round(number * 10) / 10).toLocaleString("en") : count(number)
const bytes = number => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"]
  let unit = 0
  while (number >= 1024 && unit < units.length - 1) { number /= 1024; unit += 1 }
  return `${number < 10 && unit ? number.toFixed(1) : Math.round(number)} ${units[unit]}`
}
const time = seconds => {
  if (seconds < 1) return `${Math.round(seconds * 10000) / 10} ms`
  if (seconds < 100) return `${Math.round(seconds * 10) / 10} s`
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`
  return seconds < 360000 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} d`
}
const ago = milliseconds => `${time(Math.max(0, (Date.now() - milliseconds) / 1000))} ago`

// MARK: Updates

// Replaces the children that differ, so that the focus, the reading position and selected text stay where nothing changes.
const update = (parent, children) => {
  children.forEach((child, index) => {
    const old = parent.children[index]
    if (!old) parent.append(child)
    else if (!old.isEqualNode(child)) old.replaceWith(child)
  })
  while (parent.children.length > children.length) parent.lastElementChild.remove()
}

const setText = (id, text) => { if (byId(id).textContent !== text) byId(id).textContent = text }

// While a pointer is down or text is selected, nothing is replaced under it.
let isPressed = false
addEventListener("pointerdown", () => isPressed = true)
for (const name of ["pointerup", "pointercancel", "blur"]) addEventListener(name, () => isPressed = false)
const isBusy = () => isPressed || !getSelection().isCollapsed

// MARK: Charts

// Draws lines over the last hour; each has a name and a value for each sample, null where there is none.
const chart = (title, lines, format) => {
  const width = 400, height = 100
  const highest = Math.max(0, ...lines.flatMap(line => line.values).filter(value => value !== null))
  const first = samples[0]?.time ?? 0, last = samples.at(-1)?.time ?? 1
  const x = time => width * (time - first) / Math.max(1, last - first)
  const y = value => height - (height - 2) * (highest ? value / highest : 0) - 1
  const now = line => line.values.length ? format(line.values.at(-1)) : "none"
  const label = `${title}: ${lines.map(line => `${line.name} ${now(line)}`).join(", ")}; highest ${format(highest)}`
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label })
  svg.append(make("line", { class: "axis", x1: 0, x2: width, y1: height - 1, y2: height - 1 }))
  svg.append(make("line", { class: "axis", x1: 0, x2: width, y1: 1, y2: 1 }))
  lines.forEach((line, index) => {
    let path = "", gap = true
    line.values.forEach((value, place) => {
      if (value === null) return gap = true
      path += `${gap ? "M" : "L"}${x(samples[place].time).toFixed(1)} ${y(value).toFixed(1)}`
      gap = false
    })
    if (path) svg.append(make("path", { class: `curve color-${index % 6}`, d: path }))
  })
  const clock = time => samples.length ? new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : ""
  return make("figure", {}, make("figcaption", {}, title), make("p", { class: "soft" }, `highest ${format(highest)}`), svg,
    make("p", { class: "soft ends" }, make("span", {}, clock(first)), make("span", {}, clock(last))),
    make("p", {}, ...lines.map((line, index) => make("span", { class: `color-${index % 6}` }, `● ${line.name}: ${now(line)}`))))
}

const showCharts = trackers => {
  const values = pick => samples.map(sample => pick(sample) ?? null)
  const duration = value => !value ? "none" : value > 60 ? "> 60 s" : `≤ ${time(value)}`
  byId("charts").replaceChildren(
    chart("Events a second", [
      { name: "accepted", values: values(sample => sample.accepted) },
      { name: "rejected", values: values(sample => sample.rejected) }
    ], rate),
    chart("Delivered a second", trackers.map(({ name }) => ({ name, values: values(sample => sample.delivered[name]) })), value => rate(value ?? 0)),
    chart("Undelivered events", trackers.map(({ name }) => ({ name, values: values(sample => sample.lag[name]) })), value => count(value ?? 0)),
    chart("p99 latency", [
      { name: "requests", values: values(sample => sample.requestTime) },
      { name: "commits", values: values(sample => sample.commitTime) },
      { name: "deliveries", values: values(sample => sample.deliveryTime) }
    ], duration)
  )
}

// MARK: Trackers and the journal

const statusClass = status => ({ delivering: "good", blocked: "bad", retrying: "wait", starting: "wait", paused: "wait" })[status] ?? ""

// How long a tracker takes until nothing waits for it, by how its lag fell within the last minute.
const catchUp = tracker => {
  if (!tracker.lagEvents) return "no lag"
  if (tracker.lagSeconds != null && tracker.lagSeconds < 5) return "keeps up"
  const before = samples.at(-13) ?? samples[0], now = samples.at(-1)
  if (!before || before === now) return "not known yet"
  const fall = ((before.lag[tracker.name] ?? 0) - tracker.lagEvents) / ((now.time - before.time) / 1000)
  return fall > 0 ? time(tracker.lagEvents / fall) : "not catching up"
}

const change = async (tracker, action) => {
  try {
    const answer = await fetch(`/v1/trackers/${encodeURIComponent(tracker)}/${action}`, { method: "POST" })
    if (!answer.ok) alert(await answer.text())
  } catch {
    alert("The process does not answer.")
  }
  refresh()
}

const cell = (text, name = "") => make("td", name ? { class: name } : {}, text)

// The first sentence of the page must not look good while a destination is down.
const showState = status => {
  const isReady = status.status === "ready"
  const isDown = ({ status }) => ["bad", "wait"].includes(statusClass(status))
  const down = status.trackers.filter(tracker => isDown(tracker) || Object.keys(tracker.brokenEvents).length)
  const trackers = down.map(tracker => `${tracker.name} is ${isDown(tracker) ? tracker.status : "delivering only some events"}`)
  setText("state", [isReady ? "Accepts events." : `Accepts no events: ${status.reasons.join(", ")}.`, ...trackers.map(text => `${text}.`)].join(" "))
  byId("state").className = !isReady ? "bad" : down.length ? "wait" : "good"
}

// The settings that somebody has changed for a time.
const showChanges = changes => {
  byId("changes").hidden = !changes.length
  update(byId("changes"), changes.map(({ key, value, until, user }) =>
    make("li", {}, `${key} is ${value} until ${new Date(until).toLocaleString()}${user ? `, set by ${user}` : ""}`)))
}

const showTrackers = trackers => {
  const rows = trackers.map(tracker => {
    const action = tracker.status === "paused" ? "resume" : "pause"
    const button = make("button", { type: "button", "data-tracker": tracker.name }, `${action === "pause" ? "Pause" : "Resume"} ${tracker.name}`)
    button.addEventListener("click", () => change(tracker.name, action))
    const broken = Object.entries(tracker.brokenEvents).map(([event, reason]) => `${event} is parked: ${reason}`)
    const delivered = samples.at(-1)?.delivered[tracker.name] ?? 0
    return make("tr", { "data-tracker": tracker.name },
      make("th", { scope: "row" }, tracker.name), cell(tracker.status, statusClass(tracker.status)),
      cell((tracker.lagIsUpperBound ? "≤ " : "") + count(tracker.lagEvents), "number"),
      cell(tracker.lagSeconds == null ? "" : time(tracker.lagSeconds), "number"), cell(catchUp(tracker)), cell(rate(delivered), "number"),
      ...["refused", "parked", "dropped"].map(name => cell(count(tracker[name]), tracker[name] ? "number bad" : "number")),
      cell([tracker.reason, ...broken].filter(Boolean).join(" "), "text"), make("td", {}, button))
  })
  // The button with the focus may be replaced by one that looks different.
  const focused = document.activeElement?.dataset?.tracker
  update(byId("trackers").tBodies[0], rows)
  if (focused) byId("trackers").querySelector(`button[data-tracker="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true })
}

const showJournal = ({ status, segments, cursors }) => {
  const journal = status.journal
  setText("journal-text", journal
    ? `${bytes(journal.bytes)} in ${count(journal.segments)} ${journal.segments === 1 ? "segment" : "segments"}; room for ${bytes(journal.roomBytes)} more.`
    : "There is no journal: accepted events are in memory until they are delivered.")
  if (!journal || !segments.length) return byId("journal").replaceChildren()
  const width = 960, height = 30, names = status.trackers.map(({ name }) => name).filter(name => name in cursors)
  const first = segments[0].first, last = segments.at(-1).next
  const x = number => width * Math.min(1, Math.max(0, (number - first) / Math.max(1, last - first)))
  const place = name => `${Math.floor(100 * x(cursors[name]) / width)} %`
  const label = `Journal of ${segments.length} segments; ${names.map(name => `${name} at ${place(name)}`).join(", ")}`
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label })
  for (const segment of segments) {
    const size = Math.max(1, x(segment.next) - x(segment.first))
    const box = make("rect", { class: "segment", x: x(segment.first), y: 1, width: size, height: height - 2 })
    box.append(make("title", {}, `events ${segment.first} to ${segment.next - 1}, ${bytes(segment.bytes)}`))
    svg.append(box)
  }
  names.forEach((name, index) => {
    const end = Math.min(width - 2, Math.max(2, x(cursors[name])))
    svg.append(make("line", { class: `cursor color-${index % 6}`, x1: end, x2: end, y1: 0, y2: height }))
  })
  const legend = names.map((name, index) => make("span", { class: `color-${index % 6}` }, `● ${name} has settled everything up to ${place(name)}`))
  update(byId("journal"), [svg, make("p", { class: "legend" }, ...legend)])
}

// MARK: Events

// Sends quarantined events again that are valid now; each request works for a few seconds, and the next one continues.
let isReplaying = false
const tryAgain = async (event, code) => {
  if (isReplaying) return
  isReplaying = true
  let sent = 0, invalid = 0
  const damage = []
  const query = new URLSearchParams(Object.entries({ event, code }).filter(([, value]) => value))
  setText("replay-state", "Trying…")
  try {
    for (let isComplete = false; !isComplete;) {
      const answer = await fetch(`/v1/quarantine/replay?${query}`, { method: "POST" })
      if (!answer.ok) {
        setText("replay-state", `${count(sent)} were sent before this: ${(await answer.text()).trim()}`)
        break
      }
      const report = await answer.json()
      sent += report.sent
      invalid += report.stillInvalid
      isComplete = report.isComplete
      damage.push(...report.failures)
      const unread = damage.length ? `; ${count(damage.length)} parts could not be read: ${damage[0]}` : ""
      setText("replay-state", `${count(sent)} sent again, ${count(invalid)} still not valid${unread}${isComplete ? "." : "…"}`)
    }
  } catch {
    setText("replay-state", "The process does not answer.")
  }
  isReplaying = false
}
byId("replay-all").addEventListener("click", () => tryAgain())

const showRejections = (rejections, canReplay) => {
  byId("replay").hidden = !canReplay
  byId("no-rejections").hidden = rejections.length > 0
  const open = new Set([...byId("rejections").querySelectorAll("details[open]")].map(element => element.dataset.kind))
  const focused = document.activeElement?.parentElement?.dataset?.kind
  const focusedName = document.activeElement?.localName
  // In a fixed order, so that they do not move while they are read.
  const name = ({ event, code, sender }) => `${event} ${code} ${sender}`
  const sorted = [...rejections].sort((one, other) => name(one) < name(other) ? -1 : 1)
  update(byId("rejections"), sorted.map(rejection => {
    const kind = JSON.stringify([rejection.event, rejection.code, rejection.sender])
    const name = rejection.event ?? "(unknown event)"
    const details = make("details", { "data-kind": kind }, make("summary", {}, `${name}: ${rejection.code}, ${count(rejection.count)} from ${rejection.sender}, the last ${ago(rejection.last)}`))
    for (const problem of rejection.sample) {
      const place = problem.plan ? `; the plan says so in ${problem.plan}` : ""
      details.append(make("p", {}, `${problem.path}: expected ${problem.expected}, found ${problem.found} (${problem.code})${place}`))
    }
    const filter = rejection.event ? ` --event '${rejection.event.replaceAll("'", "'\\''")}'` : ""
    details.append(make("p", {}, "To see them: ", make("code", {}, `sluice quarantine list --code ${rejection.code}${filter}`),
      "; to accept those that pass now: ", make("code", {}, `sluice replay quarantine --code ${rejection.code}${filter}`)))
    // What a key may not send, and what has a wrong time, is valid otherwise; only the command sends it.
    if (canReplay && !["forbidden-event", "time-out-of-range"].includes(rejection.code)) {
      const button = make("button", { type: "button" }, `Try ${name} again`)
      button.addEventListener("click", () => tryAgain(rejection.event, rejection.code))
      details.append(button)
    }
    details.open = open.has(kind)
    return details
  }))
  if (focused) byId("rejections").querySelector(`details[data-kind="${CSS.escape(focused)}"] > ${focusedName}`)?.focus({ preventScroll: true })
}

// An event that was sent often and has not come for a while is gone; the page knows only this process.
const remark = event => {
  if (!event.accepted) return event.rejected ? "all rejected since start" : "none since start"
  return event.accepted > 10 && Date.now() - event.lastAccepted > 900000 ? "none for 15 minutes" : ""
}

const showCatalogue = list => {
  const names = byId("event-names")
  if ([...names.children].map(option => option.value).join("\n") !== list.map(({ name }) => name).join("\n")) names.replaceChildren(...list.map(({ name }) => make("option", { value: name })))
  update(byId("catalogue").tBodies[0], list.map(event => {
    const all = event.accepted + event.rejected
    return make("tr", { "data-event": event.name }, make("th", { scope: "row" }, event.name), cell(count(event.accepted), "number"),
      cell(count(event.rejected), event.rejected ? "number bad" : "number"), cell(all ? `${(100 * event.rejected / all).toFixed(1)} %` : "", "number"),
      cell(event.lastAccepted == null ? "" : ago(event.lastAccepted)), cell(remark(event), "wait"))
  }))
}

// MARK: Tail

const addToTail = (text, name) => {
  const list = byId("tail")
  list.prepend(make("li", name ? { class: name } : {}, text))
  while (list.children.length > maximumShown) list.lastChild.remove()
}

const stopTail = text => {
  events?.close()
  events = undefined
  byId("tail-toggle").textContent = "Watch"
  byId("tail-state").textContent = text
}

byId("tail-filter").addEventListener("submit", submission => {
  submission.preventDefault()
  if (events) return stopTail(`Paused; ${count(shown)} events were shown.`)
  shown = 0
  const query = new URLSearchParams([...new FormData(byId("tail-filter"))].filter(([, value]) => value))
  events = new EventSource(`/v1/tail?${query}`)
  byId("tail-toggle").textContent = "Pause"
  byId("tail-state").textContent = "Connecting…"
  events.addEventListener("open", () => byId("tail-state").textContent = "Watching.")
  events.addEventListener("error", () => {
    if (events?.readyState === EventSource.CLOSED) stopTail("The process refuses: too many others watch, or the session has ended.")
    else byId("tail-state").textContent = "The connection is lost; trying again."
  })
  events.addEventListener("missed", message => addToTail(`${count(+message.data)} events were skipped.`, "wait"))
  events.addEventListener("message", message => {
    const item = JSON.parse(message.data)
    shown += 1
    if (item.verdict === "accepted") addToTail(`${item.event.name} → ${item.trackers.join(", ")} ${JSON.stringify(item.event)}`)
    else addToTail(`rejected: ${item.name ?? "(unknown event)"} from ${item.sender}: ${item.errors.map(error => `${error.path} ${error.code}`).join(", ")} ${item.original ?? ""}`, "bad")
  })
})

// MARK: Once a second

const show = report => {
  // The samples of a process that was restarted begin again with 0.
  if (started !== report.started) samples.length = 0
  started = report.started
  samples.push(...report.samples.filter(sample => sample.number > (samples.at(-1)?.number ?? -1)))
  if (samples.length > maximumSamples) samples.splice(0, samples.length - maximumSamples)
  const { status } = report
  showState(status)
  setText("versions", `Version ${status.version}; plan ${status.plan.version ?? "without a version"}, ${count(status.plan.events)} ${status.plan.events === 1 ? "event" : "events"}; ${count(status.accepted)} events accepted.`)
  // An alert is read out when its text changes.
  byId("plan-problem").hidden = !status.plan.problem
  setText("plan-problem", status.plan.problem ? `The plan's files have problems, so the earlier plan stays in use: ${status.plan.problem}` : "")
  if (report.samples.length || !byId("charts").children.length) showCharts(status.trackers)
  if (isBusy()) return
  showChanges(status.changedSettings)
  showTrackers(status.trackers)
  showJournal(report)
  showRejections(report.rejections, report.canReplay)
  showCatalogue(report.events)
}

let timer
const refresh = async () => {
  clearTimeout(timer)
  try {
    const answer = await fetch(`/v1/dashboard?from=${samples.length ? samples.at(-1).number + 1 : 0}`)
    if (answer.status === 401) return location.assign("/login")
    show(await answer.json())
  } catch {
    setText("state", "The process does not answer.")
    byId("state").className = "bad"
  }
  timer = setTimeout(refresh, 1000)
}
refresh()
