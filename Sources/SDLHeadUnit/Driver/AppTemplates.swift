import SDLMessages

/// An app's files, menu, buttons and texts on the head unit. Requests for them are answered as if they were carried
/// out, but nothing is shown.
///
/// SDL Core, and SDL's generic HMI, refuse some requests although each member is valid.
struct AppTemplates: Sendable {
  private static let mediaButtons: Set = ["PLAY_PAUSE", "SEEKLEFT", "SEEKRIGHT", "TUNEUP", "TUNEDOWN"]

  /// Requests without a mandatory member that need at least one of these; an empty list means any member.
  private static let alternatives: [FunctionID: [String]] = [
    .show: [], .showConstantTBT: [], .setGlobalProperties: [], .alertManeuver: ["ttsChunks", "softButtons"],
    .updateTurnList: ["turnList", "softButtons"],
  ]

  /// The requests that change the hash. Each is followed by OnHashChange.
  private static let changes: Set<FunctionID> = [
    .addCommand, .deleteCommand, .addSubMenu, .deleteSubMenu, .createInteractionChoiceSet, .deleteInteractionChoiceSet,
    .subscribeButton, .unsubscribeButton, .setGlobalProperties, .resetGlobalProperties,
  ]

  private let isMedia: Bool
  private let isNavigation: Bool
  /// The hash of menu and subscriptions that was sent to the app; nil before there are any.
  private var hash: String?
  private(set) var files = AppFiles()
  /// Set in this session, or in one before.
  private(set) var hasIcon: Bool
  private(set) var menu = AppMenu()
  /// Names of hard buttons; never more than there are.
  private(set) var subscribedButtons: Set<String> = []
  /// Soft buttons by the request that defined them last.
  private var softButtonsOfRequests: [FunctionID: [SoftButton]] = [:]

  init(isMedia: Bool, isNavigation: Bool, hasIcon: Bool) {
    self.isMedia = isMedia
    self.isNavigation = isNavigation
    self.hasIcon = hasIcon
  }

  /// How the driver's keys are sent (`KeypressMode`).
  private enum KeypressMode: String, Sendable {
    case single = "SINGLE_KEYPRESS"
    case queue = "QUEUE_KEYPRESSES"
    case resend = "RESEND_CURRENT_ENTRY"
  }

  private var keypressMode = KeypressMode.resend

  /// The `data` of the keypresses that are sent while the driver types a text.
  func keypresses(of text: String) -> [String] {
    switch keypressMode {
    case .single: text.map { String($0) }
    case .queue: []
    case .resend: text.indices.map { String(text[...$0]) }
    }
  }

  var softButtons: [SoftButton] { softButtonsOfRequests.values.flatMap(\.self) }

  /// The state to keep after a broken connection; nil if there is none.
  func saved(id: String, status: HMIStatus, subscribedVehicleData: Set<String>) -> SavedApp? {
    guard hash != nil || hasIcon else { return nil }
    return SavedApp(
      id: id, hash: hash, hasIcon: hasIcon, status: status, menu: menu, subscribedButtons: subscribedButtons,
      subscribedVehicleData: subscribedVehicleData)
  }

  /// What can be resumed has changed.
  mutating func renewHash(_ context: inout SessionContext) {
    hash = context.sendNewHash()
  }

  /// Restores the kept state, which gets a new hash.
  mutating func resume(_ saved: SavedApp, _ context: inout SessionContext) {
    menu = saved.menu
    subscribedButtons = saved.subscribedButtons
    context.report(.buttonsSubscribed(subscribedButtons))
    renewHash(&context)
  }

  /// Answers a request that the policies allow.
  /// - Parameters:
  ///   - systemContext: what is in front of the app's screen.
  ///   - isChoosing: whether the driver is asked to choose (PerformInteraction).
  mutating func answer(
    _ request: RPCMessage, systemContext: SystemContext, isChoosing: Bool, _ context: inout SessionContext
  ) {
    let function = request.function
    switch function {
    case .putFile: put(request, &context)
    case .deleteFile: deleteFile(request, &context)
    case .listFiles:
      respondOnFiles(to: request, .success, with: ["filenames": .array(files.names.map(JSONValue.string))], &context)
    case .setAppIcon:
      guard let name = request.parameters["syncFileName"]?.string, let size = files.size(of: name) else {
        return context.respond(to: request, success: false, .invalidData)
      }
      hasIcon = true
      context.respond(to: request, success: true, .success)
      context.report(.iconSet(name, byteCount: size))
    case .subscribeButton, .unsubscribeButton: subscribe(request, isWanted: function == .subscribeButton, &context)
    case .addCommand: add(request, to: \.commands, "cmdID", menu.command, &context)
    case .deleteCommand: delete(request, from: \.commands, "cmdID", &context)
    case .addSubMenu: add(request, to: \.subMenus, "menuID", menu.subMenu, &context)
    case .deleteSubMenu: delete(request, from: \.subMenus, "menuID", &context)
    case .createInteractionChoiceSet:
      add(request, to: \.choiceSets, "interactionChoiceSetID", AppMenu.choices, &context)
    case .deleteInteractionChoiceSet:
      // SDL Core does not check which of its sets the interaction shows.
      if isChoosing { return context.respond(to: request, success: false, .inUse) }
      delete(request, from: \.choiceSets, "interactionChoiceSetID", &context)
    case .show, .showConstantTBT, .alertManeuver, .updateTurnList: setSoftButtons(request, &context)
    case .setGlobalProperties:
      let keyboard = request.parameters["keyboardProperties"]?.object
      if let mode = keyboard?["keypressMode"]?.string.flatMap(KeypressMode.init) { keypressMode = mode }
      respond(to: request, success: true, .success, &context)
    case .resetGlobalProperties:
      if request.parameters["properties"]?.array?.contains(.string("KEYBOARDPROPERTIES")) == true {
        keypressMode = .resend
      }
      respond(to: request, success: true, .success, &context)
    default: respond(to: request, success: true, .success, &context)
    }
  }

  /// Nil for a request that is carried out.
  func refusal(of request: RPCMessage, systemContext: SystemContext) -> RequestRefusal? {
    let parameters = request.parameters
    if let members = Self.alternatives[request.function] {
      let isThere = members.isEmpty ? !parameters.isEmpty : members.contains { parameters[$0] != nil }
      if !isThere { return RequestRefusal(code: .invalidData) }
    }
    switch request.function {
    case .setMediaClockTimer:
      guard isMedia else { return RequestRefusal(code: .rejected) }
      let counts = ["COUNTUP", "COUNTDOWN"].contains(parameters["updateMode"]?.string)
      return counts && parameters["startTime"] == nil ? RequestRefusal(code: .invalidData) : nil
    case .showAppMenu:
      guard systemContext == .main || systemContext == .menu else { return RequestRefusal(code: .rejected) }
      let isThere = parameters["menuID"]?.integer.map { menu.subMenus[$0] != nil } ?? true
      return isThere ? nil : RequestRefusal(code: .invalidID)
    case .setDisplayLayout where !isAvailable(parameters["displayLayout"]?.string):
      return RequestRefusal(code: .unsupportedRequest, info: "The requested layout is not supported on this HMI")
    default: return nil
    }
  }

  /// The warning for a Show with an unknown template, which is shown in the present one; nil for a known one.
  func warning(of request: RPCMessage) -> String? {
    let template = request.parameters["templateConfiguration"]?.object?["template"]?.string
    guard request.function == .show, let template, !isAvailable(template) else { return nil }
    return "Unsupported Template. Remaining data in request was processed."
  }

  private func isAvailable(_ template: String?) -> Bool {
    guard let template, TemplateCapabilities.templates.contains(template) else { return false }
    return template != "MEDIA" || isMedia
  }

  /// Apps that are not media apps get no media buttons, and apps that do not navigate no map buttons.
  private func allowsButton(_ name: String) -> Bool {
    if Self.mediaButtons.contains(name) || name.hasPrefix("PRESET_") { return isMedia }
    return !name.hasPrefix("NAV_") || isNavigation
  }

  private mutating func respond(
    to request: RPCMessage, success: Bool, _ code: ResultCode, info: String? = nil, _ context: inout SessionContext
  ) {
    context.respond(to: request, success: success, code, info: info)
    if success, Self.changes.contains(request.function) { renewHash(&context) }
  }

  private mutating func put(_ request: RPCMessage, _ context: inout SessionContext) {
    let offset = request.parameters["offset"]?.integer ?? 0
    guard let name = request.parameters["syncFileName"]?.string, !name.contains("/"), !request.bulk.isEmpty else {
      return context.respond(to: request, success: false, .invalidData)
    }
    if let sum = request.parameters["crc"]?.integer, sum != Int(Checksum.crc32(of: request.bulk)) {
      return respondOnFiles(to: request, .corruptedData, &context)
    }
    let result = files.put(name, offset: offset, count: request.bulk.count)
    respondOnFiles(to: request, result, &context)
  }

  private mutating func deleteFile(_ request: RPCMessage, _ context: inout SessionContext) {
    guard let name = request.parameters["syncFileName"]?.string else {
      return context.respond(to: request, success: false, .invalidData)
    }
    let isDeleted = files.delete(name)
    respondOnFiles(to: request, isDeleted ? .success : .rejected, &context)
  }

  /// Responses about files hold the free space.
  private func respondOnFiles(
    to request: RPCMessage, _ code: ResultCode, with members: JSONObject = [:], _ context: inout SessionContext
  ) {
    let result = RPCResult(success: code == .success, resultCode: code).json
    let space: JSONObject = ["spaceAvailable": .integer(files.spaceAvailable)]
    context.respond(to: request, result.merging(members) { first, _ in first }.merging(space) { $1 })
  }

  private mutating func add<Entry>(
    _ request: RPCMessage, to entries: WritableKeyPath<AppMenu, [Int: Entry]>, _ member: String,
    _ read: (JSONObject) throws(RequestRefusal) -> Entry, _ context: inout SessionContext
  ) {
    guard let id = request.parameters[member]?.integer else {
      return context.respond(to: request, success: false, .invalidData)
    }
    guard menu[keyPath: entries][id] == nil else { return context.respond(to: request, success: false, .invalidID) }
    do throws(RequestRefusal) {
      let entry = try read(request.parameters)
      let code = menu.add(id, entry, to: entries)
      respond(to: request, success: code == .success, code, &context)
    } catch {
      context.respond(to: request, success: false, error.code, info: error.info)
    }
  }

  private mutating func delete<Entry>(
    _ request: RPCMessage, from entries: WritableKeyPath<AppMenu, [Int: Entry]>, _ member: String,
    _ context: inout SessionContext
  ) {
    guard let id = request.parameters[member]?.integer else {
      return context.respond(to: request, success: false, .invalidData)
    }
    let isDeleted = menu.remove(id, from: entries)
    respond(to: request, success: isDeleted, isDeleted ? .success : .invalidID, &context)
  }

  /// The driver can press them until the next request of the same kind replaces them.
  private mutating func setSoftButtons(_ request: RPCMessage, _ context: inout SessionContext) {
    do throws(RequestRefusal) {
      if let buttons = try SoftButton.list(in: request, context.configuration.policy) {
        softButtonsOfRequests[request.function] = buttons
      }
      context.respond(to: request, success: true, .success)
    } catch {
      context.respond(to: request, success: false, error.code, info: error.info)
    }
  }

  private mutating func subscribe(_ request: RPCMessage, isWanted: Bool, _ context: inout SessionContext) {
    guard let name = request.parameters["buttonName"]?.string else {
      return context.respond(to: request, success: false, .invalidData)
    }
    // Every app has the buttons that it shows itself.
    if name == TemplateCapabilities.ownButton { return context.respond(to: request, success: false, .ignored) }
    if isWanted, !allowsButton(name) { return context.respond(to: request, success: false, .rejected) }
    guard TemplateCapabilities.buttons.contains(name) else {
      return context.respond(to: request, success: false, .unsupportedResource)
    }
    let isChanged = isWanted ? subscribedButtons.insert(name).inserted : subscribedButtons.remove(name) != nil
    if isChanged { context.report(.buttonsSubscribed(subscribedButtons)) }
    respond(to: request, success: isChanged, isChanged ? .success : .ignored, &context)
  }
}
