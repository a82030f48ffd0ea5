import SDLMessages
import SDLWire

/// Requests that do not concern video: texts, menus, buttons, speech and files. They are answered as if they were carried
/// out, and shown nowhere.
extension HeadUnitSession {
  mutating func answerOther(_ request: RPCMessage, _ app: RegisteredApp, now: Duration) {
    let function = request.function
    guard function.isKnownRequest, app.rpcVersion >= function.introduction else {
      return respond(to: request, success: false, .unsupportedRequest)
    }
    guard configuration.policy.allows(function, at: app.status.level) else {
      return respond(to: request, success: false, .disallowed)
    }
    requestWarning = requestWarning ?? TemplateRules.warning(of: request, app)
    if let refusal = TemplateRules.refusal(of: request, app) {
      return respond(to: request, success: false, refusal.code, info: refusal.info)
    }
    switch function {
    case .putFile: putFile(request)
    case .deleteFile: deleteFile(request)
    case .listFiles: listFiles(request, app)
    case .setAppIcon:
      let isThere = request.parameters["syncFileName"]?.string.map(app.files.contains) ?? false
      respond(to: request, success: isThere, isThere ? .success : .invalidData)
    case .subscribeButton, .unsubscribeButton: subscribe(request, app, isWanted: function == .subscribeButton)
    case .addCommand: add(request, to: \.commands, "cmdID", app.menu.command)
    case .deleteCommand: delete(request, from: \.commands, "cmdID")
    case .addSubMenu: add(request, to: \.subMenus, "menuID", app.menu.subMenu)
    case .deleteSubMenu: delete(request, from: \.subMenus, "menuID")
    case .createInteractionChoiceSet: add(request, to: \.choiceSets, "interactionChoiceSetID", AppMenu.choices)
    case .deleteInteractionChoiceSet:
      // SDL Core does not look which of its sets the interaction shows.
      let isInUse = app.interactions[.overlay]?.function == .performInteraction
      if isInUse { return respond(to: request, success: false, .inUse) }
      delete(request, from: \.choiceSets, "interactionChoiceSetID")
    case .alert, .subtleAlert, .performInteraction, .scrollableMessage, .slider:
      beginInteraction(request, app, now: now)
    case .cancelInteraction: cancelInteraction(request, app, now: now)
    case .show, .showConstantTBT, .alertManeuver, .updateTurnList: setSoftButtons(request)
    case .changeRegistration: changeRegistration(request, app)
    case .speak: speak(request, app, now: now)
    case .performAudioPassThru: record(request, app, now: now)
    case .endAudioPassThru: endRecording(request, app)
    case .closeApplication:
      respond(to: request, success: true, .success)
      dropToNone(now: now)
    default: respond(to: request, success: true, .success)
    }
  }

  private mutating func putFile(_ request: RPCMessage) {
    let offset = request.parameters["offset"]?.integer ?? 0
    guard let name = request.parameters["syncFileName"]?.string, !name.contains("/"), !request.bulk.isEmpty else {
      return respond(to: request, success: false, .invalidData)
    }
    if let sum = request.parameters["crc"]?.integer, sum != Int(Checksum.crc32(of: request.bulk)) {
      return respond(to: request, false, .corruptedData)
    }
    let result = app?.files.put(name, offset: offset, count: request.bulk.count) ?? .invalidData
    respond(to: request, result == .success, result)
  }

  /// Other languages than the head unit's own are taken: nothing is shown or said in them.
  private mutating func changeRegistration(_ request: RPCMessage, _ app: RegisteredApp) {
    let parameters = request.parameters
    let spokenNames = parameters["vrSynonyms"] == nil ? app.identity.spokenNames : Self.spokenNames(in: parameters)
    let identity = AppIdentity(
      id: app.identity.id, name: parameters["appName"]?.string ?? app.identity.name, spokenNames: spokenNames)
    guard !configuration.refusesTakenNames || identity.conflict(with: otherApps) == nil else {
      return respond(to: request, success: false, .duplicateName)
    }
    self.app?.identity = identity
    respond(to: request, success: true, .success)
  }

  private mutating func deleteFile(_ request: RPCMessage) {
    guard let name = request.parameters["syncFileName"]?.string else {
      return respond(to: request, success: false, .invalidData)
    }
    let isDeleted = app?.files.delete(name) ?? false
    respond(to: request, isDeleted, isDeleted ? .success : .rejected)
  }

  private mutating func listFiles(_ request: RPCMessage, _ app: RegisteredApp) {
    let names = app.files.names.map(JSONValue.string)
    respond(to: request, true, .success, ["filenames": .array(names)])
  }

  /// Responses about files hold the free space.
  private mutating func respond(
    to request: RPCMessage, _ success: Bool, _ code: ResultCode, _ members: JSONObject = [:]
  ) {
    let space = app?.files.spaceAvailable ?? 0
    let result = RPCResult(success: success, resultCode: code).json
    respond(
      to: request, result.merging(members) { first, _ in first }.merging(["spaceAvailable": .integer(space)]) { $1 })
  }

  private mutating func add<Entry>(
    _ request: RPCMessage, to entries: WritableKeyPath<AppMenu, [Int: Entry]>, _ member: String,
    _ read: (JSONObject) throws(RequestRefusal) -> Entry
  ) {
    guard let id = request.parameters[member]?.integer else {
      return respond(to: request, success: false, .invalidData)
    }
    guard app?.menu[keyPath: entries][id] == nil else { return respond(to: request, success: false, .invalidID) }
    do throws(RequestRefusal) {
      let entry = try read(request.parameters)
      let code = app?.menu.add(id, entry, to: entries) ?? .success
      respond(to: request, success: code == .success, code)
    } catch {
      respond(to: request, success: false, error.code, info: error.info)
    }
  }

  private mutating func delete<Entry>(
    _ request: RPCMessage, from entries: WritableKeyPath<AppMenu, [Int: Entry]>, _ member: String
  ) {
    guard let id = request.parameters[member]?.integer else {
      return respond(to: request, success: false, .invalidData)
    }
    let isDeleted = app?.menu.remove(id, from: entries) ?? false
    respond(to: request, success: isDeleted, isDeleted ? .success : .invalidID)
  }

  /// The driver can press them until the next request of the same kind replaces them.
  private mutating func setSoftButtons(_ request: RPCMessage) {
    do throws(RequestRefusal) {
      if let buttons = try SoftButton.list(in: request) { app?.softButtons[request.function] = buttons }
      respond(to: request, success: true, .success)
    } catch {
      respond(to: request, success: false, error.code)
    }
  }

  private mutating func subscribe(_ request: RPCMessage, _ app: RegisteredApp, isWanted: Bool) {
    guard let name = request.parameters["buttonName"]?.string else {
      return respond(to: request, success: false, .invalidData)
    }
    if isWanted, !TemplateRules.allowsButton(name, for: app) { return respond(to: request, success: false, .rejected) }
    guard TemplateCapabilities.buttons.contains(name) else {
      return respond(to: request, success: false, .unsupportedResource)
    }
    let isChanged =
      isWanted
      ? self.app?.subscribedButtons.insert(name).inserted : self.app?.subscribedButtons.remove(name) != nil
    respond(to: request, success: isChanged == true, isChanged == true ? .success : .ignored)
  }
}
