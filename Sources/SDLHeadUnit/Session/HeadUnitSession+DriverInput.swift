import SDLMessages

/// Buttons, menus and choices. As with SDL Core, only what the app has asked for reaches it.
extension HeadUnitSession {
  private static let buttonLevels: [HMILevel] = [.full, .limited]
  private static let anyButNone: [HMILevel] = [.full, .limited, .background]

  /// The driver uses something of the app. An input that the app has not asked for is reported, with the reason.
  public mutating func take(_ input: DriverInput, now: Duration) -> [Action] {
    guard let app else { return [] }
    do throws(DriverInputFault) {
      switch input {
      case .button(let name): try press(name, app)
      case .softButton(let id): try press(softButton: id, app, now: now)
      case .menu(let text): try choose(command: text, app)
      case .choice(let id): try choose(id, app, now: now)
      }
    } catch {
      report(.driverInputWithoutEffect(input, error))
    }
    return takeActions()
  }

  private mutating func press(_ name: String, _ app: RegisteredApp) throws(DriverInputFault) {
    guard app.subscribedButtons.contains(name) else {
      throw .notSubscribed(to: name, subscribed: app.subscribedButtons.sorted())
    }
    // SDL Core looks for an app at FULL for OK, and at FULL or LIMITED for the others.
    try check(app, name == "OK" ? [.full] : Self.buttonLevels)
    sendPress(["buttonName": .string(name)])
    report(.driverInput(.button(name)))
  }

  private mutating func press(
    softButton id: Int, _ app: RegisteredApp, now: Duration
  ) throws(DriverInputFault) {
    let shown = AppInteraction.Layer.allCases.compactMap { app.interactions[$0] }
    let all = shown.flatMap(\.softButtons) + app.softButtons.values.flatMap(\.self)
    guard all.contains(where: { $0.id == id }) else {
      let ids = Set(all.map(\.id)).sorted()
      throw .noSoftButton(id, available: ids.map { id in Self.label(id, all.first { $0.id == id }?.text) })
    }
    try check(app, Self.anyButNone)
    sendPress(["buttonName": .string("CUSTOM_BUTTON"), "customButtonID": .integer(id)])
    report(.driverInput(.softButton(id)))
    for interaction in shown {
      guard let button = interaction.softButtons.first(where: { $0.id == id }) else { continue }
      switch button.action {
      case .keepContext: timers.arm(interaction.layer.timer, at: now + interaction.duration)
      case .close: endInteraction(interaction.layer, .success, now: now)
      case .stealFocus:
        endInteraction(interaction.layer, .success, now: now)
        if app.status.level != .full { openApp(now: now) }
      }
      return
    }
  }

  private mutating func choose(command text: String, _ app: RegisteredApp) throws(DriverInputFault) {
    guard let (id, command) = app.menu.command(text) else {
      throw .noCommand(
        text, available: app.menu.commands.sorted { $0.key < $1.key }.map { Self.label($0.key, $0.value.name) })
    }
    try check(app, command.isSpoken ? Self.anyButNone : [.full])
    // The app learns that the menu was in front of its screen, and that it has gone.
    sendContext(command.isSpoken ? .voiceSession : .menu, over: app.status)
    notify(.onCommand, ["cmdID": .integer(id), "triggerSource": .string(Self.triggerSource(command.isSpoken))])
    sendContext(app.status.systemContext, over: app.status)
    report(.driverInput(.menu(text)))
  }

  private mutating func choose(_ id: Int, _ app: RegisteredApp, now: Duration) throws(DriverInputFault) {
    guard let interaction = app.interactions[.overlay], interaction.function == .performInteraction else {
      throw .nothingToChoose
    }
    guard interaction.choices.contains(id) else {
      throw .noChoice(id, available: interaction.choices.sorted())
    }
    report(.driverInput(.choice(id)))
    let members: JSONObject = [
      "choiceID": .integer(id), "triggerSource": .string(Self.triggerSource(interaction.isSpoken)),
    ]
    endInteraction(.overlay, .success, members, now: now)
  }

  private func check(_ app: RegisteredApp, _ levels: [HMILevel]) throws(DriverInputFault) {
    guard let level = app.status.level, levels.contains(level) else {
      throw .level(app.status.level, allowed: levels)
    }
  }

  /// Down, up, and the press that they make.
  private mutating func sendPress(_ button: JSONObject) {
    for mode in ["BUTTONDOWN", "BUTTONUP"] {
      notify(.onButtonEvent, button.merging(["buttonEventMode": .string(mode)]) { $1 })
    }
    notify(.onButtonPress, button.merging(["buttonPressMode": .string("SHORT")]) { $1 })
  }

  private mutating func sendContext(_ context: SystemContext, over status: HMIStatus) {
    var status = status
    status.systemContext = context
    notify(.onHMIStatus, status.json)
    report(.systemContextSent(status))
  }

  /// `TriggerSource` of the RPC specification.
  private static func triggerSource(_ isSpoken: Bool) -> String { isSpoken ? "VR" : "MENU" }

  private static func label(_ id: Int, _ name: String?) -> String {
    name.map { $0.isEmpty ? "\(id)" : "\(id) \"\($0)\"" } ?? "\(id)"
  }
}
