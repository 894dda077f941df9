// See Documentation/Send/Browser.md
window.sluice = (key, host) => {
	const url = host + "/v1/events?key=" + encodeURIComponent(key), store = "sluice:" + key, sent = new Set, json = JSON.stringify
	let held = [], pause = 1e3, user, failed, timer
	const stored = () => { try { return JSON.parse(localStorage[store]) } catch { return [] } }
	const write = list => localStorage[store] = json(list.slice(-1e3)),
		uuid = () => "10000000-1000-4000-8000-100000000000".replace(/[018]/g,
		c => (c ^ crypto.getRandomValues(new Uint8Array(1))[0] & 15 >> c / 4).toString(16))
	let device = uuid()
	try { device = localStorage.sluice ||= device } catch {}

	const later = ms => {
		clearTimeout(timer)
		timer = setTimeout(send, ms)
	}
	const send = async () => {
		let batch = [], size = 0, wait
		timer = clearTimeout(timer)
		for (const e of stored().concat(held)) {
			const bytes = new Blob([json(e)]).size + 1
			if (sent.has(e.id)) continue
			if (size && size + bytes > 5e4) break
			size += bytes
			batch.push(e)
			sent.add(e.id)
		}
		if (!size) return
		try {
			const r = await fetch(url, { method: "POST", body: json(batch), keepalive: size < 6e4 })
			failed = !/200|4(00|13|22)/.test(r.status)
			wait = Math.min(1e3 * r.headers.get("Retry-After"), 864e5)
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
	for (const n of ["pagehide", "visibilitychange"]) addEventListener(n, () => failed || send())
	send()
	return {
		identify: id => user = id,
		track: (name, payload) => {
			let e = { name, id: uuid(), time: new Date, userId: user, anonymousId: device, payload }
			try { e = JSON.parse(json(e)) } catch (x) { return console.error(x) }
			try { write([...stored(), e]) } catch { held = [...held, e].slice(-1e3) }
			failed || timer || later(1e3)
		}
	}
}
