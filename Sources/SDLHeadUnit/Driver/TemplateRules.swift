import SDLMessages

/// What SDL Core, and SDL's generic HMI behind it, refuse of the requests that concern templates, although each member is
/// as it should be.
enum TemplateRules {
  private static let mediaButtons: Set = ["PLAY_PAUSE", "SEEKLEFT", "SEEKRIGHT", "TUNEUP", "TUNEDOWN"]

  /// Requests that have no mandatory member, and need one of these all the same; of none listed any.
  private static let alternatives: [FunctionID: [String]] = [
    .show: [], .showConstantTBT: [], .setGlobalProperties: [], .alertManeuver: ["ttsChunks", "softButtons"],
    .updateTurnList: ["turnList", "softButtons"],
  ]

  /// Nil for a request that is carried out.
  static func refusal(of request: RPCMessage, _ app: HeadUnitSession.RegisteredApp) -> RequestRefusal? {
    let parameters = request.parameters
    if let members = alternatives[request.function] {
      let isThere = members.isEmpty ? !parameters.isEmpty : members.contains { parameters[$0] != nil }
      if !isThere { return RequestRefusal(code: .invalidData) }
    }
    switch request.function {
    case .setMediaClockTimer: return refusalOfClock(parameters, app)
    case .showAppMenu: return refusalOfMenu(parameters, app)
    case .setDisplayLayout where !isAvailable(parameters["displayLayout"]?.string, app):
      return RequestRefusal(code: .unsupportedRequest, info: "The requested layout is not supported on this HMI")
    default: return nil
    }
  }

  /// What a Show with an unknown template is told, which is shown in the one that there is; nil for a known one.
  static func warning(of request: RPCMessage, _ app: HeadUnitSession.RegisteredApp) -> String? {
    let template = request.parameters["templateConfiguration"]?.object?["template"]?.string
    guard request.function == .show, let template, !isAvailable(template, app) else { return nil }
    return "Unsupported Template. Remaining data in request was processed."
  }

  /// Apps that play nothing get no buttons for it, and those that do not navigate none for a map.
  static func allowsButton(_ name: String, for app: HeadUnitSession.RegisteredApp) -> Bool {
    if mediaButtons.contains(name) || name.hasPrefix("PRESET_") { return app.isMedia }
    return !name.hasPrefix("NAV_") || app.types.contains(.navigation)
  }

  private static func isAvailable(_ template: String?, _ app: HeadUnitSession.RegisteredApp) -> Bool {
    guard let template, TemplateCapabilities.templates.contains(template) else { return false }
    return template != "MEDIA" || app.isMedia
  }

  private static func refusalOfClock(
    _ parameters: JSONObject, _ app: HeadUnitSession.RegisteredApp
  ) -> RequestRefusal? {
    guard app.isMedia else { return RequestRefusal(code: .rejected) }
    let counts = ["COUNTUP", "COUNTDOWN"].contains(parameters["updateMode"]?.string)
    return counts && parameters["startTime"] == nil ? RequestRefusal(code: .invalidData) : nil
  }

  private static func refusalOfMenu(
    _ parameters: JSONObject, _ app: HeadUnitSession.RegisteredApp
  ) -> RequestRefusal? {
    guard app.status.systemContext == .main || app.status.systemContext == .menu else {
      return RequestRefusal(code: .rejected)
    }
    let isThere = parameters["menuID"]?.integer.map { app.menu.subMenus[$0] != nil } ?? true
    return isThere ? nil : RequestRefusal(code: .invalidID)
  }
}
