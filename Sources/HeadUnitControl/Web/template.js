// What the app shows without video: the layout of its template, its menus, and what stands in front of them.

import { button, command, h, image, list, number, render, text } from "./page.js"

const byID = (id) => document.getElementById(id)
const fields = ["mainField1", "mainField2", "mainField3", "mainField4"]
const shortestSpeech = 3000
const speechTimeOfLetter = 60

const spoken = (chunks) => list(chunks, 20).map((chunk) => text(chunk?.text)).filter(Boolean).join(" ")

function softButtons(app, buttons, pressed = () => {}) {
  const shown = list(buttons, 40).filter((one) => Number.isInteger(one?.softButtonID))
  if (!shown.length) return null
  return h(
    "div",
    { class: "soft-buttons", role: "group", "aria-label": "Soft buttons" },
    shown.map((one) => {
      const label = one.type === "IMAGE" ? "" : text(one.text)
      const picture = one.type === "TEXT" ? null : image(app, one.image)
      return h(
        "button",
        {
          type: "button", class: one.isHighlighted === true ? "highlighted" : null,
          "data-key": `soft ${one.softButtonID}`,
          "aria-label": text(one.text) || text(one.image?.value) || `Soft button ${one.softButtonID}`,
          onclick: () => {
            command(`press soft-button ${one.softButtonID}`)
            pressed()
          },
        },
        picture, label)
    }))
}

// A text that the driver types.
function keyboard(label) {
  const field = h("input", { type: "text", maxlength: 500, "aria-label": label, placeholder: label, "data-key": "typed" })
  return h(
    "form",
    {
      class: "keyboard",
      onsubmit: (event) => {
        event.preventDefault()
        if (field.value.trim()) command(`keyboard ${field.value}`)
      },
    },
    field, h("button", { type: "submit" }, "Enter"))
}

function clockTime(seconds) {
  const whole = Math.max(Math.floor(seconds), 0)
  const two = (part) => String(part).padStart(2, "0")
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`
}

function choices(app, members) {
  const sets = list(members.interactionChoiceSetIDList, 100)
  const all = sets.flatMap((id) => list(app.screen?.choiceSets?.[id], 100))
  return h(
    "ul",
    { class: text(members.interactionLayout).startsWith("ICON") ? "choices tiles" : "choices" },
    all.slice(0, 200).filter((one) => Number.isInteger(one?.choiceID)).map((one) => h(
      "li", {},
      h(
        "button",
        {
          type: "button", "data-key": `choice ${one.choiceID}`, onclick: () => command(`choose ${one.choiceID}`),
        },
        image(app, one.image),
        h(
          "span", { class: "names" }, text(one.menuName),
          one.secondaryText ? h("small", {}, text(one.secondaryText)) : null,
          one.tertiaryText ? h("small", {}, text(one.tertiaryText)) : null),
        image(app, one.secondaryImage)))))
}

function slider(members) {
  const ticks = number(members.numTicks, 2)
  const footers = list(members.sliderFooter, 26)
  const footer = (position) => text(footers.length > 1 ? footers[position - 1] : footers[0])
  const output = h("output", {})
  const field = h("input", {
    type: "range", min: 1, max: ticks, step: 1, value: number(members.position, 1), "data-key": "slider",
    "aria-label": text(members.sliderHeader) || "Slider",
    oninput: () => {
      output.textContent = `${field.value} of ${ticks} ${footer(Number(field.value))}`
    },
  })
  output.textContent = `${field.value} of ${ticks} ${footer(Number(field.value))}`
  return [
    field, output,
    h("div", { class: "soft-buttons" }, button("Set", () => command(`slider ${field.value}`), { class: "highlighted" })),
  ]
}

const texts = (members, names) => names.map((name) => text(members[name])).filter(Boolean)
  .map((one, index) => h(index === 0 ? "h3" : "p", {}, one))

const overlays = {
  Alert: (app, members) => [
    image(app, members.alertIcon, "alert-icon"), texts(members, ["alertText1", "alertText2", "alertText3"]),
    members.progressIndicator === true ? h("progress", { "aria-label": "In progress" }) : null,
    softButtons(app, members.softButtons),
  ],
  SubtleAlert: (app, members) => [
    image(app, members.alertIcon, "alert-icon"), texts(members, ["alertText1", "alertText2"]),
    softButtons(app, members.softButtons),
  ],
  ScrollableMessage: (app, members) => [
    h("div", { class: "scrollable", tabindex: 0, role: "document" }, text(members.scrollableMessageBody, 4000)),
    softButtons(app, members.softButtons),
  ],
  PerformInteraction: (app, members) => [
    h("h3", {}, text(members.initialText)),
    members.interactionMode === "VR_ONLY" ? h("p", {}, "The driver answers by voice:") : null,
    /KEYBOARD|SEARCH/.test(text(members.interactionLayout)) ? keyboard("Type a text") : null,
    choices(app, members),
  ],
  Slider: (_, members) => [h("h3", {}, text(members.sliderHeader)), slider(members)],
}

export class Template {
  constructor() {
    this.current = null
    this.apps = []
    // The submenu that is open, 0 for the app's menu; null for none.
    this.menu = null
    this.maneuverOf = null
    this.timer = null
    setInterval(() => this.showTime(), 500)
  }

  note(line) {
    if (line.kind !== "rpc") return
    const members = line.params ?? {}
    if (line.type === "request" && line.dir === "app→hu") {
      const words = spoken(members.ttsChunks) || spoken(members.initialPrompt)
      if (words) this.speak(`${text(line.app, 60)} says: “${words}”`)
      if (line.function === "ShowAppMenu" && line.session === this.current?.session) {
        this.openMenu(Number.isInteger(members.menuID) ? members.menuID : 0)
      }
    }
    if (line.function === "AlertManeuver" && line.type === "response" && line.result === "SUCCESS") {
      this.maneuverOf = line.session
    }
  }

  speak(words) {
    byID("speech").textContent = words
    byID("speech").hidden = false
    clearTimeout(this.speech)
    const time = Math.max(words.length * speechTimeOfLetter, shortestSpeech)
    this.speech = setTimeout(() => (byID("speech").hidden = true), time)
  }

  openMenu(id) {
    this.menu = id
    this.show(this.current, this.apps)
    byID("overlay").querySelector("button")?.focus()
  }

  show(app, apps) {
    if (app?.session !== this.current?.session) this.menu = null
    this.current = app
    this.apps = apps
    this.timer = app?.screen?.timer ? { ...app.screen.timer, at: performance.now() } : null
    const place = byID("template")
    if (!app) {
      render(place, null, () => h(
        "div", { class: "empty" }, h("h2", {}, "No app is on the screen"),
        h("p", {}, "Start one with the address of the head unit, or open one of the list.")))
    } else {
      const { shows, screen, session } = app
      const { timer, overlays: _, choiceSets, ...rest } = screen ?? {}
      render(place, [session, shows, rest, this.maneuverOf === session], () => this.content(app))
    }
    this.showOverlay()
    this.showTime()
  }

  content(app) {
    const shows = app.shows ?? {}
    const screen = app.screen ?? {}
    const layout = text(shows.templateConfiguration?.template ?? screen.layout?.displayLayout, 50) || "DEFAULT"
    const hasMenu = list(screen.commands).length > 0 || list(screen.submenus).length > 0
    const side = { LEFT_ALIGNED: "left", RIGHT_ALIGNED: "right" }[text(shows.alignment)] ?? "center"
    const lines = fields.map((name) => text(shows[name]))
    const presets = list(shows.customPresets, 10)
    return [
      h(
        "div", { class: "title" }, image(app, { value: app.icon, imageType: "DYNAMIC" }, "icon"),
        h("strong", {}, text(shows.templateTitle) || text(app.name)), h("span", {}, text(shows.statusBar)),
        hasMenu
          ? h("button", { type: "button", "data-key": "menu", onclick: () => this.openMenu(0) },
            `☰ ${text(screen.properties?.menuTitle, 40) || "Menu"}`)
          : null),
      this.turn(app), this.maneuver(app),
      h(
        "div", { class: "body", "data-layout": layout },
        h("div", { class: "graphics" }, image(app, shows.graphic), image(app, shows.secondaryGraphic)),
        h(
          "div", { class: `texts ${side}` }, lines.map((line, index) => line
            ? h("p", { class: index === 0 ? "first" : null }, line) : null),
          shows.mediaTrack ? h("p", { class: "track" }, text(shows.mediaTrack)) : null),
        h("div", { class: "time", id: "time", hidden: true }, h("progress", { max: 1, value: 0 }), h("span", {})),
        layout === "NAV_KEYBOARD" ? keyboard("Type a destination") : null,
        softButtons(app, shows.softButtons),
        presets.length
          ? h("div", { class: "soft-buttons presets" }, presets.map((name, index) => button(
            text(name) || `Preset ${index + 1}`, () => command(`press PRESET_${index}`), { "data-key": `preset ${index}` })))
          : null),
    ]
  }

  // ShowConstantTBT and UpdateTurnList.
  turn(app) {
    const turn = app.screen?.turn
    const turns = list(app.screen?.turnList?.turnList, 50)
    if (!turn && !turns.length) return null
    const words = (names) => names.map((name) => text(turn?.[name])).filter(Boolean).join(" · ")
    return h(
      "div", { class: "turn" }, image(app, turn?.turnIcon),
      h(
        "div", { class: "names" }, h("strong", {}, words(["navigationText1", "navigationText2"])),
        h("small", {}, words(["eta", "timeToDestination", "totalDistance"])),
        turn?.maneuverComplete === true ? h("small", {}, "manoeuvre complete") : null),
      image(app, turn?.nextTurnIcon), softButtons(app, turn?.softButtons),
      turns.length
        ? h("details", {}, h("summary", {}, `${turns.length} turns`),
          h("ol", {}, turns.map((one) => h("li", {}, image(app, one?.turnIcon), text(one?.navigationText)))),
          softButtons(app, app.screen.turnList.softButtons))
        : null)
  }

  maneuver(app) {
    const maneuver = app.screen?.maneuver
    if (!maneuver || this.maneuverOf !== app.session) return null
    const close = () => {
      this.maneuverOf = null
      this.show(this.current, this.apps)
    }
    return h(
      "div", { class: "turn maneuver", role: "alert" }, h("strong", {}, spoken(maneuver.ttsChunks) || "Manoeuvre"),
      softButtons(app, maneuver.softButtons, close), button("Hide", close))
  }

  showTime() {
    const place = byID("time")
    if (!place) return
    place.hidden = !this.timer
    if (!this.timer) return
    const { seconds, end, rate, at } = this.timer
    const present = Math.max(number(seconds) + number(rate) * (performance.now() - at) / 1000, 0)
    const position = end > 0 ? Math.min(present, end) : present
    place.firstChild.hidden = !(end > 0)
    if (end > 0) place.firstChild.value = position / end
    place.lastChild.textContent = clockTime(position) + (end > 0 ? ` / ${clockTime(end)}` : "")
  }

  // MARK: In front of the template

  showOverlay() {
    const place = byID("overlay")
    const owner = this.apps.find((app) => Object.keys(app.screen?.overlays ?? {}).length > 0)
    const name = ["Alert", "SubtleAlert", ...Object.keys(overlays)].find((one) => owner?.screen.overlays[one])
    const isMenu = !name && this.menu !== null && this.current
    place.hidden = !name && !isMenu
    // Behind it nothing can be used.
    byID("template").inert = byID("stage").inert = !place.hidden
    if (name) {
      const members = owner.screen.overlays[name]
      const { images, choiceSets } = owner.screen
      render(place, [owner.session, name, members, images, choiceSets], () => h(
        "div", { class: `dialog ${name}`, role: name.endsWith("Alert") ? "alertdialog" : "dialog", "aria-label": name },
        h("div", { class: "dialog-title" }, h("small", {}, `${name} of ${text(owner.name, 60)}`),
          button("×", () => command("dismiss"), { class: "close", "aria-label": "Close without an answer", "data-key": "dismiss" })),
        overlays[name](owner, members)))
    } else if (isMenu) {
      const { commands, submenus, images, properties } = this.current.screen
      render(place, ["menu", this.menu, this.current.session, commands, submenus, images, properties],
        () => this.menuContent())
    } else {
      render(place, null, () => [])
    }
  }

  menuContent() {
    const { commands, submenus, properties } = this.current.screen
    const app = this.current
    const close = () => {
      this.menu = null
      this.showOverlay()
      byID("template").querySelector("[data-key=menu]")?.focus()
    }
    const parent = list(submenus).find((one) => one.menuID === this.menu)
    const entries = [
      ...list(commands).filter((one) => one.menuParams).map((one) => ({
        parent: number(one.menuParams.parentID), position: number(one.menuParams.position, 1000),
        name: text(one.menuParams.menuName), more: text(one.menuParams.secondaryText), icon: one.cmdIcon,
        key: `command ${one.cmdID}`, press: () => {
          command(`menu ${number(one.cmdID)}`)
          close()
        },
      })),
      ...list(submenus).map((one) => ({
        parent: number(one.parentID), position: number(one.position, 1000), name: `${text(one.menuName)} ›`,
        more: text(one.secondaryText), icon: one.menuIcon, key: `submenu ${one.menuID}`,
        press: () => this.openMenu(one.menuID),
      })),
    ].filter((one) => one.parent === this.menu).sort((one, other) => one.position - other.position)
    const voices = this.menu === 0 ? list(commands).filter((one) => !one.menuParams) : []
    return h(
      "div", { class: "dialog menu", role: "dialog", "aria-label": "Menu" },
      h("h3", {}, parent ? text(parent.menuName) : text(properties?.menuTitle, 40) || `Menu of ${text(app.name, 60)}`),
      h("ul", { class: "choices" }, entries.map((one) => h("li", {}, h(
        "button", { type: "button", "data-key": one.key, onclick: one.press }, image(app, one.icon),
        h("span", { class: "names" }, one.name, one.more ? h("small", {}, one.more) : null))))),
      voices.length
        ? [h("h3", {}, "Spoken"), h("ul", { class: "choices" }, voices.map((one) => h("li", {}, button(
          text(one.vrCommands?.[0]), () => {
            command(`menu ${number(one.cmdID)}`)
            close()
          }, { "data-key": `command ${one.cmdID}` }))))]
        : null,
      h("div", { class: "soft-buttons" },
        parent ? button("Back", () => this.openMenu(number(parent.parentID))) : null, button("Close", close)))
  }
}
