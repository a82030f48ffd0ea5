import SDLMessages

/// An app's files, menu, buttons and texts on the head unit. Requests for them are answered as if they were carried
/// out, but only the page shows them, which reads the requests itself.
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
  mutating func renewHash(_ context: inout ServedContext) {
    hash = context.sendNewHash()
  }

  /// Restores the kept state, which gets a new hash.
  mutating func resume(_ saved: SavedApp, _ context: inout ServedContext) {
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
    _ request: RPCMessage, systemContext: SystemContext, isChoosing: Bool, _ context: inout ServedContext
  ) {
    let function = request.function
    switch function {
    case .putFile: put(request, &context)
    case .deleteFile: deleteFile(request, &context)
    case .listFiles:
      respondOnFiles(to: request, .success, with: ["filenames": .array(files.names.map(JSONValue.string))], &context)
    case .setAppIcon:
      let name = request.parameters["syncFileName"]?.string ?? ""
      guard let size = files.size(of: name) else {
        return context.refuse(request, .invalidData, "There is no file \(name.quoted)")
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
      if isChoosing { return context.refuse(request, .inUse, "The driver is being asked to choose") }
      delete(request, from: \.choiceSets, "interactionChoiceSetID", &context)
    case .show, .showConstantTBT, .alertManeuver, .updateTurnList: setSoftButtons(request, &context)
    case .setGlobalProperties:
      let keyboard = request.parameters["keyboardProperties"]?.object
      if let mode = keyboard?["keypressMode"]?.string.flatMap(KeypressMode.init) { keypressMode = mode }
      succeed(request, &context)
    case .resetGlobalProperties:
      if request.parameters["properties"]?.array?.contains(.string("KEYBOARDPROPERTIES")) == true {
        keypressMode = .resend
      }
      succeed(request, &context)
    default: succeed(request, &context)
    }
  }

  /// Nil for a request that is carried out.
  func refusal(of request: RPCMessage, systemContext: SystemContext) -> RequestRefusal? {
    let parameters = request.parameters
    if let members = Self.alternatives[request.function] {
      let isThere = members.isEmpty ? !parameters.isEmpty : members.contains { parameters[$0] != nil }
      if !isThere {
        let names = members.isEmpty ? "A parameter" : members.joined(separator: " or ")
        return RequestRefusal(.invalidData, "\(names) is needed")
      }
    }
    switch request.function {
    case .setMediaClockTimer:
      guard isMedia else { return RequestRefusal(.rejected, "The app is no media app (isMediaApplication)") }
      let counts = ["COUNTUP", "COUNTDOWN"].contains(parameters["updateMode"]?.string)
      return counts && parameters["startTime"] == nil ? RequestRefusal(.invalidData, "startTime is missing") : nil
    case .showAppMenu:
      guard systemContext == .main || systemContext == .menu else {
        return RequestRefusal(.rejected, "The system context is \(systemContext.rawValue), but has to be MAIN or MENU")
      }
      guard let id = parameters["menuID"]?.integer, menu.subMenus[id] == nil else { return nil }
      return RequestRefusal(.invalidID, "There is no submenu with the menuID \(id)")
    case .setDisplayLayout where !isAvailable(parameters["displayLayout"]?.string):
      return RequestRefusal(
        .unsupportedRequest, "This head unit has no layout \((parameters["displayLayout"]?.string ?? "").quoted)")
    default: return nil
    }
  }

  /// The warning for a Show with an unknown template, which is shown in the present one, or for SetDisplayLayout, which
  /// is deprecated since RPC 6.0; nil for others.
  func warning(of request: RPCMessage, rpcVersion: RPCVersion) -> String? {
    if request.function == .setDisplayLayout, rpcVersion >= RPCVersion(6) {
      return "SetDisplayLayout is deprecated; use templateConfiguration of Show"
    }
    let template = request.parameters["templateConfiguration"]?.object?["template"]?.string
    guard request.function == .show, let template, !isAvailable(template) else { return nil }
    return "Ignored: this head unit has no template \(template.quoted)"
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

  private mutating func succeed(_ request: RPCMessage, _ context: inout ServedContext) {
    context.respond(to: request, success: true, .success)
    if Self.changes.contains(request.function) { renewHash(&context) }
  }

  private mutating func put(_ request: RPCMessage, _ context: inout ServedContext) {
    let offset = request.parameters["offset"]?.integer ?? 0
    let name = request.parameters["syncFileName"]?.string ?? ""
    guard !name.contains("/") else { return context.refuse(request, .invalidData, "syncFileName has a slash") }
    guard !request.bulk.isEmpty else { return context.refuse(request, .invalidData, "The request has no data") }
    let sum = Int(CRC32.checksum(of: request.bulk))
    if let given = request.parameters["crc"]?.integer, given != sum {
      return respondOnFiles(to: request, .corruptedData, info: "crc is \(given), but the data has \(sum)", &context)
    }
    let size = files.size(of: name) ?? 0
    let result = files.put(name, offset: offset, count: request.bulk.count)
    let info: String? =
      switch result {
      case .invalidData: "offset is \(offset), but the file has \(size) bytes so far"
      case .outOfMemory: "There is no room for \(request.bulk.count) more bytes, or another file"
      default: nil
      }
    respondOnFiles(to: request, result, info: info, &context)
  }

  private mutating func deleteFile(_ request: RPCMessage, _ context: inout ServedContext) {
    let name = request.parameters["syncFileName"]?.string ?? ""
    guard files.delete(name) else {
      return respondOnFiles(to: request, .rejected, info: "There is no file \(name.quoted)", &context)
    }
    respondOnFiles(to: request, .success, &context)
  }

  /// Responses about files hold the free space.
  private func respondOnFiles(
    to request: RPCMessage, _ code: ResultCode, info: String? = nil, with members: JSONObject = [:],
    _ context: inout ServedContext
  ) {
    let result = RPCResult(success: code == .success, resultCode: code, info: info).json
    let space: JSONObject = ["spaceAvailable": .integer(files.spaceAvailable)]
    context.respond(to: request, result.merging(members) { first, _ in first }.merging(space) { $1 })
  }

  private mutating func add<Entry>(
    _ request: RPCMessage, to entries: WritableKeyPath<AppMenu, [Int: Entry]>, _ member: String,
    _ read: (JSONObject) throws(RequestRefusal) -> Entry, _ context: inout ServedContext
  ) {
    // The schema demands it.
    let id = request.parameters[member]?.integer ?? 0
    guard menu[keyPath: entries][id] == nil else {
      return context.refuse(request, .invalidID, "\(member) \(id) exists already")
    }
    do throws(RequestRefusal) {
      try menu.add(id, read(request.parameters), to: entries)
      succeed(request, &context)
    } catch {
      context.refuse(request, error.code, error.info)
    }
  }

  private mutating func delete<Entry>(
    _ request: RPCMessage, from entries: WritableKeyPath<AppMenu, [Int: Entry]>, _ member: String,
    _ context: inout ServedContext
  ) {
    let id = request.parameters[member]?.integer ?? 0
    guard menu.remove(id, from: entries) else {
      return context.refuse(request, .invalidID, "There is no \(member) \(id)")
    }
    succeed(request, &context)
  }

  /// The driver can press them until the next request of the same kind replaces them.
  private mutating func setSoftButtons(_ request: RPCMessage, _ context: inout ServedContext) {
    do throws(RequestRefusal) {
      if let buttons = try SoftButton.list(in: request, context.policy) {
        softButtonsOfRequests[request.function] = buttons
      }
      context.respond(to: request, success: true, .success)
    } catch {
      context.refuse(request, error.code, error.info)
    }
  }

  private mutating func subscribe(_ request: RPCMessage, isWanted: Bool, _ context: inout ServedContext) {
    let name = request.parameters["buttonName"]?.string ?? ""
    if isWanted, !allowsButton(name) {
      let kind = name.hasPrefix("NAV_") ? "of the type NAVIGATION" : "that are media apps (isMediaApplication)"
      return context.refuse(request, .rejected, "\(name) is for apps \(kind)")
    }
    // Every app has the buttons that it shows itself.
    if name == TemplateCapabilities.ownButton {
      return context.refuse(request, .ignored, "Every app has the button \(name)")
    }
    guard TemplateCapabilities.buttons.contains(name) else {
      return context.refuse(request, .unsupportedResource, "This head unit has no button \(name)")
    }
    let isChanged = isWanted ? subscribedButtons.insert(name).inserted : subscribedButtons.remove(name) != nil
    guard isChanged else {
      return context.refuse(
        request, .ignored, "The app has \(isWanted ? "already" : "not") subscribed to \(name)")
    }
    context.report(.buttonsSubscribed(subscribedButtons))
    succeed(request, &context)
  }
}
