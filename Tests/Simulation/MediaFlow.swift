import SDLHeadUnit

/// What is too frequent for a line each: video and sound that have reached the head unit between two other events, and
/// what both sides say at intervals.
struct MediaFlow {
  private struct Stream {
    let name: String
    var count = 0
    var byteCount = 0
  }

  private var streams: [Stream] = []

  mutating func take(_ event: HeadUnitSession.Event, of id: UInt8) {
    switch event {
    case .videoData(let bytes): count("\(id) has got video", bytes.count)
    case .audioData(let bytes): count("\(id) has got sound", bytes.count)
    case .videoMissed: count("\(id) has missed video", 0)
    default: break
    }
  }

  /// Whether a line of the trace is so frequent.
  mutating func take(_ line: String) -> Bool {
    guard
      ["ServiceDataACK video", "Heartbeat", "HeartbeatACK"].contains(where: line.hasSuffix)
        || line.contains(" has keys: press ")
    else { return false }
    count(String(line.drop { $0 == " " }), 0)
    return true
  }

  private mutating func count(_ name: String, _ byteCount: Int) {
    if !streams.contains(where: { $0.name == name }) { streams.append(Stream(name: name)) }
    for index in streams.indices where streams[index].name == name {
      streams[index].count += 1
      streams[index].byteCount += byteCount
    }
  }

  /// A line for each of them since the last call.
  mutating func end() -> [String] {
    defer { streams = [] }
    return streams.map { "\($0.name): \($0.count)" + ($0.byteCount > 0 ? ", \($0.byteCount) bytes" : "") }
  }
}
