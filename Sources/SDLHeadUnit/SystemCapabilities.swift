import SDLMessages

/// The capabilities besides video, as SDL Core ships them (`hmi_capabilities.json`), and that of the templates.
enum SystemCapabilities {
  /// What `hmiCapabilities` of the registration promises.
  static let promised: JSONObject = [
    "navigation": .bool(true), "phoneCall": .bool(true), "videoStreaming": .bool(true), "remoteControl": .bool(false),
    "appServices": .bool(true), "displays": .bool(true), "seatLocation": .bool(true), "driverDistraction": .bool(true),
  ]

  /// The member of `SystemCapability` and its value, by the type; nil for a type that is not here.
  static func capability(_ type: String) -> (member: String, value: JSONValue)? {
    switch type {
    case "NAVIGATION":
      ("navigationCapability", .object(["sendLocationEnabled": .bool(true), "getWayPointsEnabled": .bool(true)]))
    case "PHONE_CALL": ("phoneCapability", .object(["dialNumberEnabled": .bool(true)]))
    case "APP_SERVICES": ("appServicesCapabilities", .object(["appServices": .array([])]))
    case "SEAT_LOCATION":
      (
        "seatLocationCapability",
        .object([
          "rows": .integer(2), "columns": .integer(3), "levels": .integer(1), "seats": .array([.object(driverSeat)]),
        ])
      )
    case "DRIVER_DISTRACTION":
      ("driverDistractionCapability", .object(["menuLength": .integer(10), "subMenuDepth": .integer(3)]))
    case "DISPLAYS": ("displayCapabilities", .array([TemplateCapabilities.display]))
    default: nil
    }
  }

  private static let driverSeat: JSONObject = [
    "row": .integer(0), "col": .integer(0), "level": .integer(0), "rowspan": .integer(1), "levelspan": .integer(1),
    "colspan": .integer(1),
  ]
}
