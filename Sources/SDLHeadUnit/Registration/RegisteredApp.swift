import SDLMessages
import SDLWire

/// A registered app: its HMI status, its templates and overlays, and the driver's input to them.
struct RegisteredApp: Sendable {
  private static let anyButNone: [HMILevel] = [.full, .limited, .background]

  /// ChangeRegistration may change the names.
  private(set) var identity: AppIdentity
  let types: [AppHMIType]
  let rpcVersion: RPCVersion
  private let isMedia: Bool
  /// Those of its speech and of its texts.
  private var languages: Set<String>
  private let registeredAt: Duration
  /// As sent to the app.
  private(set) var status = HMIStatus.closed
  /// The driver's choice, before events restrict it.
  private var chosenStatus = HMIStatus.closed
  /// The status before the app's connection broke, until it is opened.
  private var formerStatus: HMIStatus?
  /// When the level became NONE; nil if it was NONE from the start, or is another one.
  private var closedAt: Duration?
  private var templates: AppTemplates
  private var interactions = AppInteractions()
  private var speech = AppSpeech()
  private var buttons = HeldButtons()
  private var vehicle = VehicleData()
  /// Whether the app was asked to fetch a policy (OnSystemRequest), and may return it.
  private var isPolicyRequested = false

  /// - Parameter hasIcon: whether an icon of the app is still there.
  init(
    _ request: RegisterAppInterface, _ identity: AppIdentity, languages: Set<String>, rpcVersion: RPCVersion,
    hasIcon: Bool, now: Duration
  ) {
    self.languages = languages
    self.identity = identity
    types = request.appTypes
    isMedia = request.isMediaApplication
    self.rpcVersion = rpcVersion
    registeredAt = now
    templates = AppTemplates(isMedia: isMedia, isNavigation: types.contains(.navigation), hasIcon: hasIcon)
  }

  private var role: AppSummary.Role {
    types.contains(.navigation) ? .navigation : types.contains(.projection) ? .projection : .other
  }

  var hasIcon: Bool { templates.hasIcon }

  var mayStream: Bool { role != .other }

  /// Whether SDL Core would not have answered RegisterAppInterface yet, which takes it a moment; nobody has opened the app.
  func isBeingRegistered(at now: Duration) -> Bool {
    status.level == HMILevel.none && closedAt == nil && now - registeredAt < CoreLimits.registration
  }

  /// Whether the app may stream at its status.
  func allows(_ service: ServiceType) -> Bool {
    service == .audio ? status.allowsAudio(isMedia: isMedia) && status.isAudible : status.allowsVideo
  }

  /// The state of the app to keep after a broken connection; nil if there is none.
  var saved: SavedApp? {
    templates.saved(id: identity.id, status: chosenStatus, subscribedVehicleData: vehicle.subscribed)
  }

  /// Restores the kept state. SDL Core restores FULL and LIMITED even if nothing else opens the app.
  mutating func resume(_ saved: SavedApp, _ context: inout ServedContext) {
    vehicle.resume(saved.subscribedVehicleData)
    templates.resume(saved, &context)
    guard saved.status.allowsScreen, chosenStatus.level == HMILevel.none else { return }
    formerStatus = saved.status
    if context.configuration.activation == nil {
      context.timers.arm(.activation, at: context.now + CoreLimits.resumption)
    }
  }

  func summary(isStreaming: Bool, _ context: ServedContext) -> AppSummary {
    AppSummary(
      id: context.sessionID, role: role, level: chosenStatus.level, isStreaming: isStreaming,
      shownUntil: interactions.deadlines(context.timers))
  }

  // MARK: HMI status

  /// Opens the app. Only navigation and projection apps may stream video; projection apps are audible only if they are
  /// media apps as well.
  mutating func open(_ context: inout ServedContext) {
    let opened = context.screen.activationStatus
    let isAudible = isMedia || types.contains(.navigation)
    apply(
      HMIStatus(
        level: opened.level, audioStreamingState: isAudible ? opened.audioStreamingState : .notAudible,
        videoStreamingState: mayStream ? opened.videoStreamingState : .notStreamable), &context)
  }

  /// Opens the app after its registration, as soon as no other app has the screen, at the level that it had before its
  /// connection broke.
  mutating func openAutomatically(_ context: inout ServedContext) {
    context.screen.isActivationDeferred = context.screen.isTaken
    guard !context.screen.isTaken else { return }
    if let formerStatus, formerStatus.level == .limited { apply(formerStatus, &context) } else { open(&context) }
  }

  /// Another app is brought to the screen.
  mutating func giveWay(to other: AppSummary.Role, _ context: inout ServedContext) {
    let status = role.status(from: chosenStatus, isMedia: isMedia, givingWayTo: other)
    if status != chosenStatus { apply(status, &context) }
  }

  /// The level NONE, as SDL Core 6 and later give it after a refused start of video or audio.
  mutating func close(_ context: inout ServedContext) {
    if status.level != HMILevel.none { apply(.closed, &context) }
  }

  mutating func setAudioStreaming(_ state: AudioStreamingState, _ context: inout ServedContext) {
    guard chosenStatus.level != HMILevel.none else { return }
    var status = chosenStatus
    status.audioStreamingState = state
    apply(status, &context)
  }

  /// Sends the status that the driver chose, as restricted by the active events.
  mutating func apply(_ chosen: HMIStatus, _ context: inout ServedContext) {
    // Other windows are widgets and do not concern the app's own.
    let isMain = chosen.windowID == 0
    if isMain { (chosenStatus, formerStatus) = (chosen, nil) }
    let level = restrictedStatus(context).level
    let aborted = isMain ? interactions.take(notAllowedAt: level, by: context.policy) : []
    let status = isMain ? restrictedStatus(context) : chosen
    context.notify(.onHMIStatus, status.json)
    context.report(status.differsOnlyInContext(from: self.status) ? .systemContextSent(status) : .hmiStatusSent(status))
    AppInteractions.abort(aborted, &context)
    speech.abort(notAllowedAt: level, &context)
    guard isMain else { return }
    context.timers.cancel(.activation)
    context.screen.isActivationDeferred = false
    if (self.status.level == HMILevel.none) != (status.level == HMILevel.none) {
      closedAt = status.level == HMILevel.none ? context.now : nil
    }
    self.status = status
  }

  /// Sends the status if it has changed, by an event or an overlay.
  mutating func sendChangedStatus(_ context: inout ServedContext) {
    if restrictedStatus(context) != status { apply(chosenStatus, &context) }
  }

  private func restrictedStatus(_ context: ServedContext) -> HMIStatus {
    context.screen.restricted(chosenStatus, of: role, isMedia: isMedia, shown: interactions.systemContext)
  }

  // MARK: Requests

  /// The warning in the response to a request that is carried out.
  func warning(of parameters: JSONObject) -> String? {
    MissingImages.warning(of: parameters, files: templates.files)
  }

  /// Why a request is not carried out, whichever part answers it; nil if it may be.
  func refusal(of request: RPCMessage, _ context: ServedContext) -> RequestRefusal? {
    let function = request.function
    guard function.isKnownRequest else { return RequestRefusal(.unsupportedRequest, "There is no request \(function)") }
    guard rpcVersion >= function.introduction else {
      return RequestRefusal(
        .unsupportedRequest, "\(function) needs RPC \(function.introduction), but \(rpcVersion) was agreed on")
    }
    guard isAllowed(function, context) else {
      return RequestRefusal(.disallowed, context.policy.refusal(of: function, at: status.level))
    }
    return templates.refusal(of: request, systemContext: status.systemContext)
  }

  /// Answers a request that ``Registration`` has neither answered nor refused.
  /// - Parameter others: the apps of the same phone; nil if their names are not checked.
  mutating func answer(_ request: RPCMessage, others: [AppIdentity]?, _ context: inout ServedContext) {
    context.requestWarning = context.requestWarning ?? templates.warning(of: request, rpcVersion: rpcVersion)
    switch request.function {
    case .alert, .subtleAlert, .performInteraction, .scrollableMessage, .slider:
      guard interactions.begin(request, menu: templates.menu, &context) else { return }
      Self.reportTexts(of: request, &context)
      sendChangedStatus(&context)
    case .cancelInteraction:
      guard let layer = interactions.layer(cancelledBy: request, &context) else { return }
      endInteraction(layer, .aborted, &context)
      context.respond(to: request, success: true, .success)
    case .changeRegistration: changeRegistration(request, others, &context)
    case .getVehicleData, .subscribeVehicleData, .unsubscribeVehicleData:
      if vehicle.answer(request, &context) { templates.renewHash(&context) }
    case .speak: speech.speak(request, templates.files, &context)
    case .performAudioPassThru: speech.record(request, templates.files, &context)
    case .endAudioPassThru: speech.endRecording(request, &context)
    case .systemRequest: answerSystemRequest(request, &context)
    case .closeApplication:
      close(&context)
      context.respond(to: request, success: true, .success)
    default:
      let isChoosing = interactions[.overlay]?.function == .performInteraction
      templates.answer(request, systemContext: status.systemContext, isChoosing: isChoosing, &context)
      Self.reportTexts(of: request, &context)
    }
  }

  /// The app is asked to fetch a policy.
  mutating func expectPolicy() {
    isPolicyRequested = true
  }

  /// SDL Core takes a policy only if it has asked this app for one.
  private func answerSystemRequest(_ request: RPCMessage, _ context: inout ServedContext) {
    let type = request.parameters["requestType"]?.string ?? ""
    guard !["HTTP", "PROPRIETARY"].contains(type) || isPolicyRequested else {
      return context.refuse(request, .rejected, "No OnSystemRequest has asked for \(type)")
    }
    context.respond(to: request, success: true, .success)
    context.report(.systemRequestAnswered(type, byteCount: request.bulk.count))
  }

  /// Whether a notification of the app is allowed at its level. One that crosses the loss of the level is no fault.
  func mayNotify(_ context: ServedContext) -> Bool {
    status.level != HMILevel.none || closedAt.map { context.now - $0 <= CoreLimits.stopStreaming } ?? false
  }

  private static func reportTexts(of request: RPCMessage, _ context: inout ServedContext) {
    let texts = ShownTexts.texts(of: request)
    if !texts.isEmpty { context.report(.textShown(request.function, texts)) }
  }

  /// The car has new readings, which are sent to the app if it may get them and has subscribed.
  func tell(_ reading: VehicleReading, _ context: inout ServedContext) {
    if isAllowed(.onVehicleData, context) { vehicle.tell(reading, &context) }
  }

  /// The head unit has another language. As SDL Core does, it unregisters apps that do not speak it.
  func languageDidChange(_ context: inout ServedContext) {
    if isAllowed(.onLanguageChange, context) {
      let language = JSONValue.string(context.language)
      context.notify(.onLanguageChange, ["language": language, "hmiDisplayLanguage": language])
    }
    if languages != [context.language] { context.demand(.unregister(.languageChange)) }
  }

  func isAllowed(_ function: FunctionID, _ context: ServedContext) -> Bool {
    context.policy.allows(function, at: status.level)
  }

  /// Other languages than the head unit's own are accepted: nothing is shown or spoken in them.
  private mutating func changeRegistration(
    _ request: RPCMessage, _ others: [AppIdentity]?, _ context: inout ServedContext
  ) {
    let parameters = request.parameters
    let changed = AppIdentity(
      id: identity.id, name: parameters["appName"]?.string ?? identity.name,
      spokenNames: AppIdentity.spokenNames(in: parameters) ?? identity.spokenNames)
    guard others.map({ changed.conflict(with: $0) == nil }) ?? true else {
      return context.refuse(request, .duplicateName, AppIdentity.duplicateName)
    }
    identity = changed
    languages = Set(["language", "hmiDisplayLanguage"].compactMap { parameters[$0]?.string })
    context.respond(to: request, success: true, .success)
    context.report(.nameChanged(changed.name))
  }

  // MARK: Overlays and speech, which take time

  /// The time of an overlay is over.
  mutating func interactionDue(_ layer: AppInteraction.Layer, _ context: inout ServedContext) {
    let isKeyboard = interactions[layer]?.hasKeyboard == true
    if isKeyboard, isAllowed(.onKeyboardInput, context) { sendKeyboard("ENTRY_ABORTED", nil, &context) }
    endInteraction(layer, nil, &context)
  }

  mutating func promptDue(_ context: inout ServedContext) {
    speech.promptDue(&context)
  }

  mutating func recordingDue(_ context: inout ServedContext) {
    speech.recordingDue(&context)
  }

  /// Answers the request, and then reports to the app that its screen is free.
  /// - Parameter code: nil if the time is over.
  private mutating func endInteraction(
    _ layer: AppInteraction.Layer, _ code: ResultCode?, with members: JSONObject = [:], _ context: inout ServedContext
  ) {
    if interactions.end(layer, code, with: members, &context) { sendChangedStatus(&context) }
  }

  // MARK: The driver

  /// The driver uses a button, a menu or a choice. As with SDL Core, only inputs that the app has subscribed to or
  /// offered reach it; others are reported, with the reason.
  mutating func take(_ input: DriverInput, _ context: inout ServedContext) {
    do throws(DriverInputFault) {
      switch input {
      case .button(let name, let press): try take(press, of: name, &context)
      case .softButton(let id): try press(softButton: id, &context)
      case .menu(let text): try choose(command: text, &context)
      case .choice(let id): try choose(id, &context)
      case .slider(let position): try move(toPosition: position, &context)
      case .keyboard(let text): try type(text, &context)
      case .dismiss: try dismiss(&context)
      }
    } catch {
      context.report(.driverInputWithoutEffect(input, error))
    }
  }

  private mutating func take(
    _ press: DriverInput.Press, of name: String, _ context: inout ServedContext
  ) throws(DriverInputFault) {
    guard press != .up else { return release(name, &context) }
    guard templates.subscribedButtons.contains(name) else {
      throw .notSubscribed(to: name, subscribed: templates.subscribedButtons.sorted())
    }
    try check(Self.levels(of: name))
    let button: JSONObject = ["buttonName": .string(name)]
    if press == .short {
      guard !buttons.isHeld(name) else { return }
      context.notifyPress(of: button)
    } else {
      let end = press == .long ? context.now + HeldButtons.hold : nil
      guard buttons.press(name, now: context.now, until: end) else { return }
      context.notifyDown(of: button)
      armButtonTimer(&context)
    }
    context.report(.driverInput(.button(name, press)))
  }

  /// The driver releases a button; an app that may not have it any more is not notified.
  private mutating func release(_ name: String, _ context: inout ServedContext) {
    guard let isLong = buttons.release(name, now: context.now), templates.subscribedButtons.contains(name),
      status.level.map(Self.levels(of: name).contains) == true
    else { return }
    context.notifyUp(of: ["buttonName": .string(name)], isLong: isLong)
    context.report(.driverInput(.button(name, .up)))
  }

  /// SDL Core sends OK to an app at FULL, and the others at FULL or LIMITED.
  private static func levels(of button: String) -> [HMILevel] { button == "OK" ? [.full] : [.full, .limited] }

  /// The driver releases buttons.
  mutating func buttonDue(_ context: inout ServedContext) {
    for name in buttons.released(at: context.now) { release(name, &context) }
    armButtonTimer(&context)
  }

  private func armButtonTimer(_ context: inout ServedContext) {
    if let time = buttons.nextRelease { context.timers.arm(.button, at: time) }
  }

  private mutating func press(softButton id: Int, _ context: inout ServedContext) throws(DriverInputFault) {
    let shown = interactions.all
    let all = shown.flatMap(\.softButtons) + templates.softButtons
    guard all.contains(where: { $0.id == id }) else {
      let ids = Set(all.map(\.id)).sorted()
      throw .noSoftButton(id, available: ids.map { id in Self.label(id, all.first { $0.id == id }?.text) })
    }
    try check(Self.anyButNone)
    context.notifyPress(of: ["buttonName": .string("CUSTOM_BUTTON"), "customButtonID": .integer(id)])
    context.report(.driverInput(.softButton(id)))
    for interaction in shown {
      guard let button = interaction.softButtons.first(where: { $0.id == id }) else { continue }
      switch button.action {
      case .keepContext: interactions.prolong(interaction, &context)
      case .close: endInteraction(interaction.layer, .success, &context)
      case .stealFocus:
        let wasFull = status.level == .full
        endInteraction(interaction.layer, .success, &context)
        if !wasFull { open(&context) }
      }
      return
    }
  }

  private func choose(command text: String, _ context: inout ServedContext) throws(DriverInputFault) {
    guard let (id, command) = templates.menu.command(text) else {
      throw .noCommand(
        text,
        available: templates.menu.commands.sorted { $0.key < $1.key }.map { Self.label($0.key, $0.value.name) })
    }
    try check(command.isSpoken ? Self.anyButNone : [.full])
    // The app is notified that the menu was in front of its screen, and that it has gone.
    sendContext(command.isSpoken ? .voiceSession : .menu, &context)
    context.notify(.onCommand, ["cmdID": .integer(id), "triggerSource": Self.triggerSource(command.isSpoken)])
    sendContext(status.systemContext, &context)
    context.report(.driverInput(.menu(text)))
  }

  private mutating func choose(_ id: Int, _ context: inout ServedContext) throws(DriverInputFault) {
    guard let interaction = interactions[.overlay], interaction.function == .performInteraction else {
      throw .nothingToChoose
    }
    guard interaction.choices.contains(id) else { throw .noChoice(id, available: interaction.choices.sorted()) }
    context.report(.driverInput(.choice(id)))
    let members: JSONObject = ["choiceID": .integer(id), "triggerSource": Self.triggerSource(interaction.isSpoken)]
    endInteraction(.overlay, .success, with: members, &context)
  }

  private mutating func move(toPosition position: Int, _ context: inout ServedContext) throws(DriverInputFault) {
    guard let interaction = interactions[.overlay], let positions = interaction.sliderPositions else {
      throw .noSlider
    }
    guard positions.contains(position) else { throw .noSliderPosition(position, available: positions) }
    context.report(.driverInput(.slider(position)))
    endInteraction(.overlay, .success, with: ["sliderPosition": .integer(position)], &context)
  }

  /// The driver types a text, and enters it. SDL Core sends keys to the app that asks for them, or else to the one at
  /// FULL.
  private mutating func type(_ text: String, _ context: inout ServedContext) throws(DriverInputFault) {
    let isAsked = interactions[.overlay]?.hasKeyboard == true
    if !isAsked {
      guard interactions[.overlay] == nil else { throw .noKeyboard }
      guard context.policy.allows(.onKeyboardInput, at: .full) else { throw .notGranted(.keyboard) }
      try check([.full])
    }
    if isAllowed(.onKeyboardInput, context) {
      for keys in templates.keypresses(of: text) { sendKeyboard("KEYPRESS", keys, &context) }
      sendKeyboard("ENTRY_SUBMITTED", text, &context)
    }
    context.report(.driverInput(.keyboard(text)))
    guard isAsked else { return }
    let members: JSONObject = ["manualTextEntry": .string(text), "triggerSource": .string("KEYBOARD")]
    endInteraction(.overlay, .success, with: members, &context)
  }

  /// The driver closes what is in front, without an answer.
  private mutating func dismiss(_ context: inout ServedContext) throws(DriverInputFault) {
    guard let interaction = interactions.all.first else { throw .nothingInFront }
    if interaction.hasKeyboard, isAllowed(.onKeyboardInput, context) { sendKeyboard("ENTRY_CANCELLED", nil, &context) }
    context.report(.driverInput(.dismiss))
    endInteraction(interaction.layer, interaction.resultWhenDismissed, &context)
  }

  private func sendKeyboard(_ event: String, _ data: String?, _ context: inout ServedContext) {
    let parameters = JSONObject(present: ["event": .string(event), "data": data.map(JSONValue.string)])
    context.notify(.onKeyboardInput, parameters)
  }

  private func check(_ levels: [HMILevel]) throws(DriverInputFault) {
    guard let level = status.level, levels.contains(level) else { throw .level(status.level, allowed: levels) }
  }

  private func sendContext(_ systemContext: SystemContext, _ context: inout ServedContext) {
    var status = status
    status.systemContext = systemContext
    context.notify(.onHMIStatus, status.json)
    context.report(.systemContextSent(status))
  }

  /// `TriggerSource` of the RPC specification.
  private static func triggerSource(_ isSpoken: Bool) -> JSONValue { .string(isSpoken ? "VR" : "MENU") }

  private static func label(_ id: Int, _ name: String?) -> String {
    name.map { $0.isEmpty ? "\(id)" : "\(id) \"\($0)\"" } ?? "\(id)"
  }

  /// The driver touches the screen. As with SDL Core, OnTouchEvent goes only to apps that can show video, and only at
  /// FULL, if the policies allow it at all. Samples without a time get the present one.
  func touch(_ event: OnTouchEvent, _ context: inout ServedContext) {
    guard mayStream else { return }
    guard isAllowed(.onTouchEvent, context) else {
      // Once for each finger: at lower levels no app gets touches.
      if status.level == .full, event.kind == .begin { context.report(.touchWithheld) }
      return
    }
    var event = event
    let time = context.now.timestamp
    for finger in event.fingers.indices {
      for sample in event.fingers[finger].samples.indices where event.fingers[finger].samples[sample].time == nil {
        event.fingers[finger].samples[sample].time = time
      }
    }
    context.notify(.onTouchEvent, event.json)
    context.report(.touchSent(event))
  }
}

extension HMIStatus {
  fileprivate func differsOnlyInContext(from other: HMIStatus) -> Bool {
    var same = other
    same.systemContext = systemContext
    return systemContext != other.systemContext && self == same
  }
}
