// The car's screen: video, fingers on it, haptic rectangles, and what the stream costs.

import { button, command, h, list, number, render, request } from "./page.js"

const byID = (id) => document.getElementById(id)
const headerLength = 24
const longestUnit = 16 << 20
// Pictures that wait for the decoder; beyond that a slow browser goes on with the next key frame.
const mostWaiting = 30
const mostFingers = 10
const retryPause = 1000

// The codec of the sequence parameter set in a byte stream, as WebCodecs names it.
function codec(data) {
  for (let at = 0; at + 7 < data.length && at < 4096; at++) {
    if (data[at] === 0 && data[at + 1] === 0 && data[at + 2] === 1 && (data[at + 3] & 31) === 7) {
      const hex = (byte) => byte.toString(16).padStart(2, "0")
      return `avc1.${hex(data[at + 4])}${hex(data[at + 5])}${hex(data[at + 6])}`
    }
  }
  return null
}

// Divides an answer into access units: see PictureGroup.Unit in ControlInterface.swift.
async function* units(body) {
  const reader = body.getReader()
  let chunks = []
  let length = 0
  const take = async (count) => {
    while (length < count) {
      const { done, value } = await reader.read()
      if (done) return null
      chunks.push(value)
      length += value.length
    }
    const all = new Uint8Array(length)
    let at = 0
    for (const chunk of chunks) {
      all.set(chunk, at)
      at += chunk.length
    }
    chunks = [all.subarray(count)]
    length -= count
    return all.slice(0, count)
  }
  for (;;) {
    const header = await take(headerLength)
    if (!header) return
    const view = new DataView(header.buffer)
    if (view.getUint32(0) > longestUnit) throw new Error("the stream is damaged")
    const data = await take(view.getUint32(0))
    if (!data) return
    yield {
      data, session: view.getUint8(8), isKey: view.getUint8(9) === 1, width: view.getUint16(10),
      height: view.getUint16(12), time: Number(view.getBigUint64(16)),
    }
  }
}

export class Screen {
  constructor() {
    this.canvas = byID("video")
    this.context = this.canvas.getContext("2d")
    this.app = null
    this.decoder = null
    this.codec = null
    this.waitsForKey = true
    this.hasVideo = false
    this.counts = { units: 0, bytes: 0, keys: 0, shown: 0, skipped: 0 }
    this.recent = []
    this.fingers = new Map()
    this.moved = new Set()
    this.addFingers()
    byID("haptics").addEventListener("change", () => this.showHaptics())
    byID("resize").addEventListener("submit", (event) => {
      event.preventDefault()
      const scale = byID("scale").value
      command(`resize ${byID("width").value}x${byID("height").value}${scale ? ` scale ${scale}` : ""}`)
    })
    this.showStatistics()
    setInterval(() => this.showStatistics(), 1000)
  }

  get display() {
    const size = this.app?.display
    const width = number(size?.resolutionWidth, 800)
    const height = number(size?.resolutionHeight, 480)
    return { width: width > 0 ? width : 800, height: height > 0 ? height : 480 }
  }

  show(app) {
    this.app = app
    const hasVideo = Boolean(app?.services?.video)
    if (!hasVideo) this.stop()
    else if (!this.hasVideo) this.wake?.()
    this.hasVideo = hasVideo
    const { width, height } = this.display
    byID("car").style.setProperty("--aspect", `${width} / ${height}`)
    byID("car").classList.toggle("has-video", hasVideo)
    // What is being typed stays.
    if (this.shownSize !== `${width}x${height}`) {
      this.shownSize = `${width}x${height}`
      byID("width").value = width
      byID("height").value = height
    }
    this.showHaptics()
    this.showProblem()
  }

  // MARK: Video

  // A browser has few connections to a server: without video there is none for it.
  async follow(signal) {
    signal.addEventListener("abort", () => this.stream?.abort())
    while (!signal.aborted) {
      if (this.hasVideo) {
        this.stream = new AbortController()
        try {
          const answer = await request("/video?follow", { signal: this.stream.signal })
          if (!answer.ok) throw new Error(`status ${answer.status}`)
          this.waitsForKey = true
          for await (const unit of units(answer.body)) this.receive(unit)
        } catch (error) {
          if (error.name !== "AbortError") console.info(`no video: ${error.message}`)
        }
      }
      await new Promise((resolve) => {
        this.wake = resolve
        setTimeout(resolve, retryPause)
      })
    }
  }

  receive(unit) {
    this.counts.units++
    this.counts.bytes += unit.data.length
    if (unit.isKey) this.counts.keys++
    this.recent.push({ at: performance.now(), bytes: unit.data.length })
    if (this.recent.length > 1000) this.recent.shift()
    if (!("VideoDecoder" in window)) return
    if (this.decoder?.decodeQueueSize > mostWaiting) this.waitsForKey = true
    if (this.waitsForKey && !unit.isKey) {
      this.counts.skipped++
      return
    }
    if (unit.isKey) {
      const name = codec(unit.data)
      const isOther = name && name !== this.codec || this.session !== unit.session || unit.width !== this.width
        || unit.height !== this.height
      if (!this.decoder || this.decoder.state !== "configured" || isOther) this.configure(name ?? this.codec, unit)
      this.waitsForKey = false
    }
    if (this.decoder?.state !== "configured") return
    try {
      this.decoder.decode(
        new EncodedVideoChunk({ type: unit.isKey ? "key" : "delta", timestamp: unit.time, data: unit.data }))
    } catch (error) {
      this.fail(error)
    }
  }

  configure(name, unit) {
    this.closeDecoder()
    Object.assign(this, { codec: name, session: unit.session, width: unit.width, height: unit.height, problem: null })
    this.decoder = new VideoDecoder({ output: (frame) => this.draw(frame), error: (error) => this.fail(error) })
    try {
      this.decoder.configure({ codec: name ?? "avc1.42001f", optimizeForLatency: true })
    } catch (error) {
      this.fail(error)
    }
  }

  fail(error) {
    this.problem = `This browser can't decode the video (${this.codec}): ${error.message}`
    this.closeDecoder()
    this.showProblem()
  }

  closeDecoder() {
    if (this.decoder && this.decoder.state !== "closed") this.decoder.close()
    this.decoder = null
    this.waitsForKey = true
  }

  draw(frame) {
    if (this.canvas.width !== frame.displayWidth || this.canvas.height !== frame.displayHeight) {
      this.canvas.width = frame.displayWidth
      this.canvas.height = frame.displayHeight
    }
    this.context.drawImage(frame, 0, 0)
    frame.close()
    this.counts.shown++
    this.canvas.classList.add("shown")
    if (this.problem) this.problem = null
    if (!byID("problem").hidden) this.showProblem()
  }

  stop() {
    this.stream?.abort()
    this.closeDecoder()
    if (!this.canvas.classList.contains("shown")) return
    this.canvas.classList.remove("shown")
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height)
  }

  showProblem() {
    const { hasVideo } = this
    let problem = this.problem
    if (hasVideo && !("VideoDecoder" in window)) {
      problem = window.isSecureContext
        ? "This browser has no WebCodecs (VideoDecoder), which show the video: take Chromium or Chrome 94, Edge 94, "
          + "Safari 16.4, Firefox 130, or later."
        : "Browsers decode video only for pages of this machine or over HTTPS. Make a tunnel, "
          + `ssh -L ${location.port}:127.0.0.1:${location.port} ${location.hostname}, and open `
          + `http://127.0.0.1:${location.port}/ with the token.`
    } else if (hasVideo && !problem && !this.canvas.classList.contains("shown")) {
      problem = "The video has begun; waiting for a key frame."
    }
    const place = byID("problem")
    place.hidden = !problem || !hasVideo
    render(place, [problem], () => [
      h("p", {}, problem ?? ""),
      problem && this.counts.shown === 0 ? button("Take one picture", () => this.takePicture()) : null,
    ])
  }

  // Needs no decoder in the browser.
  async takePicture() {
    const answer = await request("/screenshot.png")
    const place = byID("problem")
    if (!answer.ok) {
      place.append(h("p", {}, (await answer.json()).cause ?? "There is no picture."))
      return
    }
    const bitmap = await createImageBitmap(await answer.blob())
    this.canvas.width = bitmap.width
    this.canvas.height = bitmap.height
    this.context.drawImage(bitmap, 0, 0)
    this.canvas.classList.add("shown")
    place.hidden = true
  }

  showStatistics() {
    const now = performance.now()
    this.recent = this.recent.filter((one) => one.at > now - 2000)
    const bits = this.recent.reduce((sum, one) => sum + one.bytes * 8, 0) / 2
    const video = this.app?.services?.video
    const rows = [
      ["Size", video ? `${this.canvas.width}×${this.canvas.height}` : "–"],
      ["Pictures", `${(this.recent.length / 2).toFixed(1)} a second`], ["Rate", `${Math.round(bits / 1000)} kbit/s`],
      ["Codec", video ? `${this.codec ?? "–"}` : "–"], ["Received", `${this.counts.units} (${this.counts.keys} key)`],
      ["Shown", `${this.counts.shown}`], ["Skipped", `${this.counts.skipped}`],
      ["Bytes", `${(this.counts.bytes / 1e6).toFixed(1)} MB`],
    ]
    render(byID("statistics"), rows, () => rows.map(([name, value]) => h(
      "div", {}, h("dt", {}, name), h("dd", {}, value))))
  }

  showHaptics() {
    const place = byID("rectangles")
    const isWanted = byID("haptics").checked
    const rectangles = isWanted ? list(this.app?.screen?.haptics?.hapticRectData, 200) : []
    const { width, height } = this.display
    render(place, [rectangles, width, height], () => rectangles.map((one) => {
      const rect = one?.rect ?? {}
      const element = h("div", {}, String(number(one?.id)))
      const percent = (value, whole) => `${number(value) / whole * 100}%`
      element.style.left = percent(rect.x, width)
      element.style.top = percent(rect.y, height)
      element.style.width = percent(rect.width, width)
      element.style.height = percent(rect.height, height)
      return element
    }))
  }

  // MARK: Fingers

  addFingers() {
    const { canvas } = this
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse" && event.button !== 0) return
      event.preventDefault()
      const used = new Set([...this.fingers.values()].map((finger) => finger.id))
      const id = [...Array(mostFingers).keys()].find((one) => !used.has(one))
      if (id === undefined) return
      canvas.setPointerCapture(event.pointerId)
      this.flush()
      this.fingers.set(event.pointerId, { id, ...this.place(event) })
      this.send("begin", event.pointerId)
    })
    canvas.addEventListener("pointermove", (event) => {
      const finger = this.fingers.get(event.pointerId)
      if (!finger) return
      const { x, y } = this.place(event)
      if (finger.x === x && finger.y === y) return
      Object.assign(finger, { x, y })
      if (this.moved.size === 0) requestAnimationFrame(() => this.flush())
      this.moved.add(event.pointerId)
    })
    for (const [name, kind] of [["pointerup", "end"], ["pointercancel", "cancel"]]) {
      canvas.addEventListener(name, (event) => {
        const finger = this.fingers.get(event.pointerId)
        if (!finger) return
        this.flush()
        if (kind === "end") Object.assign(finger, this.place(event))
        this.send(kind, event.pointerId)
        this.fingers.delete(event.pointerId)
      })
    }
    canvas.addEventListener("contextmenu", (event) => event.preventDefault())
  }

  // The pixel of the car's screen under a finger.
  place(event) {
    const box = this.canvas.getBoundingClientRect()
    const { width, height } = this.display
    const pixel = (offset, length, count) => Math.min(Math.max(Math.floor(offset / length * count), 0), count - 1)
    return {
      x: pixel(event.clientX - box.left, box.width, width), y: pixel(event.clientY - box.top, box.height, height),
    }
  }

  send(kind, pointer) {
    const { id, x, y } = this.fingers.get(pointer)
    command(`touch ${kind} ${id} ${x} ${y}`)
  }

  // Fingers that have moved at the same time are in one message.
  flush() {
    const fingers = [...this.moved].map((pointer) => this.fingers.get(pointer)).filter(Boolean)
    this.moved.clear()
    if (fingers.length) command(`touch move ${fingers.map(({ id, x, y }) => `${id} ${x} ${y}`).join(" ")}`)
  }
}
