/// A part of the picture that can be touched, for head units without a touch screen: the driver moves a focus from one
/// to the next (`HapticRect`).
package struct HapticRectangle: Hashable, Sendable, CustomStringConvertible {
  /// 0…2 000 000 000, different for each rectangle of a list.
  package var id: Int
  /// Pixels from the left edge of the display.
  package var x: Double
  /// Pixels from the upper edge of the display.
  package var y: Double
  package var width: Double
  package var height: Double

  /// Ids that the specification allows.
  package static let ids = 0...2_000_000_000

  /// Creates a rectangle, in pixels from the upper left corner.
  package init(id: Int, x: Double, y: Double, width: Double, height: Double) {
    self.id = id
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// Nil unless everything is there, and of the right type and range.
  init?(json: JSONValue) {
    guard let object = json.object, let id = object.integer("id", in: Self.ids), let sides = object["rect"]?.object,
      let x = sides["x"]?.number, let y = sides["y"]?.number, let width = sides["width"]?.number,
      let height = sides["height"]?.number
    else { return nil }
    self.init(id: id, x: x, y: y, width: width, height: height)
  }

  var json: JSONValue {
    .object([
      "id": .integer(id),
      "rect": .object([
        "x": .number(x), "y": .number(y), "width": .number(width), "height": .number(height),
      ]),
    ])
  }

  /// "#1 (10.0, 10.0) 100.0×50.0".
  package var description: String { "#\(id) (\(x), \(y)) \(width)×\(height)" }
}

/// SendHapticData: replaces the list of touchable rectangles, in pixels of the head unit's display.
package struct SendHapticData: RPCParameters {
  /// Replaces the list of before; an empty one clears it.
  package var rectangles: [HapticRectangle]

  /// The most rectangles that the specification allows.
  package static let maximumCount = 1000

  /// Creates a request with a list, which may be empty.
  package init(rectangles: [HapticRectangle]) {
    self.rectangles = rectangles
  }

  /// Leaves out unreadable rectangles, and those beyond ``maximumCount``.
  package init(json: JSONObject) {
    rectangles = (json["hapticRectData"]?.array ?? []).prefix(Self.maximumCount).compactMap(HapticRectangle.init(json:))
  }

  /// Nil for a list that a head unit refuses as invalid: a list of another type, too long, or with an unreadable
  /// rectangle. An absent list is an empty one.
  package init?(validating json: JSONObject) {
    let values: [JSONValue]
    switch json["hapticRectData"] {
    case nil: values = []
    case .array(let array)?: values = array
    default: return nil
    }
    guard values.count <= Self.maximumCount else { return nil }
    rectangles = values.compactMap(HapticRectangle.init(json:))
    guard rectangles.count == values.count else { return nil }
  }

  package var json: JSONObject { ["hapticRectData": .array(rectangles.map(\.json))] }
}
