import SDLWire

/// Reads along what both ends of WebSockets write and read, and leaves the bytes of SDL. Bytes of other connections stay
/// as they are.
struct WebSocketWatch {
  /// What one end has written and read.
  fileprivate struct End {
    var sent: WebSocketReading
    var received: WebSocketReading
    /// Of the message that is being written.
    var message: [UInt8] = []
    /// Read, and not answered.
    var pings: [(payload: [UInt8], time: Duration)] = []
    var hasClosed = false
  }

  private static let longestPong = Duration.seconds(30)

  private var ends: [Int32: End] = [:]

  /// - Returns: the bytes of SDL, and what is wrong.
  mutating func take(
    _ bytes: [UInt8], of end: NetworkEnd, isSent: Bool, now: Duration, isDisturbed: Bool
  ) -> ([UInt8], fault: String?) {
    guard let isClient = end.isWebSocketClient else { return (bytes, nil) }
    var state =
      ends[end.id]
      ?? End(sent: WebSocketReading(fromClient: isClient), received: WebSocketReading(fromClient: !isClient))
    defer { ends[end.id] = state }
    var plain: [UInt8] = []
    var fault: String?
    do throws(WebSocketReading.Fault) {
      for item in isSent ? try state.sent.take(bytes) : try state.received.take(bytes) {
        if case .data(let data) = item { plain += data }
        let found = isSent ? state.send(item) : state.receive(item, now: now, isDisturbed: isDisturbed)
        fault = fault ?? found
      }
    } catch {
      fault = error.text
    }
    return (plain, fault)
  }
}

extension WebSocketWatch.End {
  fileprivate mutating func send(_ item: WebSocketReading.Item) -> String? {
    if hasClosed { return "\(item) after Close" }
    switch item {
    case .data(let data): message += data
    case .endOfFrame(false): return "a fragment"
    case .endOfFrame(true):
      defer { message = [] }
      // SDL's libraries for web apps take nothing else.
      var decoder = FrameDecoder(limits: FrameLimits(payload: 4 << 20))
      decoder.append(message)
      guard case .frame? = decoder.next(), decoder.bufferedByteCount == 0 else { return "no SDL frame in a message" }
    case .text, .ping: return "\(item), which is never sent"
    case .pong(let payload):
      guard let index = pings.firstIndex(where: { $0.payload == payload }) else { return "a pong of no ping" }
      pings.removeFirst(index + 1)
    case .close: hasClosed = true
    case .head: break
    }
    return nil
  }

  fileprivate mutating func receive(
    _ item: WebSocketReading.Item, now: Duration, isDisturbed: Bool
  ) -> String? {
    guard case .ping(let payload) = item else { return nil }
    let isLate = pings.first.map { now - $0.time > WebSocketWatch.longestPong } ?? false
    pings.append((payload, now))
    return isLate && !isDisturbed ? "a ping is not answered" : nil
  }
}
