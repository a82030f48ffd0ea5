import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages

/// What the head unit's apps are and show at present, as JSON (`GET /state`).
struct HeadUnitState: Sendable {
  private struct App: Sendable {
    var name = ""
    var id = ""
    var level = "NONE"
    var services: JSONObject = [:]
    /// The overlays of the app, each with the driver's inputs that end it; the last one is in front.
    var interactions: [(function: FunctionID, members: JSONObject)] = []
    var permissions: JSONValue?
    /// The file name of its icon.
    var icon: String?
    /// The buttons of the car that it has subscribed to.
    var buttons: JSONValue?
    /// The size of the screen that it was told, in pixels, which touches refer to.
    var display: JSONValue
    var screen: AppScreen
    var violations = 0

    init(display: VideoSize, keepsImages: Bool) {
      self.display = .object([
        "resolutionWidth": .integer(display.width), "resolutionHeight": .integer(display.height),
      ])
      screen = AppScreen(keepsImages: keepsImages)
    }

    var json: JSONObject {
      JSONObject(present: [
        "name": .string(name), "id": .string(id), "level": .string(level), "services": .object(services),
        "shows": .object(screen.shows), "interaction": interactions.last.map { .object($0.members) },
        "permissions": permissions,
        "icon": icon.map(JSONValue.string), "buttons": buttons, "display": display, "screen": .object(screen.json),
        "violations": .integer(violations),
      ])
    }
  }

  /// By the numbers of their sessions.
  private var apps: [UInt8: App] = [:]
  private let newApp: App

  /// - Parameters:
  ///   - display: the size of the screen before an app is told another one, in pixels.
  ///   - keepsImages: whether ``image(number:)`` finds any.
  init(display: VideoSize, keepsImages: Bool) {
    newApp = App(display: display, keepsImages: keepsImages)
  }

  func image(number: Int) -> AppImages.Image? {
    apps.values.lazy.compactMap { $0.screen.images?.image(number: number) }.first
  }

  var json: JSONObject {
    let apps = apps.sorted { $0.key < $1.key }.map { session, app in
      JSONValue.object(app.json.merging(["session": .integer(Int(session))]) { $1 })
    }
    return ["apps": .array(apps)]
  }

  /// Video and sound cost nothing here.
  mutating func note(_ event: HeadUnitServerEvent) {
    switch event {
    case .session(_, .videoData), .session(_, .audioData), .session(_, .videoTimestamp), .session(_, .videoMissed):
      break
    case .session(let id, .appRegistered(let name, let appID, _, _, _)):
      apps[id, default: newApp].name = name
      apps[id, default: newApp].id = appID
    case .session(let id, .appUnregistered), .disconnected(let id, _, _): apps[id] = nil
    case .session(let id, let event):
      if let index = apps.index(forKey: id) { Self.note(event, &apps.values[index]) }
    default: break
    }
  }

  /// Static, since a copy of all apps would be made for the call otherwise.
  private static func note(_ event: HeadUnitSession.Event, _ app: inout App) {
    var members: JSONObject { EventRecord(event)?.members ?? [:] }
    switch event {
    case .hmiStatusSent(let status): app.level = status.level?.rawValue ?? app.level
    case .videoStarted: app.services["video"] = .object(members)
    case .videoStopped: app.services["video"] = nil
    case .audioStarted: app.services["audio"] = .object(members)
    case .audioStopped: app.services["audio"] = nil
    case .interactionShown(let function, _, _):
      app.interactions.removeAll { $0.function == function }
      app.interactions.append((function, members))
      app.screen.show(function)
    case .interactionEnded(let function, _):
      app.interactions.removeAll { $0.function == function }
      app.screen.hide(function)
    case .nameChanged(let name): app.name = name
    case .iconSet(let name, _): app.icon = name
    case .buttonsSubscribed: app.buttons = members["names"]
    case .violation: app.violations += 1
    case .message(let message): if case .rpc(let rpc) = message.content { note(rpc, &app) }
    default: break
    }
  }

  private static func note(_ rpc: RPCMessage, _ app: inout App) {
    app.screen.note(rpc)
    switch (rpc.function, rpc.type) {
    case (.onPermissionsChange, .notification): app.permissions = rpc.parameters["permissionItem"]
    case (.getSystemCapability, .response), (.onSystemCapabilityUpdated, .notification):
      let capability = rpc.parameters["systemCapability"]?.object?["videoStreamingCapability"]?.object
      if let size = capability?["preferredResolution"] { app.display = size }
    default: break
    }
  }
}
