// The conversation with the apps, as its last lines.

import { h, text } from "./page.js"

const byID = (id) => document.getElementById(id)
const mostRows = 600
const longestText = 20_000
const longestSearched = 4000
const groups = {
  rpc: "RPCs", frame: "Frames", state: "States", event: "Events", violation: "Violations", media: "Media",
  other: "Others",
}
const group = (line) => (line.kind in groups ? line.kind : "other")

function headline(line) {
  const name = text(line.function ?? line.type ?? line.kind, 80)
  const more = line.kind === "rpc"
    ? line.type === "response"
      ? ["response", text(line.result, 40), text(line.cause, 200)]
      : [text(JSON.stringify(line.params ?? {}), 200)]
    : line.kind === "media"
      ? [text(line.service, 20), `${Number(line.messages)} messages, ${Number(line.bytes)} bytes`]
      : [text(line.service, 20), text(line.text, 300), text(line.result, 20), text(line.cause, 200)]
  return [name, more.filter(Boolean).join(" · ")]
}

// A tree of members, each of which can be unfolded.
function members(value, depth = 0) {
  if (value === null || typeof value !== "object" || depth > 12) {
    return h("code", {}, text(JSON.stringify(value) ?? "", longestText))
  }
  return h("ul", {}, Object.entries(value).slice(0, 300).map(([name, member]) => {
    const isTree = member !== null && typeof member === "object" && Object.keys(member).length > 0
    if (!isTree) return h("li", {}, h("b", {}, text(name, 100)), " ", members(member, depth + 1))
    const count = Object.keys(member).length
    const tree = h("details", {}, h("summary", {}, h("b", {}, text(name, 100)), ` ${count}`))
    const unfold = () => {
      if (tree.open && tree.children.length === 1) tree.append(members(member, depth + 1))
    }
    tree.addEventListener("toggle", unfold)
    if (depth < 2 && count <= 12) {
      tree.open = true
      unfold()
    }
    return h("li", {}, tree)
  }))
}

export class Conversation {
  constructor() {
    this.place = byID("lines")
    this.waiting = []
    this.words = ""
    this.hidden = new Set(["frame", "media"])
    this.violations = 0
    byID("kinds").append(...Object.entries(groups).map(([name, title]) => h(
      "button", {
        type: "button", "aria-pressed": String(!this.hidden.has(name)), onclick: (event) => {
          if (!this.hidden.delete(name)) this.hidden.add(name)
          event.target.setAttribute("aria-pressed", String(!this.hidden.has(name)))
          this.filter()
        },
      }, title)))
    byID("search").addEventListener("input", () => {
      this.words = byID("search").value.toLowerCase()
      this.filter()
    })
    byID("clear").addEventListener("click", () => this.clear())
  }

  clear() {
    this.waiting = []
    this.violations = 0
    this.place.replaceChildren()
    this.showCount()
  }

  add(line) {
    if (this.waiting.length === 0) setTimeout(() => this.flush(), 50)
    this.waiting.push(line)
    if (this.waiting.length > mostRows) this.waiting.shift()
  }

  flush() {
    const isAtEnd = this.place.scrollTop + this.place.clientHeight > this.place.scrollHeight - 40
    this.place.append(...this.waiting.map((line) => this.row(line)))
    this.waiting = []
    while (this.place.children.length > mostRows) this.place.firstChild.remove()
    if (isAtEnd && !byID("pause").checked) this.place.scrollTop = this.place.scrollHeight
    this.showCount()
  }

  showCount() {
    byID("count").textContent = `${this.place.children.length} lines`
      + (this.violations ? `, ${this.violations} violations` : "")
    byID("count").classList.toggle("bad", this.violations > 0)
  }

  row(line) {
    const [name, more] = headline(line)
    const kind = group(line)
    if (kind === "violation") this.violations++
    const isFailed = line.kind === "rpc" && line.type === "response" && line.params?.success === false
      || line.result === "failed"
    const arrow = { "app→hu": "→", "hu→app": "←", driver: "☞", test: "✓" }[line.dir] ?? ""
    const from = { "app→hu": "from the app", "hu→app": "to the app", driver: "the driver", test: "the test" }[line.dir]
    const row = h(
      "details", { class: `line ${kind}${isFailed ? " failed" : ""}` },
      h(
        "summary", {}, h("time", {}, Number(line.t).toFixed(3)),
        h("span", { class: "session" }, Number.isInteger(line.session) ? String(line.session) : ""),
        h("span", { class: "arrow", title: from, role: from ? "img" : null, "aria-label": from }, arrow), h("b", {}, name),
        h("span", { class: "more" }, more)))
    row.searched = `${name} ${more} ${text(line.app)} ${JSON.stringify(line.params ?? {}).slice(0, longestSearched)}`.toLowerCase()
    row.kind = kind
    row.hidden = !this.isShown(row)
    row.addEventListener("toggle", () => {
      if (row.open && row.children.length === 1) {
        const { seq, t, kind: _, dir, ...rest } = line
        row.append(members(rest))
      }
    })
    return row
  }

  isShown(row) {
    return !this.hidden.has(row.kind) && row.searched.includes(this.words)
  }

  filter() {
    for (const row of this.place.children) row.hidden = !this.isShown(row)
    this.place.scrollTop = this.place.scrollHeight
  }
}
