// Sends events to Sluice; see Documentation/Browser.md.
window.sluice = (key, host) => {
  const url = host + "/v1/events?key=" + encodeURIComponent(key), store = "sluice:" + key
  let memory = "[]", pause = 1e3, user, busy, failed, timer
  const read = () => {
    try { memory = localStorage[store] || memory } catch {}
    return JSON.parse(memory)
  }
  const write = events => {
    memory = JSON.stringify(events.slice(-1000))
    try { localStorage[store] = memory } catch {}
  }
  const uuid = () => "10000000-1000-4000-8000-100000000000".replace(/[018]/g,
    c => (c ^ crypto.getRandomValues(new Uint8Array(1))[0] & 15 >> c / 4).toString(16))
  let device = uuid()
  try { device = localStorage.sluice ||= device } catch {}

  const later = time => timer ||= setTimeout(() => { timer = 0; send() }, time)
  const send = async () => {
    const ids = new Set, lines = []
    let size = 0, wait = 0
    for (const event of busy ? [] : read()) {
      const line = JSON.stringify(event), bytes = new Blob([line]).size + 1
      if (size && size + bytes > 5e4) break
      size += bytes
      lines.push(line)
      ids.add(event.id)
    }
    if (!size) return
    busy = true
    try {
      const answer = await fetch(url, { method: "POST", body: `[${lines}]`, keepalive: size < 6e4 })
      failed = ![200, 400, 413, 422].includes(answer.status)
      wait = Math.min(1e3 * answer.headers.get("Retry-After") || 0, 864e5)
    } catch { failed = true }
    busy = false
    if (failed) {
      wait = Math.max(wait, pause)
      pause = Math.min(2 * pause, 3e5)
    } else {
      write(read().filter(event => !ids.has(event.id)))
      pause = 1e3
    }
    if (read()[0]) later(wait)
  }
  addEventListener("pagehide", send)
  addEventListener("visibilitychange", () => document.hidden && send())
  send()
  return {
    identify: id => user = id,
    track: (name, payload) => {
      write([...read(), { name, id: uuid(), time: new Date, userId: user, anonymousId: device, payload }])
      failed || later(1e3)
    }
  }
}
