// Connects the page with the head unit, again and again, and shows which apps there are.

import { button, command, h, image, list, render, request, say, takeToken, text } from "./page.js"
import { Conversation } from "./conversation.js"
import { Driver } from "./driver.js"
import { Screen } from "./screen.js"
import { Template } from "./template.js"

const byID = (id) => document.getElementById(id)
const conversation = new Conversation()
const driver = new Driver()
const screen = new Screen()
const template = new Template()
const longestLine = 8 << 20
const keptAtStart = 300

let lastLine = null
let streams = new AbortController()
let wake = () => {}

function showConnection(state, label) {
  byID("connection").className = state
  byID("connection").textContent = label
  byID("welcome").hidden = state !== "refused"
}

// MARK: The apps

function showApps(apps, current) {
  const tiles = apps.map((app) => {
    const name = text(app.name, 100)
    const isOnScreen = app === current
    const services = Object.keys(app.services ?? {}).slice(0, 4).join(", ") || "no stream"
    return h(
      "li",
      { class: isOnScreen ? "tile current" : "tile" },
      h(
        "button",
        {
          type: "button", class: "open", "data-key": `open ${app.session}`, "aria-current": isOnScreen ? "true" : null,
          onclick: () => command(`activate ${app.session}`),
        },
        image(app, { value: app.icon, imageType: "DYNAMIC" }, "icon") ??
          h("span", { class: "icon letter", "aria-hidden": "true" }, name.slice(0, 1).toUpperCase() || "?"),
        h(
          "span",
          { class: "names" },
          h("strong", {}, name),
          h("small", {}, `${app.session} · ${text(app.level, 20)} · ${services}`),
          app.violations > 0 ? h("small", { class: "bad" }, `${app.violations} violations`) : null)),
      app.level !== "NONE"
        ? button("×", () => command(`close ${app.session}`), {
          class: "close", "aria-label": `Close ${name}`, "data-key": `close ${app.session}`,
        })
        : null)
  })
  return tiles.length ? tiles : [h("li", { class: "hint" }, "No app is registered yet.")]
}

// An error of the page is none of the connection.
function show(state) {
  try {
    showParts(state)
  } catch (error) {
    console.error(error)
  }
}

function showParts(state) {
  const apps = list(state.apps, 32)
  const order = ["FULL", "LIMITED"]
  const current = order.map((level) => apps.find((app) => app.level === level)).find(Boolean) ?? null
  const tiles = apps.map((app) => [
    app.session, app.name, app.level, app.icon, app.violations, Object.keys(app.services ?? {}),
    app.screen?.images?.[app.icon],
  ])
  render(byID("apps"), [tiles, current?.session], () => showApps(apps, current))
  screen.show(current)
  // An alert may be of an app that is not on the screen.
  template.show(current, apps)
  driver.show(current)
}

let isRefreshing = false
let isStale = false
async function refresh() {
  isStale = true
  if (isRefreshing) return
  isRefreshing = true
  try {
    while (isStale) {
      isStale = false
      const { signal } = streams
      const answer = await request("/state", { signal })
      const state = answer.ok ? await answer.json() : null
      // It may be of a head unit that has gone meanwhile.
      if (state && !signal.aborted) show(state)
      // Many lines at once are one change.
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
  } catch {
    // The connection of the log ends, too.
  } finally {
    isRefreshing = false
  }
}

// MARK: The connection

function note(text) {
  let line
  try {
    line = JSON.parse(text)
  } catch {
    return
  }
  if (!Number.isInteger(line.seq)) return
  const isNew = lastLine !== null && line.seq > lastLine.followed
  if (lastLine) lastLine.number = line.seq
  try {
    conversation.add(line)
    driver.note(line)
    if (isNew) template.note(line)
  } catch (error) {
    console.error(error)
  }
  if (line.kind !== "media" && line.kind !== "output") refresh()
}

async function follow(first, signal) {
  const answer = await request(`/log?since=${first}&follow`, { signal })
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + value).split("\n")
    rest = lines.pop()
    if (rest.length > longestLine) rest = ""
    for (const line of lines) note(line)
  }
}

async function connect() {
  const answer = await request("/state")
  if (answer.status === 401) {
    showConnection("refused", "the token is missing or another one")
    await new Promise((resolve) => (wake = resolve))
    return
  }
  if (!answer.ok) throw new Error(`status ${answer.status}`)
  const state = await answer.json()
  if (lastLine === null || state.seq < lastLine.number) {
    conversation.clear()
    lastLine = { number: Math.max(state.seq - keptAtStart, 0), followed: state.seq }
  }
  show(state)
  showConnection("connected", "connected")
  streams = new AbortController()
  const { signal } = streams
  screen.follow(signal)
  try {
    await follow(lastLine.number, signal)
  } finally {
    streams.abort()
  }
}

async function run() {
  for (;;) {
    if (document.visibilityState === "hidden") {
      // A browser has few connections to a server; a hidden page needs none.
      await new Promise((resolve) => (wake = resolve))
    }
    try {
      await connect()
    } catch (error) {
      if (error.name !== "AbortError") console.info(`no head unit: ${error.message}`)
    }
    if (document.visibilityState === "hidden") continue
    if (byID("connection").className === "connected") {
      // Its lines are not those of the next one.
      lastLine = null
      driver.forget()
      show({ apps: [] })
      showConnection("lost", "the head unit has gone; waiting for it")
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") streams.abort()
  else wake()
})
window.addEventListener("hashchange", () => {
  takeToken()
  wake()
})
byID("welcome").addEventListener("submit", (event) => {
  event.preventDefault()
  takeToken(byID("token").value.trim())
  say("")
  wake()
})

takeToken()
run()
