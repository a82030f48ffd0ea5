import SDLLink
import SDLMessages
import Synchronization

/// What an app has put on its screen and into its menus, as the members of its RPCs that have succeeded (`GET /state`).
struct AppScreen: Sendable {
  /// Requests that are not answered yet, by their correlation ids.
  private var requests: [Int32: RPCMessage] = [:]
  /// The oldest ones are forgotten, which may never be answered.
  private static let mostRequests = 16

  private var commands = Entries<Int>()
  private var submenus = Entries<Int>()
  private var choiceSets = Entries<Int>()
  private var properties: JSONObject = [:]
  private var shown = Entries<String>()
  /// More members than Show has.
  private static let mostShows = 64
  /// The last request of each of these functions.
  private var latest: [FunctionID: JSONObject] = [:]
  /// Requests whose overlay is shown.
  private var overlays: [FunctionID: JSONObject] = [:]
  private var timer: MediaTimer?
  private(set) var images: AppImages?

  /// - Parameter keepsImages: whether ``images`` are.
  init(keepsImages: Bool) {
    images = keepsImages ? AppImages() : nil
  }

  private static let lastOnes: [FunctionID: String] = [
    .showConstantTBT: "turn", .updateTurnList: "turnList", .alertManeuver: "maneuver", .setDisplayLayout: "layout",
    .sendHapticData: "haptics",
  ]
  private static let others: Set<FunctionID> = [
    .show, .addCommand, .deleteCommand, .addSubMenu, .deleteSubMenu, .createInteractionChoiceSet,
    .deleteInteractionChoiceSet, .setGlobalProperties, .resetGlobalProperties, .setMediaClockTimer, .putFile,
    .deleteFile, .alert, .subtleAlert, .performInteraction, .scrollableMessage, .slider,
  ]
  /// The members of SetGlobalProperties, by their names in ResetGlobalProperties; `menuLayout` has none.
  private static let propertyNames = [
    "MENUNAME": "menuTitle", "MENUICON": "menuIcon", "KEYBOARDPROPERTIES": "keyboardProperties",
    "HELPPROMPT": "helpPrompt", "TIMEOUTPROMPT": "timeoutPrompt", "VRHELPTITLE": "vrHelpTitle", "VRHELPITEMS": "vrHelp",
    "USER_LOCATION": "userLocation",
  ]

  /// The members of Show, each as it was sent last.
  var shows: JSONObject { JSONObject(uniqueKeysWithValues: shown.all.map { ($0.id, $0.members) }) }

  var json: JSONObject {
    let last = latest.map { function, members in (Self.lastOnes[function] ?? "", JSONValue.object(members)) }
    return JSONObject(present: [
      "commands": .array(commands.all.map(\.members)), "submenus": .array(submenus.all.map(\.members)),
      "choiceSets": .object(JSONObject(uniqueKeysWithValues: choiceSets.all.map { ("\($0.id)", $0.members) })),
      "properties": .object(properties),
      "overlays": .object(
        JSONObject(uniqueKeysWithValues: overlays.map { ($0.key.description, JSONValue.object($0.value)) })),
      "timer": timer.map { .object($0.json(at: MonotonicClock.now)) },
      "images": images.map { .object($0.json) },
    ]).merging(last) { $1 }
  }

  mutating func note(_ message: RPCMessage) {
    switch message.type {
    case .request:
      let isWanted = Self.others.contains(message.function) || Self.lastOnes[message.function] != nil
      guard isWanted else { return }
      if requests.count >= Self.mostRequests, let oldest = requests.keys.min() { requests[oldest] = nil }
      requests[message.correlationID] = message
    case .response:
      guard let request = requests.removeValue(forKey: message.correlationID) else { return }
      if message.parameters["success"]?.bool == true { apply(request) }
    default: break
    }
  }

  /// An overlay is shown, whose request is answered at its end.
  mutating func show(_ function: FunctionID) {
    overlays[function] =
      requests.values.filter { $0.function == function }.max { $0.correlationID < $1.correlationID }?
      .parameters
  }

  mutating func hide(_ function: FunctionID) {
    overlays[function] = nil
  }

  private mutating func apply(_ request: RPCMessage) {
    let members = request.parameters
    func id(_ name: String) -> Int { members[name]?.integer ?? 0 }
    switch request.function {
    case .show:
      for (name, value) in members where shown[name] != nil || shown.count < Self.mostShows { shown[name] = value }
    case .addCommand: commands[id("cmdID")] = .object(members)
    case .deleteCommand: commands[id("cmdID")] = nil
    case .addSubMenu: submenus[id("menuID")] = .object(members)
    case .deleteSubMenu: submenus[id("menuID")] = nil
    case .createInteractionChoiceSet: choiceSets[id("interactionChoiceSetID")] = members["choiceSet"]
    case .deleteInteractionChoiceSet: choiceSets[id("interactionChoiceSetID")] = nil
    case .setGlobalProperties:
      for name in Self.propertyNames.values + ["menuLayout"] { properties[name] = members[name] ?? properties[name] }
    case .resetGlobalProperties:
      for name in (members["properties"]?.array ?? []).compactMap(\.string) {
        if let member = Self.propertyNames[name] { properties[member] = nil }
      }
    case .setMediaClockTimer: timer = MediaTimer(members, after: timer, at: MonotonicClock.now)
    case .putFile: images?.put(members, request.bulk)
    case .deleteFile: images?.delete(members["syncFileName"]?.string ?? "")
    default: if Self.lastOnes[request.function] != nil { latest[request.function] = members }
    }
  }
}

/// Members of requests, by their ids, as far as there is room.
private struct Entries<ID: Hashable & Comparable & Sendable>: Sendable {
  private static var maximumByteCount: Int { 1 << 20 }

  private var entries: [ID: (members: JSONValue, byteCount: Int)] = [:]
  private var byteCount = 0

  var count: Int { entries.count }

  /// In the order of their ids.
  var all: [(id: ID, members: JSONValue)] { entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value.members) } }

  /// Has no value for what there was no room for.
  subscript(id: ID) -> JSONValue? {
    get { entries[id]?.members }
    set {
      byteCount -= entries.removeValue(forKey: id)?.byteCount ?? 0
      guard let newValue else { return }
      let count = ["": newValue].serialized.count
      guard byteCount + count <= Self.maximumByteCount else { return }
      entries[id] = (newValue, count)
      byteCount += count
    }
  }
}

/// The clock of SetMediaClockTimer.
private struct MediaTimer {
  /// In seconds, at `start`.
  private var position: Double
  private let end: Double?
  /// Seconds of it in a second: negative if it counts down, 0 if it stands.
  private var rate: Double
  private var runningRate: Double
  private let start: Duration

  /// Nil for a timer that is cleared.
  init?(_ members: JSONObject, after former: MediaTimer?, at now: Duration) {
    start = now
    let given = Self.seconds(members["startTime"])
    let countRate = members["countRate"]?.number ?? 1
    let formerPosition = former?.position(at: now) ?? 0
    end = Self.seconds(members["endTime"]) ?? former?.end
    position = given ?? formerPosition
    switch members["updateMode"]?.string {
    case "COUNTUP": (rate, runningRate) = (countRate, countRate)
    case "COUNTDOWN": (rate, runningRate) = (-countRate, -countRate)
    case "PAUSE": (rate, runningRate) = (0, former?.runningRate ?? 1)
    case "RESUME": (rate, runningRate) = (former?.runningRate ?? 1, former?.runningRate ?? 1)
    default: return nil
    }
  }

  private static func seconds(_ time: JSONValue?) -> Double? {
    guard let time = time?.object else { return nil }
    func part(_ name: String) -> Double { time[name]?.number ?? 0 }
    return part("hours") * 3600 + part("minutes") * 60 + part("seconds")
  }

  private func position(at now: Duration) -> Double { max(position + rate * ((now - start) / .seconds(1)), 0) }

  func json(at now: Duration) -> JSONObject {
    JSONObject(present: [
      "seconds": .number(position(at: now)), "end": end.map(JSONValue.number), "rate": .number(rate),
    ])
  }
}

/// The images that an app has uploaded, as far as there is room.
struct AppImages: Sendable {
  struct Image: Sendable {
    /// Other contents have another one, also of another app.
    let number: Int
    let contentType: String
    var bytes: [UInt8]
  }

  /// Of all images of an app, in bytes.
  private static let maximumByteCount = 16 << 20
  private static let mostImages = 500
  private static let contentTypes = [
    "GRAPHIC_PNG": "image/png", "GRAPHIC_JPEG": "image/jpeg", "GRAPHIC_BMP": "image/bmp",
  ]
  private static let count = Atomic(0)

  private var images: [String: Image] = [:]
  private var byteCount = 0

  /// The numbers of the images, by their names.
  var json: JSONObject { images.mapValues { JSONValue.integer($0.number) } }

  func image(number: Int) -> Image? { images.values.first { $0.number == number } }

  /// A file, or a part of one, that the head unit has accepted. What is too much is left out.
  mutating func put(_ members: JSONObject, _ bytes: [UInt8]) {
    guard let name = members["syncFileName"]?.string, let type = members["fileType"]?.string,
      let contentType = Self.contentTypes[type]
    else { return }
    // Taken out, so that a part is added without a copy of what was there.
    var contents = delete(name)
    if (members["offset"]?.integer ?? 0) == 0 { contents = [] }
    guard byteCount + contents.count + bytes.count <= Self.maximumByteCount, images.count < Self.mostImages else {
      return
    }
    contents += bytes
    byteCount += contents.count
    let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    images[name] = Image(number: number, contentType: contentType, bytes: contents)
  }

  /// - Returns: what was there.
  @discardableResult mutating func delete(_ name: String) -> [UInt8] {
    let contents = images.removeValue(forKey: name)?.bytes ?? []
    byteCount -= contents.count
    return contents
  }
}
