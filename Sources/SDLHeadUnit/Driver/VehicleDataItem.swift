import SDLMessages

/// One of the car's data (parameters of GetVehicleData in MOBILE_API.xml of RPC 8.0).
struct VehicleDataItem: Sendable {
  /// `VehicleDataType` without its prefix.
  let type: String
  let schema: RPCSchema
  /// The reading of a car that stands, for scripts that name no value.
  let plausible: JSONValue

  private init(_ type: String, _ schema: RPCSchema, _ plausible: JSONValue) {
    self.type = type
    self.schema = schema
    self.plausible = plausible
  }

  /// By the name of the parameter.
  static let all: [String: VehicleDataItem] = [
    "accPedalPosition": VehicleDataItem("ACCPEDAL", .number(0...100), .integer(0)),
    "airbagStatus": VehicleDataItem("AIRBAGSTATUS", .events(airbags), .events(airbags)),
    "beltStatus": VehicleDataItem("BELTSTATUS", .events(belts), .events(belts)),
    "bodyInformation": VehicleDataItem(
      "BODYINFO", .body,
      .object([
        "parkBrakeActive": .bool(true), "ignitionStableStatus": .string("IGNITION_SWITCH_STABLE"),
        "ignitionStatus": .string("RUN"), "driverDoorAjar": .bool(false), "passengerDoorAjar": .bool(false),
        "rearLeftDoorAjar": .bool(false), "rearRightDoorAjar": .bool(false),
      ])),
    "climateData": VehicleDataItem(
      "CLIMATEDATA",
      .object([
        .optional("externalTemperature", .temperature), .optional("cabinTemperature", .temperature),
        .optional("atmosphericPressure", .number(0...2000)),
      ]),
      .object(["externalTemperature": .celsius(15), "cabinTemperature": .celsius(21)])),
    "cloudAppVehicleID": VehicleDataItem("CLOUDAPPVEHICLEID", .raw(0...500), .string("car-1")),
    "clusterModeStatus": VehicleDataItem(
      "CLUSTERMODESTATUS", .clusterModes,
      .object([
        "powerModeActive": .bool(true), "powerModeQualificationStatus": .string("POWER_MODE_OK"),
        "carModeStatus": .string("NORMAL"), "powerModeStatus": .string("RUNNING_2"),
      ])),
    "deviceStatus": VehicleDataItem(
      "DEVICESTATUS", .device,
      .object([
        "voiceRecOn": .bool(false), "btIconOn": .bool(true), "callActive": .bool(false), "phoneRoaming": .bool(false),
        "textMsgAvailable": .bool(false), "battLevelStatus": .string("FOUR_LEVEL_BARS"),
        "stereoAudioOutputMuted": .bool(false), "monoAudioOutputMuted": .bool(false),
        "signalLevelStatus": .string("FOUR_LEVEL_BARS"), "primaryAudioSource": .string("MOBILE_APP"),
        "eCallEventActive": .bool(false),
      ])),
    "driverBraking": VehicleDataItem("BRAKING", .eventStatus, .string("NO")),
    "eCallInfo": VehicleDataItem(
      "ECALLINFO",
      .object([
        .needed("eCallNotificationStatus", .notificationStatus),
        .needed("auxECallNotificationStatus", .notificationStatus),
        .needed(
          "eCallConfirmationStatus",
          .enumeration([
            "NORMAL", "CALL_IN_PROGRESS", "CALL_CANCELLED", "CALL_COMPLETED", "CALL_UNSUCCESSFUL",
            "ECALL_CONFIGURED_OFF", "CALL_COMPLETE_DTMF_TIMEOUT",
          ])),
      ]),
      .object([
        "eCallNotificationStatus": .string("NORMAL"), "auxECallNotificationStatus": .string("NORMAL"),
        "eCallConfirmationStatus": .string("NORMAL"),
      ])),
    "electronicParkBrakeStatus": VehicleDataItem(
      "ELECTRONICPARKBRAKESTATUS", .enumeration(["CLOSED", "TRANSITION", "OPEN", "DRIVE_ACTIVE", "FAULT"]),
      .string("CLOSED")),
    "emergencyEvent": VehicleDataItem(
      "EMERGENCYEVENT",
      .object([
        .needed(
          "emergencyEventType",
          .enumeration(["NO_EVENT", "FRONTAL", "SIDE", "REAR", "ROLLOVER", "NOT_SUPPORTED", "FAULT"])),
        .needed("fuelCutoffStatus", .enumeration(["TERMINATE_FUEL", "NORMAL_OPERATION", "FAULT"])),
        .needed("rolloverEvent", .eventStatus), .needed("maximumChangeVelocity", .integer(0...255)),
        .needed("multipleEvents", .eventStatus),
      ]),
      .object([
        "emergencyEventType": .string("NO_EVENT"), "fuelCutoffStatus": .string("NORMAL_OPERATION"),
        "rolloverEvent": .string("NO_EVENT"), "maximumChangeVelocity": .integer(0),
        "multipleEvents": .string("NO_EVENT"),
      ])),
    "engineOilLife": VehicleDataItem("ENGINEOILLIFE", .number(0...100), .integer(80)),
    "engineTorque": VehicleDataItem("ENGINETORQUE", .number(-1000...2000), .integer(0)),
    "externalTemperature": VehicleDataItem("EXTERNTEMP", .number(-40...100), .integer(15)),
    "fuelLevel": VehicleDataItem("FUELLEVEL", .number(-6...106), .integer(50)),
    "fuelLevel_State": VehicleDataItem("FUELLEVEL_STATE", .volumeStatus, .string("NORMAL")),
    "fuelRange": VehicleDataItem(
      "FUELRANGE",
      .list(
        .object([
          .optional("type", .enumeration(["GASOLINE", "DIESEL", "CNG", "LPG", "HYDROGEN", "BATTERY"])),
          .optional("range", .number(0...10_000)), .optional("level", .number(-6...1_000_000)),
          .optional("levelState", .volumeStatus), .optional("capacity", .number(0...1_000_000)),
          .optional("capacityUnit", .enumeration(["LITERS", "KILOWATTHOURS", "KILOGRAMS"])),
        ]), 0...100),
      .array([
        .object(["type": .string("GASOLINE"), "range": .integer(400), "levelState": .string("NORMAL")])
      ])),
    "gearStatus": VehicleDataItem(
      "GEARSTATUS",
      .object([
        .optional("userSelectedGear", .gear), .optional("actualGear", .gear),
        .optional(
          "transmissionType",
          .enumeration([
            "MANUAL", "AUTOMATIC", "SEMI_AUTOMATIC", "DUAL_CLUTCH", "CONTINUOUSLY_VARIABLE", "INFINITELY_VARIABLE",
            "ELECTRIC_VARIABLE", "DIRECT_DRIVE",
          ])),
      ]),
      .object([
        "userSelectedGear": .string("PARK"), "actualGear": .string("PARK"), "transmissionType": .string("AUTOMATIC"),
      ])),
    "gps": VehicleDataItem(
      "GPS", .position,
      .object([
        "latitudeDegrees": .number(52.5), "longitudeDegrees": .number(13.4), "heading": .integer(0),
        "actual": .bool(true),
      ])),
    "handsOffSteering": VehicleDataItem("HANDSOFFSTEERING", .flag, .bool(false)),
    "headLampStatus": VehicleDataItem(
      "HEADLAMPSTATUS",
      .object([
        .needed("lowBeamsOn", .flag), .needed("highBeamsOn", .flag),
        .optional(
          "ambientLightSensorStatus",
          .enumeration([
            "NIGHT", "TWILIGHT_1", "TWILIGHT_2", "TWILIGHT_3", "TWILIGHT_4", "DAY", "UNKNOWN", "INVALID",
          ])),
      ]),
      .object([
        "lowBeamsOn": .bool(false), "highBeamsOn": .bool(false), "ambientLightSensorStatus": .string("DAY"),
      ])),
    "instantFuelConsumption": VehicleDataItem("FUELCONSUMPTION", .number(0...25_575), .integer(0)),
    "myKey": VehicleDataItem(
      "MYKEY", .object([.needed("e911Override", .dataStatus)]), .object(["e911Override": .string("OFF")])),
    "odometer": VehicleDataItem("ODOMETER", .integer(0...17_000_000), .integer(12_345)),
    "prndl": VehicleDataItem("PRNDL", .gear, .string("PARK")),
    "rpm": VehicleDataItem("RPM", .integer(0...20_000), .integer(800)),
    "seatOccupancy": VehicleDataItem(
      "SEATOCCUPANCY",
      .object([
        .optional("seatsOccupied", .list(.seat, 0...100)), .optional("seatsBelted", .list(.seat, 0...100)),
      ]),
      .object(["seatsOccupied": .array([.driverSeat]), "seatsBelted": .array([.driverSeat])])),
    "speed": VehicleDataItem("SPEED", .number(0...700), .integer(0)),
    "stabilityControlsStatus": VehicleDataItem(
      "STABILITYCONTROLSSTATUS",
      .object([.optional("escSystem", .dataStatus), .optional("trailerSwayControl", .dataStatus)]),
      .object(["escSystem": .string("ON"), "trailerSwayControl": .string("NO_DATA_EXISTS")])),
    "steeringWheelAngle": VehicleDataItem("STEERINGWHEEL", .number(-2000...2000), .integer(0)),
    "tirePressure": VehicleDataItem("TIREPRESSURE", .tires, .tires),
    "turnSignal": VehicleDataItem("TURNSIGNAL", .enumeration(["OFF", "LEFT", "RIGHT", "BOTH"]), .string("OFF")),
    "vin": VehicleDataItem("VIN", .raw(0...17), .string("SDL00000000000001")),
    "windowStatus": VehicleDataItem(
      "WINDOWSTATUS",
      .list(.object([.needed("location", .grid), .needed("state", .windowState)]), 0...100),
      .array([
        .object([
          "location": .object(["row": .integer(0), "col": .integer(0)]),
          "state": .object(["approximatePosition": .integer(0), "deviation": .integer(0)]),
        ])
      ])),
    "wiperStatus": VehicleDataItem(
      "WIPERSTATUS",
      .enumeration([
        "OFF", "AUTO_OFF", "OFF_MOVING", "MAN_INT_OFF", "MAN_INT_ON", "MAN_LOW", "MAN_HIGH", "MAN_FLICK", "WASH",
        "AUTO_LOW", "AUTO_HIGH", "COURTESYWIPE", "AUTO_ADJUST", "STALLED", "NO_DATA_EXISTS",
      ]), .string("OFF")),
  ]

  /// The members for the subscription have another name once.
  static func subscriptionMember(of name: String) -> String { name == "clusterModeStatus" ? "clusterModes" : name }

  private static let airbags = [
    "driverAirbagDeployed", "driverSideAirbagDeployed", "driverCurtainAirbagDeployed", "passengerAirbagDeployed",
    "passengerCurtainAirbagDeployed", "driverKneeAirbagDeployed", "passengerSideAirbagDeployed",
    "passengerKneeAirbagDeployed",
  ]

  private static let belts = [
    "driverBeltDeployed", "passengerBeltDeployed", "passengerBuckleBelted", "driverBuckleBelted",
    "leftRow2BuckleBelted", "passengerChildDetected", "rightRow2BuckleBelted", "middleRow2BuckleBelted",
    "middleRow3BuckleBelted", "leftRow3BuckleBelted", "rightRow3BuckleBelted", "leftRearInflatableBelted",
    "rightRearInflatableBelted", "middleRow1BeltDeployed", "middleRow1BuckleBelted",
  ]
}

/// The structures and enumerations in them.
extension RPCSchema {
  fileprivate static let eventStatus = RPCSchema.enumeration(["NO_EVENT", "NO", "YES", "NOT_SUPPORTED", "FAULT"])
  fileprivate static let notificationStatus = RPCSchema.enumeration(["NOT_SUPPORTED", "NORMAL", "ACTIVE", "NOT_USED"])
  fileprivate static let dataStatus = RPCSchema.enumeration(["NO_DATA_EXISTS", "OFF", "ON"])
  fileprivate static let volumeStatus = RPCSchema.enumeration([
    "UNKNOWN", "NORMAL", "LOW", "FAULT", "ALERT", "NOT_SUPPORTED",
  ])
  fileprivate static let gear = RPCSchema.enumeration([
    "PARK", "REVERSE", "NEUTRAL", "DRIVE", "SPORT", "LOWGEAR", "FIRST", "SECOND", "THIRD", "FOURTH", "FIFTH", "SIXTH",
    "SEVENTH", "EIGHTH", "NINTH", "TENTH", "UNKNOWN", "FAULT",
  ])
  fileprivate static let temperature = RPCSchema.object([
    .needed("unit", .enumeration(["FAHRENHEIT", "CELSIUS"])), .needed("value", .anyNumber),
  ])
  fileprivate static let seat = RPCSchema.object([
    .needed("seatLocation", .seatLocation), .needed("conditionActive", .flag),
  ])
  fileprivate static let windowState = RPCSchema.object([
    .needed("approximatePosition", .integer(0...100)), .needed("deviation", .integer(0...100)),
  ])
  fileprivate static let door = RPCSchema.object(doorMembers)
  private static let doorMembers: [Member] = [
    .needed("location", .grid), .needed("status", .enumeration(["CLOSED", "LOCKED", "AJAR", "REMOVED"])),
  ]
  fileprivate static let body = RPCSchema.object([
    .needed("parkBrakeActive", .flag),
    .needed(
      "ignitionStableStatus",
      .enumeration(["IGNITION_SWITCH_NOT_STABLE", "IGNITION_SWITCH_STABLE", "MISSING_FROM_TRANSMITTER"])),
    .needed("ignitionStatus", .enumeration(["UNKNOWN", "OFF", "ACCESSORY", "RUN", "START", "INVALID"])),
    .optional("driverDoorAjar", .flag), .optional("passengerDoorAjar", .flag), .optional("rearLeftDoorAjar", .flag),
    .optional("rearRightDoorAjar", .flag), .optional("doorStatuses", .list(.door, 0...100)),
    .optional("gateStatuses", .list(.door, 0...100)),
    .optional("roofStatuses", .list(.object(doorMembers + [.optional("state", .windowState)]), 0...100)),
  ])
  fileprivate static let clusterModes = RPCSchema.object([
    .needed("powerModeActive", .flag),
    .needed(
      "powerModeQualificationStatus",
      .enumeration([
        "POWER_MODE_UNDEFINED", "POWER_MODE_EVALUATION_IN_PROGRESS", "NOT_DEFINED", "POWER_MODE_OK",
      ])),
    .needed("carModeStatus", .enumeration(["NORMAL", "FACTORY", "TRANSPORT", "CRASH"])),
    .needed(
      "powerModeStatus",
      .enumeration([
        "KEY_OUT", "KEY_RECENTLY_OUT", "KEY_APPROVED_0", "POST_ACCESORY_0", "ACCESORY_1", "POST_IGNITION_1",
        "IGNITION_ON_2", "RUNNING_2", "CRANK_3",
      ])),
  ])
  private static let bars = RPCSchema.enumeration([
    "ZERO_LEVEL_BARS", "ONE_LEVEL_BARS", "TWO_LEVEL_BARS", "THREE_LEVEL_BARS", "FOUR_LEVEL_BARS", "NOT_PROVIDED",
  ])
  fileprivate static let device = RPCSchema.object([
    .needed("voiceRecOn", .flag), .needed("btIconOn", .flag), .needed("callActive", .flag),
    .needed("phoneRoaming", .flag), .needed("textMsgAvailable", .flag), .needed("battLevelStatus", .bars),
    .needed("stereoAudioOutputMuted", .flag), .needed("monoAudioOutputMuted", .flag),
    .needed("signalLevelStatus", .bars),
    .needed(
      "primaryAudioSource",
      .enumeration([
        "NO_SOURCE_SELECTED", "CD", "USB", "USB2", "BLUETOOTH_STEREO_BTST", "LINE_IN", "IPOD", "MOBILE_APP", "AM", "FM",
        "XM", "DAB",
      ])),
    .needed("eCallEventActive", .flag),
  ])
  fileprivate static let position = RPCSchema.object([
    .needed("longitudeDegrees", .number(-180...180)), .needed("latitudeDegrees", .number(-90...90)),
    .optional("utcYear", .integer(2010...2100)), .optional("utcMonth", .integer(1...12)),
    .optional("utcDay", .integer(1...31)), .optional("utcHours", .integer(0...23)),
    .optional("utcMinutes", .integer(0...59)), .optional("utcSeconds", .integer(0...59)),
    .optional(
      "compassDirection",
      .enumeration(["NORTH", "NORTHWEST", "WEST", "SOUTHWEST", "SOUTH", "SOUTHEAST", "EAST", "NORTHEAST"])),
    .optional("pdop", .number(0...1000)), .optional("hdop", .number(0...1000)), .optional("vdop", .number(0...1000)),
    .optional("actual", .flag), .optional("satellites", .integer(0...31)),
    .optional("dimension", .enumeration(["NO_FIX", "2D", "3D"])), .optional("altitude", .number(-10_000...10_000)),
    .optional("heading", .number(0...359.99)), .optional("speed", .number(0...500)), .optional("shifted", .flag),
  ])
  private static let tire = RPCSchema.object([
    .needed("status", .volumeStatus),
    .optional(
      "tpms",
      .enumeration([
        "UNKNOWN", "SYSTEM_FAULT", "SENSOR_FAULT", "LOW", "SYSTEM_ACTIVE", "TRAIN", "TRAINING_COMPLETE", "NOT_TRAINED",
      ])), .optional("pressure", .number(0...2000)),
  ])
  fileprivate static let tires = RPCSchema.object(
    [.optional("pressureTelltale", .enumeration(["OFF", "ON", "FLASH", "NOT_USED"]))]
      + ["leftFront", "rightFront", "leftRear", "rightRear", "innerLeftRear", "innerRightRear"].map { name in
        .optional(name, .tire)
      })

  fileprivate static func events(_ names: [String]) -> RPCSchema { .object(names.map { .needed($0, .eventStatus) }) }
}

extension JSONValue {
  fileprivate static func events(_ names: [String]) -> JSONValue {
    .object(names.reduce(into: [:]) { $0[$1] = .string("NO_EVENT") })
  }

  fileprivate static func celsius(_ degrees: Int) -> JSONValue {
    .object(["unit": .string("CELSIUS"), "value": .integer(degrees)])
  }

  fileprivate static let driverSeat = JSONValue.object([
    "seatLocation": .object(["grid": .object(["row": .integer(0), "col": .integer(0)])]),
    "conditionActive": .bool(true),
  ])

  fileprivate static let tires = JSONValue.object(
    ["leftFront", "rightFront", "leftRear", "rightRear"].reduce(into: ["pressureTelltale": .string("OFF")]) {
      $0[$1] = .object(["status": .string("NORMAL"), "pressure": .integer(240)])
    })
}
