import SDLMessages
import SDLWire

/// The app of a session, from its registration to its end: takes its RPCs, and answers those that belong to no other
/// part.
struct Registration: Sendable {
  /// The outcome of a RegisterAppInterface.
  private enum Decision {
    case accepted(RegisteredApp, ResultCode, resuming: SavedApp?)
    case refused(ResultCode, info: String)
    case unanswered
  }

  /// Nil while none is registered.
  var app: RegisteredApp?
  var capability: OfferedCapability
  private var requests = CoreLimits.requests
  private var scriptedAnswers = ScriptedAnswers()
  /// The apps of the same phone in other sessions, whose ids and names are taken.
  private var others: [AppIdentity] = []
  /// The apps whose former connection has broken.
  private var saved: [SavedApp] = []

  init(_ configuration: HeadUnitConfiguration) {
    capability = OfferedCapability(configuration)
  }

  mutating func setOtherApps(_ others: [AppIdentity]) {
    self.others = others
  }

  mutating func setSavedApps(_ saved: [SavedApp]) {
    self.saved = saved
  }

  /// The capability is the configured one again.
  mutating func forgetUpdates(_ context: ServedContext) {
    capability = OfferedCapability(context.configuration)
  }

  /// No app is registered any more.
  mutating func end(_ context: inout ServedContext) {
    app = nil
    scriptedAnswers = ScriptedAnswers()
    context.forgetAnswerMembers()
    context.timers.cancel(.activation, .policyUpdate, .alert, .overlay, .speech, .microphone, .button, .scriptedAnswer)
    forgetUpdates(context)
  }

  mutating func fire(_ purpose: TimerTable.Purpose, _ context: inout ServedContext) {
    switch purpose {
    case .activation: app?.openAutomatically(&context)
    case .policyUpdate: sendPolicyUpdate(&context)
    case .alert: app?.interactionDue(.alert, &context)
    case .overlay: app?.interactionDue(.overlay, &context)
    case .speech: app?.promptDue(&context)
    case .microphone: app?.recordingDue(&context)
    case .button: app?.buttonDue(&context)
    case .scriptedAnswer: scriptedAnswers.advance(&context)
    default: break
    }
  }

  func change(to language: String, _ context: inout ServedContext) {
    guard language != context.language else { return }
    context.language = language
    app?.languageDidChange(&context)
  }

  // MARK: RPCs

  mutating func receive(_ message: Message, _ security: inout ServedSecurity, _ context: inout ServedContext) {
    let version = message.header.version
    // Protocol 1 has other RPC payloads, which are not supported.
    guard version >= 2 else {
      return context.report(.headerVersion(expected: context.headerVersion, got: version))
    }
    do throws(RPCMessage.Malformed) {
      let rpc = try RPCMessage(payload: message.payload, as: .sdlCore)
      context.note(ConversationMessage(sender: .app, content: .rpc(rpc), isEncrypted: message.header.isEncrypted))
      let isRefused = !message.header.isEncrypted && security.refusesInClear(rpc, &context)
      switch rpc.type {
      case .request: answer(rpc, headerVersion: version, isRefused: isRefused, &context)
      // SDL Core answers as if it were a request.
      case _ where !rpc.function.isKnown:
        refuseUnread(rpc, .unsupportedRequest, info: "There is no \(rpc.function)", &context)
      case .notification: if !isRefused { receiveNotification(rpc, &context) }
      case .response: break  // No request was sent.
      }
    } catch {
      refuse(error, &context)
    }
  }

  private func refuse(_ message: RPCMessage.Malformed, _ context: inout ServedContext) {
    context.report(.malformedRPC(message))
    guard case .parameters(let header) = message, header.type == .request else { return }
    let function = FunctionID(rawValue: header.functionID)
    let request = RPCMessage(type: .request, function: function, correlationID: header.correlationID)
    if !refusesID(of: request, &context) {
      refuseUnread(request, .invalidData, info: message.description, &context)
    }
  }

  /// Refuses a request whose parameters don't matter.
  private func refuseUnread(
    _ request: RPCMessage, _ code: ResultCode, info: String, _ context: inout ServedContext
  ) {
    if request.type == .request, request.function == .registerAppInterface {
      return refuse(request, code, info: info, &context)
    }
    if app == nil { return refuseUnregistered(request, &context) }
    context.refuse(request, code, info)
  }

  private func refuseUnregistered(_ request: RPCMessage, _ context: inout ServedContext) {
    context.refuse(request, .applicationNotRegistered, "No app is registered in this session")
  }

  /// SDL Core checks the id before everything else.
  private func refusesID(of request: RPCMessage, _ context: inout ServedContext) -> Bool {
    if request.correlationID < 0 {
      refuseUnread(request, .invalidID, info: "The correlation id \(request.correlationID) is negative", &context)
    }
    return request.correlationID < 0
  }

  private mutating func answer(
    _ received: RPCMessage, headerVersion: UInt8, isRefused: Bool, _ context: inout ServedContext
  ) {
    guard !refusesID(of: received, &context) else { return }
    // SDL Core unregisters apps that send too many requests.
    if app != nil, requests.exceeds(at: context.now) {
      context.report(.tooManyRequests(limit: requests.limit, within: requests.window))
      return context.demand(.unregister(.tooManyRequests))
    }
    let isRegistration = received.function == .registerAppInterface
    if isRegistration, app == nil { context.rpcService?.settleVersion(headerVersion) }
    guard app != nil || isRegistration else { return refuseUnregistered(received, &context) }
    // SDL Core has no command for it.
    if received.function == .onAppCapabilityUpdated { return }
    // The request as SDL Core understands it, with a warning that lists omitted values.
    let (request, warning): (RPCMessage, String?)
    do throws(RPCFault) {
      (request, warning) = try RequestSchemas.checked(received)
    } catch {
      return refuseUnread(received, .invalidData, info: error.text, &context)
    }
    context.requestWarning = warning ?? app?.warning(of: request.parameters)
    defer { context.requestWarning = nil }
    if isRegistration {
      // Other answers to it are those of `HeadUnitBehaviour.registration`.
      _ = scriptedAnswers.answer(request, &context)
      return register(request, &context)
    }
    guard let app else { return }
    if isRefused {
      return context.refuse(request, .encryptionNeeded, "\(request.function) has to be encrypted")
    }
    if scriptedAnswers.answer(request, &context) { return }
    // An app may always leave.
    if request.function == .unregisterAppInterface { return context.demand(.unregisterByApp(request)) }
    if let refusal = app.refusal(of: request, context) {
      return context.refuse(request, refusal.code, refusal.info)
    }
    switch request.function {
    case .getSystemCapability:
      capability.answer(request, app, &context)
      context.demand(.capabilityAnnounced)
    case .sendHapticData:
      guard app.mayStream else {
        return context.refuse(
          request, .disallowed, "Only apps of the type NAVIGATION or PROJECTION have touchable rectangles")
      }
      capability.check(request, &context)
    default:
      let others = takenIdentities(context)
      self.app?.answer(request, others: others, &context)
    }
  }

  private func receiveNotification(_ notification: RPCMessage, _ context: inout ServedContext) {
    guard let app else { return }
    switch notification.function {
    case .onHMIStatus: context.report(.appHMIStatus(HMIStatus(json: notification.parameters)))
    case .onAppCapabilityUpdated:
      guard app.mayNotify(context) else {
        return context.report(.notificationNotAllowed(notification.function, app.status.level))
      }
      capability.check(notification, rpcVersion: app.rpcVersion, &context)
    default: break
    }
  }

  // MARK: RegisterAppInterface

  private mutating func register(_ request: RPCMessage, _ context: inout ServedContext) {
    guard app == nil else {
      let info = "An app is registered in this session"
      return refuse(request, .applicationRegisteredAlready, info: info, &context)
    }
    warnOfTypes(request, &context)
    switch decide(request, context) {
    case .unanswered: return
    case .refused(let code, let info): refuse(request, code, info: info, &context)
    case .accepted(let app, let code, let saved):
      self.app = app
      context.applyPolicies(to: app.identity.id)
      let info = Self.resumption(request.parameters, isResumed: saved != nil)
      context.respond(to: request, Self.response(code, app, info: info, context))
      context.report(
        .appRegistered(
          name: app.identity.name, id: app.identity.id, types: app.types,
          protocolVersion: context.rpcService?.protocolVersion ?? ProtocolVersion(1),
          code == .success && context.requestWarning != nil ? .warnings : code))
      sendNotifications(&context)
      if let saved { self.app?.resume(saved, &context) }
    }
  }

  /// As SDL Core, warns of types that the policies do not list for the app.
  private func warnOfTypes(_ request: RPCMessage, _ context: inout ServedContext) {
    let parameters = RegisterAppInterface(json: request.parameters)
    let unlisted = context.policies.unlistedTypes(parameters.appTypes, of: AppIdentity(parameters).id)
    guard context.requestWarning == nil, !unlisted.isEmpty else { return }
    context.requestWarning = "The policies do not list the app with \(unlisted.joined(separator: ", "))"
  }

  /// SDL Core ends the session after a failed registration, even of an app that is registered, unless the reason is
  /// another registration.
  private func refuse(_ request: RPCMessage, _ code: ResultCode, info: String, _ context: inout ServedContext) {
    context.refuse(request, code, info)
    let identity = AppIdentity(RegisterAppInterface(json: request.parameters))
    context.report(.registrationRefused(name: identity.name, id: identity.id, code))
    if code != .applicationRegisteredAlready { context.demand(.endSession) }
  }

  /// The messages after a registration.
  private mutating func sendNotifications(_ context: inout ServedContext) {
    let behaviour = context.behaviour
    app?.apply(.closed, &context)
    if let app, app.rpcVersion >= RPCVersion(6) {
      context.notify(.onSystemCapabilityUpdated, SystemCapabilities.answer("DISPLAYS") ?? [:])
    }
    if behaviour.activatesBeforePermissions { app?.openAutomatically(&context) }
    context.notify(.onPermissionsChange, Self.permissions(context).json)
    if behaviour.sendsCoreNotifications {
      context.notify(
        .onSystemRequest,
        ["requestType": .string("LOCK_SCREEN_ICON_URL"), "url": .string("https://example.invalid/lock-screen.png")])
      context.notify(.onDriverDistraction, OnDriverDistraction(isDistractionLimited: false).json)
    }
    if !behaviour.activatesBeforePermissions, let activation = context.configuration.activation {
      context.timers.arm(.activation, at: context.now + activation)
    }
    if let size = behaviour.policyUpdateSize, size > 0 {
      context.timers.arm(.policyUpdate, at: context.now + CoreLimits.policyUpdate)
    }
    context.demand(.registered)
  }

  /// The policies of the app, as SDL Core tells it of them.
  private static func permissions(_ context: ServedContext) -> OnPermissionsChange {
    let permissions = context.policy.permissions
    var notification = OnPermissionsChange(allowedLevels: permissions.mapValues(\.levels))
    notification.allowedParameters = permissions.compactMapValues { $0.parameters?.sorted() }
    if context.configuration.requiresRPCEncryption {
      let functions = permissions.keys.compactMap(FunctionID.init(name:))
      notification.protection = .functions(Set(functions.filter(context.policy.protects)))
    }
    return notification
  }

  /// A registered app hears of its new permissions.
  func policiesDidChange(_ context: inout ServedContext) {
    guard let app else { return }
    let former = context.policy
    context.applyPolicies(to: app.identity.id)
    if context.policy != former { context.notify(.onPermissionsChange, Self.permissions(context).json) }
  }

  mutating func requestPolicyUpdate(from url: String, _ context: inout ServedContext) {
    guard app != nil else { return }
    app?.expectPolicy()
    let body = #"{"policy_table":{}}"#
    // SDL's libraries read some of them without asking whether they are there.
    let headers: JSONObject = [
      "ContentType": .string("application/json"), "ConnectTimeout": .integer(CoreLimits.policyExchange),
      "DoOutput": .bool(true), "DoInput": .bool(true), "UseCaches": .bool(false), "RequestMethod": .string("POST"),
      "ReadTimeout": .integer(CoreLimits.policyExchange), "InstanceFollowRedirects": .bool(false),
      "charset": .string("utf-8"), "Content-Length": .integer(body.utf8.count),
    ]
    let request: JSONObject = ["HTTPRequest": .object(["headers": .object(headers), "body": .string(body)])]
    let bytes = request.serialized
    context.notify(
      .onSystemRequest,
      [
        "requestType": .string("PROPRIETARY"), "url": .string(url),
        "timeout": .integer(CoreLimits.policyExchange), "fileType": .string("JSON"), "offset": .integer(0),
        "length": .integer(bytes.count),
      ], bulk: bytes)
  }

  mutating func sendPolicyUpdate(_ context: inout ServedContext) {
    guard app != nil, let size = context.behaviour.policyUpdateSize, size > 0 else { return }
    app?.expectPolicy()
    context.notify(
      .onSystemRequest,
      ["requestType": .string("HTTP"), "fileType": .string("BINARY"), "length": .integer(size)],
      bulk: [UInt8](repeating: UInt8(ascii: "p"), count: size))
  }

  /// The apps whose names are taken; nil if the head unit does not check names.
  private func takenIdentities(_ context: ServedContext) -> [AppIdentity]? {
    context.configuration.refusesTakenNames ? others : nil
  }

  /// A request of an app that is not registered yet.
  private func decide(_ request: RPCMessage, _ context: ServedContext) -> Decision {
    let parameters = RegisterAppInterface(json: request.parameters)
    // Apps that run in the head unit's own browser are listed in its policies.
    if parameters.appTypes.contains(.webView) {
      return .refused(.disallowed, info: "The policies list no such app of the type WEB_VIEW")
    }
    let identity = AppIdentity(parameters, spokenNames: AppIdentity.spokenNames(in: request.parameters) ?? [])
    if let refusal = context.policies.refusal(of: identity.id, name: identity.name) {
      return .refused(.disallowed, info: refusal)
    }
    let saved = savedApp(of: identity, hash: request.parameters["hashID"]?.string)
    var code = Self.result(of: request.parameters, isResumed: saved != nil, context)
    switch context.behaviour.registration {
    case .regular: break
    case .silence: return .unanswered
    case .result(let scripted, success: true): code = scripted
    case .result(let scripted, success: false): return .refused(scripted, info: "As the head unit's settings say")
    }
    if let others = takenIdentities(context), let conflict = identity.conflict(with: others) {
      let isName = conflict == .duplicateName
      return .refused(conflict, info: isName ? AppIdentity.duplicateName : "An app with this id is registered")
    }
    // SDL Core answers an app below 5.0 with 4.5.1.
    let version = parameters.rpcVersion.major >= 5 ? parameters.rpcVersion : RPCVersion(4, 5, 1)
    let rpcVersion = min(version, context.configuration.rpcVersion)
    let hasIcon = self.saved.contains { $0.hasIcon && $0.id.lowercased() == identity.id.lowercased() }
    let languages = ["languageDesired", "hmiDisplayLanguageDesired"].compactMap { request.parameters[$0]?.string }
    let app = RegisteredApp(
      parameters, identity, languages: Set(languages), rpcVersion: rpcVersion, hasIcon: hasIcon, now: context.now)
    return .accepted(app, code, resuming: saved)
  }

  /// SDL Core reports one fault only, in this order.
  private static func result(of parameters: JSONObject, isResumed: Bool, _ context: ServedContext) -> ResultCode {
    let languages = ["languageDesired", "hmiDisplayLanguageDesired"].map { parameters[$0]?.string }
    if languages.contains(where: { $0 != context.language }) { return .wrongLanguage }
    guard context.requestWarning == nil, parameters["hashID"] != nil else { return .success }
    return isResumed ? .success : .resumeFailed
  }

  /// The state to restore, if the app names the right hash.
  private func savedApp(of identity: AppIdentity, hash: String?) -> SavedApp? {
    guard let hash else { return nil }
    return saved.first { $0.id.lowercased() == identity.id.lowercased() && $0.hash == hash }
  }

  /// What has become of the app's saved state, which SDL Core tells in any language; nil if the app asks for none.
  private static func resumption(_ parameters: JSONObject, isResumed: Bool) -> String? {
    guard parameters["hashID"] != nil else { return nil }
    return isResumed ? "The app's former state is restored" : "The hash is not that of a saved state of the app"
  }

  /// The members of the response.
  private static func response(
    _ code: ResultCode, _ app: RegisteredApp, info: String?, _ context: ServedContext
  ) -> JSONObject {
    let configuration = context.configuration
    var response = RegisterAppInterfaceResponse(result: RPCResult(success: true, resultCode: code, info: info))
    response.rpcVersion = app.rpcVersion
    response.isIconResumed = app.hasIcon
    response.language = context.language
    response.displayLanguage = context.language
    response.graphicSupported = true
    response.screenResolution = configuration.screen
    // `hmiCapabilities.videoStreaming` came with RPC 4.5.
    response.videoStreaming = configuration.rpcVersion >= RPCVersion(4, 5) ? true : nil
    response.pcmFormat = configuration.pcmFormat
    response.make = configuration.vehicle.make
    response.model = configuration.vehicle.model
    response.modelYear = configuration.vehicle.modelYear
    response.trim = configuration.vehicle.trim
    response.systemSoftwareVersion = configuration.vehicle.systemSoftwareVersion
    return TemplateCapabilities.added(to: response.json)
  }
}
