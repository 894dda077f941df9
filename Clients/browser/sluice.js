// See Documentation/Browser.md
window.sluice = (key, host) => {
	const url = host + "/v1/events?key=" + encodeURIComponent(key), store = "sluice:" + key, sent = new Set
	let held = [], pause = 1e3, user, failed, timer
	const stored = () => { try { return JSON.parse(localStorage[store]) } catch { return [] } }
	const write = list => localStorage[store] = JSON.stringify(list.slice(-1e3))
	const uuid = () => "10000000-1000-4000-8000-100000000000".replace(/[018]/g,
		c => (c ^ crypto.getRandomValues(new Uint8Array(1))[0] & 15 >> c / 4).toString(16))
	let device = uuid()
	try { device = localStorage.sluice ||= device } catch {}

	const later = time => {
		clearTimeout(timer)
		timer = setTimeout(send, time)
	}
	const send = async () => {
		let batch = [], size = 0, wait
		timer = clearTimeout(timer)
		for (const event of stored().concat(held)) {
			const bytes = new Blob([JSON.stringify(event)]).size + 1
			if (sent.has(event.id)) continue
			if (size && size + bytes > 5e4) break
			size += bytes
			batch.push(event)
			sent.add(event.id)
		}
		if (!size) return
		try {
			const answer = await fetch(url, { method: "POST", body: JSON.stringify(batch), keepalive: size < 6e4 })
			failed = !/200|400|413|422/.test(answer.status)
			wait = Math.min(1e3 * answer.headers.get("Retry-After"), 864e5)
		} catch { failed = 1 }
		if (failed) {
			batch.map(e => sent.delete(e.id))
			later(Math.max(wait || 0, pause))
			pause = Math.min(2 * pause, 3e5)
		} else {
			const rest = list => list.filter(e => !batch.some(b => b.id == e.id))
			held = rest(held)
			try { write(rest(stored())) } catch {}
			later(pause = 1e3)
		}
	}
	for (const name of ["pagehide", "visibilitychange"]) addEventListener(name, () => failed || send())
	send()
	return {
		identify: id => user = id,
		track: (name, payload) => {
			const event = { name, id: uuid(), time: new Date, userId: user, anonymousId: device, payload }
			try { write([...stored(), event]) } catch { held = [...held, event].slice(-1e3) }
			failed || timer || later(1e3)
		}
	}
}
