// Elements, and requests to the head unit. What comes from apps becomes text nodes and nothing else.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value)
    else element.setAttribute(name, value === true ? "" : value)
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false))
  return element
}

export const button = (label, press, attributes = {}) =>
  h("button", { type: "button", "data-key": label, onclick: press, ...attributes }, label)

export const text = (value, limit = 500) => (typeof value === "string" ? value.slice(0, limit) : "")
export const list = (value, limit = 200) => (Array.isArray(value) ? value.slice(0, limit) : [])
export const number = (value, fallback = 0) => (Number.isFinite(value) ? value : fallback)

// Builds the content of an element again if what it shows has changed; the focus stays where it was.
const shown = new WeakMap()
export function render(container, value, build) {
  const key = JSON.stringify(value)
  if (shown.get(container) === key) return
  shown.set(container, key)
  const focus = container.contains(document.activeElement) ? document.activeElement.dataset.key : null
  container.replaceChildren(...[build()].flat().filter(Boolean))
  if (focus) container.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus()
}

let token = ""

// The token stands behind the #, which browsers send nowhere; it is then kept for this tab alone.
export function takeToken(given) {
  let found = given ?? ""
  if (!found && location.hash.length > 1) {
    try {
      found = decodeURIComponent(location.hash.slice(1))
    } catch {
      found = location.hash.slice(1)
    }
    history.replaceState(null, "", location.pathname)
  }
  if (found) sessionStorage.setItem("token", found)
  token = sessionStorage.getItem("token") ?? ""
}

export const request = (path, options = {}) =>
  fetch(path, { ...options, cache: "no-store", headers: { Authorization: `Bearer ${token}` } })

export function say(message, isBad = false) {
  const place = document.getElementById("message")
  place.textContent = text(message, 400)
  place.classList.toggle("bad", isBad)
}

// Commands arrive in the order in which they were given.
let last = Promise.resolve()
export function command(line) {
  const one = line.replace(/\s+/g, " ").trim()
  last = last.then(async () => {
    try {
      const answer = await request("/command", { method: "POST", body: one })
      const body = await answer.text()
      if (one === "help") return body
      const result = JSON.parse(body)
      const isDone = result.result === "done"
      if (!one.startsWith("touch ") || !isDone) say(isDone ? `${one}: done` : `${one}: ${result.cause}`, !isDone)
    } catch {
      say(`${one}: the head unit does not answer`, true)
    }
    return null
  })
  return last
}

// Images of apps, by their numbers, which other contents do not get.
const images = new Map()
const mostImages = 200

function source(id) {
  if (!images.has(id)) {
    if (images.size >= mostImages) {
      const [oldest, url] = images.entries().next().value
      images.delete(oldest)
      url.then((known) => known && URL.revokeObjectURL(known))
    }
    const url = request(`/file?number=${id}`)
      .then((answer) => (answer.ok ? answer.blob() : null))
      .then((blob) => blob && URL.createObjectURL(blob))
      .catch(() => null)
    images.set(id, url)
  }
  return images.get(id)
}

// The image that a member of an RPC names; null if there is none.
export function image(app, member, className = "") {
  const name = text(member?.value)
  if (!name) return null
  const id = app.screen?.images?.[name]
  if (member.imageType === "STATIC" || id === undefined) {
    const reason = member.imageType === "STATIC" ? "an icon of the car" : "not uploaded"
    return h("span", { class: `missing ${className}`, title: `${name}: ${reason}` }, name)
  }
  const element = h("img", { class: className, alt: name, title: name })
  source(id).then((url) => url && (element.src = url))
  return element
}
