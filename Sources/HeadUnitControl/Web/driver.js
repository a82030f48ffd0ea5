// What the driver and the car do, by the head unit's commands.

import { button, command, h, list, render, say, text } from "./page.js"

const byID = (id) => document.getElementById(id)
const keys = [
  ["OK", "PLAY_PAUSE", "SEEKLEFT", "SEEKRIGHT", "TUNEUP", "TUNEDOWN"],
  [
    "NAV_CENTER_LOCATION", "NAV_ZOOM_IN", "NAV_ZOOM_OUT", "NAV_PAN_UP", "NAV_PAN_DOWN", "NAV_PAN_LEFT", "NAV_PAN_RIGHT",
    "NAV_TILT_TOGGLE", "NAV_ROTATE_CLOCKWISE", "NAV_ROTATE_COUNTERCLOCKWISE", "NAV_HEADING_TOGGLE",
  ],
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((index) => `PRESET_${index}`),
]
const levels = ["full", "limited", "background", "none"]
const switches = [
  ["phone-call", "Phone call"], ["emergency", "Emergency"], ["embedded-navi", "Car's navigation"],
  ["distraction", "Distraction"],
]
const languages = [
  "EN-US", "EN-GB", "DE-DE", "FR-FR", "ES-ES", "ES-MX", "IT-IT", "NL-NL", "PL-PL", "PT-BR", "SV-SE", "TR-TR", "RU-RU",
  "ZH-CN", "JA-JP", "KO-KR", "AR-SA",
]
const vehicleData = [
  "speed", "rpm", "fuelRange", "instantFuelConsumption", "externalTemperature", "vin", "prndl", "gearStatus",
  "tirePressure", "odometer", "beltStatus", "bodyInformation", "deviceStatus", "driverBraking", "wiperStatus",
  "headLampStatus", "engineTorque", "accPedalPosition", "steeringWheelAngle", "engineOilLife",
  "electronicParkBrakeStatus", "turnSignal", "fuelLevel",
]
const roads = [
  ["a bad Wi-Fi", "up=600kbit down=2mbit delay=80ms jitter=40ms"],
  ["a stalling one", "up=2mbit loss-stall=800ms/5s"], ["a slow phone", "up=200kbit delay=200ms"],
]

const label = (name) => name.replace(/^NAV_/, "").replaceAll("_", " ").toLowerCase()

export class Driver {
  constructor() {
    this.isOn = new Map()
    this.history = []
    this.app = null
    this.addLevels()
    this.addCar()
    this.addCommands()
  }

  show(app) {
    this.app = app
    const subscribed = list(app?.buttons, 40).map((name) => text(name, 60))
    // Every app has those of its own screen; a head unit has more keys than most apps want.
    render(byID("keys"), [subscribed], () => {
      const [wanted, others] = [keys.flat().filter((name) => subscribed.includes(name)), keys.flat()
        .filter((name) => !subscribed.includes(name))]
      const press = (name) => button(
        label(name), () => command(`press ${name}${byID("long").checked ? " long" : ""}`), { "data-key": name, title: name })
      return [
        h("div", { class: "row" }, wanted.length ? wanted.map(press) : h("span", { class: "hint" },
          "The app has subscribed to no key.")),
        h("details", {}, h("summary", {}, "Keys that it has not subscribed to"), h("div", { class: "row" }, others.map(press))),
      ]
    })
    for (const one of byID("levels").children) {
      one.setAttribute("aria-pressed", String(app?.level === one.dataset.key.toUpperCase()))
    }
  }

  // The next head unit begins with nothing switched on.
  forget() {
    for (const [name] of switches) this.turn(name, false)
  }

  turn(name, isOn) {
    this.isOn.set(name, isOn)
    byID("switches").querySelector(`[data-key="${name}"]`).setAttribute("aria-pressed", String(isOn))
  }

  // What others have switched shows here, too.
  note(line) {
    const [name, state] = text(line.text).split(" ")
    if (line.type === "command" && line.result === "done" && switches.some(([one]) => one === name)) {
      this.turn(name, state === "on")
    }
    if (text(line.text).startsWith("without effect:")) say(text(line.text), true)
  }

  addLevels() {
    byID("levels").append(...levels.map((level) => button(level, () => command(`level ${level}`))))
    byID("switches").append(...switches.map(([name, title]) => button(
      title, () => command(`${name} ${this.isOn.get(name) ? "off" : "on"}`), { "data-key": name, "aria-pressed": "false" })))
    byID("sound").append(...["audible", "attenuated", "not-audible"].map((state) => button(
      state, () => command(`audio-streaming ${state}`))))
    const faults = [
      ["Ignition off", "ignition-off"], ["Cut the connection", "cut"], ["Stall for 3 s", "stall 3"],
      ["End video", "end-video"], ["End sound", "end-audio"], ["Refuse the next video", "refuse"],
    ]
    byID("faults").append(...faults.map(([title, line]) => button(title, () => command(line))))
  }

  addCar() {
    const submit = (id, body) => byID(id).addEventListener("submit", (event) => {
      event.preventDefault()
      body()
    })
    byID("reading-names").append(...vehicleData.map((name) => h("option", { value: name })))
    submit("reading", () => command(`vehicle ${byID("reading-name").value} ${byID("reading-value").value}`))
    byID("speed").addEventListener("change", () => command(`vehicle speed ${byID("speed").value}`))
    byID("speed").addEventListener("input", () => (byID("speed-value").textContent = `${byID("speed").value} km/h`))
    byID("gear").append(...["PARK", "REVERSE", "NEUTRAL", "DRIVE"].map((gear) => h("option", {}, gear)))
    byID("gear").addEventListener("change", () => command(`vehicle prndl ${byID("gear").value}`))
    submit("position", () => command(
      `gps ${byID("latitude").value} ${byID("longitude").value} ${byID("heading").value}`))
    byID("language").append(...languages.map((one) => h("option", {}, one)))
    byID("language").addEventListener("change", () => command(`language ${byID("language").value}`))
    byID("roads").append(...roads.map(([name, words]) => button(name, () => {
      byID("road-words").value = words
      command(`shape ${words}`)
    })), button("the network's own", () => command("shape off")))
    submit("road", () => command(`shape ${byID("road-words").value || "off"}`))
  }

  addCommands() {
    const field = byID("command")
    let at = 0
    byID("command-form").addEventListener("submit", async (event) => {
      event.preventDefault()
      const line = field.value.trim()
      if (!line) return
      this.history = [...this.history.filter((one) => one !== line), line].slice(-50)
      at = this.history.length
      field.value = ""
      await command(line)
    })
    field.addEventListener("keydown", (event) => {
      if (!["ArrowUp", "ArrowDown"].includes(event.key)) return
      at = Math.min(Math.max(at + (event.key === "ArrowUp" ? -1 : 1), 0), this.history.length)
      field.value = this.history[at] ?? ""
      event.preventDefault()
    })
    byID("help").addEventListener("toggle", async () => {
      const place = byID("help").querySelector("pre")
      if (byID("help").open && !place.textContent) place.textContent = (await command("help")) ?? ""
    })
  }
}
