/// OnTouchEvent: fingers on the head unit's screen.
package struct OnTouchEvent: RPCParameters {
  /// The action of all fingers in the message (`TouchType`).
  package enum Kind: String, Sendable, CaseIterable {
    case begin = "BEGIN"
    case move = "MOVE"
    case end = "END"
    case cancel = "CANCEL"
  }

  /// Where a finger was, and when (`TouchCoord` with its time stamp).
  package struct Sample: Hashable, Sendable {
    /// In pixels of the head unit's display, from its left edge.
    package var x: Int
    /// From the upper edge.
    package var y: Int
    /// Milliseconds of a steady clock of the head unit; nil when it sends none.
    package var time: Int?

    /// Creates a sample, in pixels from the upper left corner; `time` in milliseconds.
    package init(x: Int, y: Int, time: Int? = nil) {
      self.x = x
      self.y = y
      self.time = time
    }
  }

  /// The positions of a finger since the last message (`TouchEvent`).
  package struct Finger: Hashable, Sendable {
    /// 0…9.
    package var id: Int
    /// Oldest first.
    package var samples: [Sample]

    package init(id: Int, samples: [Sample]) {
      self.id = id
      self.samples = samples
    }
  }

  /// Nil for an unknown type; ignore such a message.
  package var kind: Kind?
  package var fingers: [Finger]

  /// Ids that the specification allows.
  package static let ids = 0...9
  /// Coordinates that the specification allows.
  package static let coordinates = 0...10_000
  /// Time stamps that the specification allows, in milliseconds.
  package static let times = 0...2_000_000_000
  /// The most fingers that the specification allows in a message.
  package static let maximumFingers = 10
  /// The most samples that the specification allows for a finger.
  package static let maximumSamples = 1000

  /// Creates an event in which all `fingers` do the same.
  package init(kind: Kind?, fingers: [Finger]) {
    self.kind = kind
    self.fingers = fingers
  }

  /// Coordinates are clamped to the range of the specification; unreadable fingers and samples are left out.
  package init(json: JSONObject) {
    kind = json.enumeration("type")
    fingers = (json["event"]?.array ?? []).prefix(Self.maximumFingers).compactMap { value in
      guard let object = value.object, let id = object.integer("id", in: Self.ids) else { return nil }
      return Finger(id: id, samples: Self.samples(object["c"]?.array ?? [], times: object["ts"]?.array ?? []))
    }
  }

  private static func samples(_ values: [JSONValue], times: [JSONValue]) -> [Sample] {
    values.prefix(maximumSamples).enumerated().compactMap { index, value in
      guard let x = value.object?["x"]?.integer, let y = value.object?["y"]?.integer else { return nil }
      // One time stamp may stand for all coordinates.
      let time = (times.indices.contains(index) ? times[index] : times.last)?.integer
      return Sample(
        x: clamp(x), y: clamp(y), time: time.flatMap { Self.times.contains($0) ? $0 : nil })
    }
  }

  private static func clamp(_ coordinate: Int) -> Int {
    min(max(coordinate, coordinates.lowerBound), coordinates.upperBound)
  }

  package var json: JSONObject {
    JSONObject(present: [
      "type": kind.map { .string($0.rawValue) },
      "event": .array(
        fingers.map { finger in
          .object([
            "id": .integer(finger.id),
            "ts": .array(finger.samples.compactMap(\.time).map(JSONValue.integer)),
            "c": .array(finger.samples.map { .object(["x": .integer($0.x), "y": .integer($0.y)]) }),
          ])
        }),
    ])
  }
}
