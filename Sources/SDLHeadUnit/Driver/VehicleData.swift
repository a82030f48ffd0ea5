import SDLMessages

/// A reading of the car, by its name in the RPC specification, such as `speed`.
public struct VehicleReading: Equatable, Sendable {
  public let name: String
  public let value: JSONValue

  /// A reading from a script; nil for an unknown name, or a value that the specification does not have.
  public init?(_ name: String, _ text: String) {
    guard let item = VehicleData.items[name] else { return nil }
    let value = Int(text).map(JSONValue.integer) ?? Double(text).map(JSONValue.number)
    let constant = JSONValue.string(CommandParser.constant(text))
    guard let value = [value, constant].compactMap(\.self).first(where: item.schema.contains) else { return nil }
    self.init(name: name, value: value)
  }

  /// The car's position, in degrees, and its heading, in degrees from north.
  public init?(latitude: Double, longitude: Double, heading: Double? = nil) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude),
      heading.map((0...359.99).contains) ?? true
    else { return nil }
    var members: JSONObject = ["latitudeDegrees": .number(latitude), "longitudeDegrees": .number(longitude)]
    members["heading"] = heading.map(JSONValue.number)
    self.init(name: "gps", value: .object(members))
  }

  private init(name: String, value: JSONValue) {
    self.name = name
    self.value = value
  }
}

/// The app's subscriptions to vehicle data (SubscribeVehicleData), and its notifications.
struct VehicleData: Sendable {
  /// The possible readings: `VehicleDataType` and the values (MOBILE_API.xml).
  static let items: [String: (type: String, schema: RPCSchema)] = [
    "speed": ("SPEED", .number(0...700)),
    "rpm": ("RPM", .integer(0...20_000)),
    "fuelLevel": ("FUELLEVEL", .number(-6...106)),
    "instantFuelConsumption": ("FUELCONSUMPTION", .number(0...25_575)),
    "externalTemperature": ("EXTERNTEMP", .number(-40...100)),
    "prndl": (
      "PRNDL",
      .enumeration([
        "PARK", "REVERSE", "NEUTRAL", "DRIVE", "SPORT", "LOWGEAR", "FIRST", "SECOND", "THIRD", "FOURTH", "FIFTH",
        "SIXTH", "SEVENTH", "EIGHTH", "UNKNOWN", "FAULT",
      ])
    ),
    "odometer": ("ODOMETER", .integer(0...17_000_000)),
    "engineTorque": ("ENGINETORQUE", .number(-1000...2000)),
    "accPedalPosition": ("ACCPEDAL", .number(0...100)),
    "steeringWheelAngle": ("STEERINGWHEEL", .number(-2000...2000)),
    "turnSignal": ("TURNSIGNAL", .enumeration(["OFF", "LEFT", "RIGHT", "BOTH"])),
    "gps": ("GPS", .object([])),
  ]

  private var subscribed: Set<String> = []

  /// GetVehicleData, SubscribeVehicleData or UnsubscribeVehicleData.
  mutating func answer(_ request: RPCMessage, _ context: inout SessionContext) {
    let wanted = Self.items.keys.filter { request.parameters[$0]?.bool == true }
    guard !wanted.isEmpty else { return context.respond(to: request, success: false, .invalidData) }
    if request.function == .getVehicleData {
      let known = context.vehicle.filter { wanted.contains($0.key) }
      guard !known.isEmpty else { return context.respond(to: request, success: false, .vehicleDataNotAvailable) }
      return context.respond(to: request, with: known)
    }
    subscribe(wanted, request, isWanted: request.function == .subscribeVehicleData, &context)
  }

  /// SDL Core answers with a warning if some, but not all, were subscribed to already, or were not subscribed to.
  private mutating func subscribe(
    _ wanted: [String], _ request: RPCMessage, isWanted: Bool, _ context: inout SessionContext
  ) {
    let changed = wanted.filter { subscribed.contains($0) != isWanted }
    if isWanted { subscribed.formUnion(changed) } else { subscribed.subtract(changed) }
    let unchangedCode = isWanted ? "DATA_ALREADY_SUBSCRIBED" : "DATA_NOT_SUBSCRIBED"
    let members = wanted.reduce(into: JSONObject()) { members, name in
      members[name] = .object([
        "dataType": .string("VEHICLEDATA_\(Self.items[name]?.type ?? "")"),
        "resultCode": .string(changed.contains(name) ? "SUCCESS" : unchangedCode),
      ])
    }
    let code: ResultCode = changed.isEmpty ? .ignored : changed.count < wanted.count ? .warnings : .success
    let result = RPCResult(success: !changed.isEmpty, resultCode: code).json
    context.respond(to: request, result.merging(members) { $1 })
  }

  /// The car has new readings.
  func tell(_ reading: VehicleReading, _ context: inout SessionContext) {
    if subscribed.contains(reading.name) { context.notify(.onVehicleData, [reading.name: reading.value]) }
  }
}

/// Texts of an app for the driver to read or hear.
enum ShownTexts {
  /// The most that are reported.
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
