import SDLMessages

/// A reading of the car, by its name in the RPC specification, such as `speed`.
package struct VehicleReading: Equatable, Sendable {
  package let name: String
  package let value: JSONValue

  /// A reading from a script; nil for an unknown name, or a value that the specification does not have.
  /// - Parameter text: a number, a word, or JSON for a structure, whose missing members are plausible ones; nil is the
  ///   reading of a car that stands.
  package init?(_ name: String, _ text: String?) {
    guard let item = VehicleDataItem.all[name] else { return nil }
    guard let text else {
      self.init(name: name, value: item.plausible)
      return
    }
    let candidates = [
      Int(text).map(JSONValue.integer), Double(text).map(JSONValue.number), Self.flag(text).map(JSONValue.bool),
      .string(text), .string(CommandParser.constant(text)), Self.structure(text, item.plausible),
    ]
    guard let value = candidates.compactMap(\.self).first(where: item.schema.contains) else { return nil }
    self.init(name: name, value: value)
  }

  /// The car's position, in degrees, and its heading, in degrees from north.
  package init?(latitude: Double, longitude: Double, heading: Double? = nil) {
    self.init(latitude: latitude, longitude: longitude, heading: heading, altitude: nil, time: nil)
  }

  /// As above. An altitude, in metres, or a time that the specification does not have is left out.
  init?(latitude: Double, longitude: Double, heading: Double?, altitude: Double?, time: UTCTime?) {
    var members: JSONObject = ["latitudeDegrees": .number(latitude), "longitudeDegrees": .number(longitude)]
    members["heading"] = heading.map(JSONValue.number)
    if let altitude, (-10_000...10_000).contains(altitude) { members["altitude"] = .number(altitude) }
    if let time, (2010...2100).contains(time.date.year) {
      let (date, clock) = (time.date, time.clock)
      let fields = [
        "utcYear": date.year, "utcMonth": date.month, "utcDay": date.day, "utcHours": clock.hours,
        "utcMinutes": clock.minutes, "utcSeconds": clock.seconds,
      ]
      members.merge(fields.mapValues(JSONValue.integer)) { $1 }
    }
    guard VehicleDataItem.all["gps"]?.schema.contains(.object(members)) == true else { return nil }
    self.init(name: "gps", value: .object(members))
  }

  /// In km/h.
  init?(speed: Double) {
    guard VehicleDataItem.all["speed"]?.schema.contains(.number(speed)) == true else { return nil }
    self.init(name: "speed", value: .number(speed))
  }

  private init(name: String, value: JSONValue) {
    self.name = name
    self.value = value
  }

  private static func flag(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "on", "yes", "true": true
    case "off", "no", "false": false
    default: nil
    }
  }

  private static func structure(_ text: String, _ plausible: JSONValue) -> JSONValue? {
    let value = (try? JSONObject(parsing: #"{"value":\#(text)}"#.utf8))?["value"]
    guard let members = value?.object, let plausible = plausible.object else { return value }
    return .object(plausible.merging(members) { $1 })
  }
}

/// The app's requests for vehicle data, its subscriptions (SubscribeVehicleData), and its notifications.
struct VehicleData: Sendable {
  private(set) var subscribed: Set<String> = []
  private var requests = CoreLimits.vehicleDataRequests

  /// GetVehicleData, SubscribeVehicleData or UnsubscribeVehicleData.
  /// - Returns: whether it counts as a change of what can be resumed.
  mutating func answer(_ request: RPCMessage, _ context: inout ServedContext) -> Bool {
    let function = request.function
    if function == .getVehicleData {
      guard !requests.isReached(at: context.now) else {
        context.respond(
          to: request, success: false, .rejected,
          info: "More than \(requests.limit) requests within \(requests.window.inSeconds)")
        return false
      }
      _ = requests.exceeds(at: context.now)
    }
    let policy = context.policy
    let names = VehicleDataItem.all.keys.filter { request.parameters[$0]?.bool == true }.sorted()
    guard !names.isEmpty else {
      context.respond(to: request, success: false, .invalidData, info: "The request names no data")
      return false
    }
    let wanted = names.filter { policy.allows($0, of: function) }
    let disallowed = names.filter { !wanted.contains($0) }
    if function != .getVehicleData { return subscribe(request, to: wanted, disallowed, &context) }
    let known = context.vehicle.filter { wanted.contains($0.key) }
    let missing = wanted.filter { known[$0] == nil }
    let code: ResultCode =
      wanted.isEmpty ? .disallowed : missing.isEmpty ? .success : .vehicleDataNotAvailable
    Self.respond(
      to: request, success: !known.isEmpty, code, with: known,
      info: [Self.sentence("The car has no reading of", missing), Self.refusal(of: disallowed)], &context)
    return false
  }

  /// SDL Core ignores subscriptions that are there already, and ends that have nothing to end, and carries out the
  /// others.
  private mutating func subscribe(
    _ request: RPCMessage, to wanted: [String], _ disallowed: [String], _ context: inout ServedContext
  ) -> Bool {
    let isWanted = request.function == .subscribeVehicleData
    let changed = wanted.filter { subscribed.contains($0) != isWanted }
    let unchanged = wanted.filter { !changed.contains($0) }
    if isWanted { subscribed.formUnion(changed) } else { subscribed.subtract(changed) }
    let groups = [
      (changed, "SUCCESS"), (unchanged, isWanted ? "DATA_ALREADY_SUBSCRIBED" : "DATA_NOT_SUBSCRIBED"),
      (disallowed, "DISALLOWED"),
    ]
    let members = groups.reduce(into: JSONObject()) { members, group in
      for name in group.0 {
        members[VehicleDataItem.subscriptionMember(of: name)] = .object([
          "dataType": .string("VEHICLEDATA_\(VehicleDataItem.all[name]?.type ?? "")"),
          "resultCode": .string(group.1),
        ])
      }
    }
    let code: ResultCode = wanted.isEmpty ? .disallowed : unchanged.isEmpty ? .success : .ignored
    let sentence = Self.sentence(isWanted ? "Subscribed to already:" : "Not subscribed to:", unchanged)
    Self.respond(
      to: request, success: !changed.isEmpty, code, with: members, info: [sentence, Self.refusal(of: disallowed)],
      &context)
    return !changed.isEmpty
  }

  private static func sentence(_ beginning: String, _ names: [String]) -> String? {
    names.isEmpty ? nil : "\(beginning) \(names.joined(separator: ", "))."
  }

  private static func refusal(of names: [String]) -> String? { sentence("The policies do not grant", names) }

  private static func respond(
    to request: RPCMessage, success: Bool, _ code: ResultCode, with members: JSONObject, info: [String?],
    _ context: inout ServedContext
  ) {
    let sentences = info.compactMap(\.self)
    let result = RPCResult(
      success: success, resultCode: code, info: sentences.isEmpty ? nil : sentences.joined(separator: " "))
    context.respond(to: request, result.json.merging(members) { $1 })
  }

  func tell(_ reading: VehicleReading, _ context: inout ServedContext) {
    // The policies that grant OnVehicleData are those of the subscription.
    if subscribed.contains(reading.name) { context.notify(.onVehicleData, [reading.name: reading.value]) }
  }

  /// The subscriptions before the app's connection broke.
  mutating func resume(_ subscribed: Set<String>) {
    self.subscribed = subscribed
  }
}

/// Texts of an app for the driver to read or hear.
enum ShownTexts {
  private static let mostTexts = 10

  /// The texts of a request, in the order in which they are shown.
  static func texts(of request: RPCMessage) -> [String] {
    let parameters = request.parameters
    let names =
      switch request.function {
      case .alert, .subtleAlert: ["alertText1", "alertText2", "alertText3"]
      case .showConstantTBT: ["navigationText1", "navigationText2", "totalDistance", "timeToDestination", "eta"]
      default: [String]()
      }
    let turns = (parameters["turnList"]?.array ?? []).map { $0.object?["navigationText"] }
    let spoken = (parameters["ttsChunks"]?.array ?? []).map { $0.object?["text"] }
    return Array((names.map { parameters[$0] } + turns + spoken).compactMap { $0?.string }.prefix(mostTexts))
  }
}
