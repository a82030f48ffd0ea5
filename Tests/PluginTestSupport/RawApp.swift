import Glibc
import SDLMessages
import SDLWire

@testable import SDLLink

/// An app that a test controls frame by frame: it sends what the test says, and reads until the awaited frame.
final class RawApp {
  private let socket: Socket
  private var decoder = FrameDecoder()
  private var assembler = MessageAssembler()
  private var nextMessageID: UInt32 = 1
  private(set) var sessionID: UInt8 = 0
  /// Ends the session.
  private(set) var hashID: Int32 = 0
  private let version: UInt8 = 5

  init(port: UInt16) throws {
    guard let address = try Resolver.addresses(host: "127.0.0.1", port: port, flags: AI_NUMERICHOST).get().first,
      let socket = Socket.tcp(family: AF_INET)
    else { throw TestFailure("no socket") }
    _ = address.withPointer { connect(socket.descriptor, $0, $1) }
    self.socket = socket
    // Otherwise a second short message waits for the acknowledgement of the first.
    socket.configureTCP()
    var poll = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
    guard Glibc.poll(&poll, 1, 5000) > 0, socket.takeError() == 0 else { throw TestFailure("no connection") }
  }

  /// A session, a registration, and the level FULL.
  static func active(port: UInt16, name: String = "Raw") throws -> RawApp {
    let app = try RawApp(port: port)
    try app.register(name: name)
    try app.wait(for: .full)
    return app
  }

  /// An app whose video service is open.
  static func streaming(
    port: UInt16, name: String = "Raw", _ parameters: VideoServiceParameters = .raw320x240
  ) throws -> RawApp {
    let app = try active(port: port, name: name)
    try app.startVideo(parameters)
    return app
  }

  /// The secondary transport of another one's session, registered.
  static func secondary(of primary: RawApp, port: UInt16) throws -> RawApp {
    let app = try RawApp(port: port)
    app.sessionID = primary.sessionID
    app.send(
      .control(.registerSecondaryTransport, service: .control, version: 5, sessionID: app.sessionID, messageID: 1))
    try app.waitForFrame("secondary transport") { $0.header.controlFrame == .registerSecondaryTransportACK }
    return app
  }

  /// Registers in a new session; the next call takes a further one on the same connection.
  func register(name: String = "Raw") throws {
    send(
      .control(
        .startService, service: .rpc, version: 1, sessionID: 0,
        payload: RPCServiceRequest(protocolVersion: ProtocolVersion(5, 4, 0)).bytes))
    let answer = try waitForFrame("session") { $0.header.controlFrame == .startServiceACK }
    sessionID = answer.header.sessionID
    hashID = RPCServiceAcknowledgement(payload: answer.payload, version: answer.header.version).hashID ?? 0
    let request = RPCMessage(
      type: .request, function: .registerAppInterface, correlationID: 1, parameters: Self.registration(name: name))
    send(request.payload, .rpc)
  }

  static func registration(name: String = "Raw") -> JSONObject {
    RegisterAppInterface(
      rpcVersion: RPCVersion(8), appName: name, appID: name, language: "EN-US", isMediaApplication: false,
      appTypes: [.navigation]
    ).json
  }

  /// Sends a request and waits for its answer.
  func request(_ function: FunctionID, _ parameters: JSONObject) throws -> RPCResult {
    let request = RPCMessage(type: .request, function: function, correlationID: 77, parameters: parameters)
    send(request.payload, .rpc)
    var result: RPCResult?
    try waitForMessage("answer") { message in
      guard let rpc = try? RPCMessage(payload: message.payload), rpc.type == .response, rpc.correlationID == 77 else {
        return false
      }
      result = RPCResult(json: rpc.parameters)
      return true
    }
    guard let result else { throw TestFailure("no answer") }
    return result
  }

  func startVideo(_ parameters: VideoServiceParameters, timeout: Duration = testTimeout) throws {
    guard try requestVideo(parameters, timeout: timeout) else { throw TestFailure("video was refused") }
  }

  /// Asks for a video service; false when the head unit refuses it.
  func requestVideo(_ parameters: VideoServiceParameters, timeout: Duration = testTimeout) throws -> Bool {
    send(
      .control(
        .startService, service: .video, version: version, sessionID: sessionID,
        payload: parameters.bytes(version: version)))
    let answer = try waitForFrame("answer", timeout: timeout) {
      $0.header.service == .video && [.startServiceACK, .startServiceNAK].contains($0.header.controlFrame)
    }
    return answer.header.controlFrame == .startServiceACK
  }

  func endVideo() {
    send(.control(.endService, service: .video, version: version, sessionID: sessionID))
  }

  /// Asks for an audio service; false when the head unit refuses it.
  func startAudio(isEncrypted: Bool = false) throws -> Bool {
    var start = Frame.control(.startService, service: .audio, version: version, sessionID: sessionID)
    start.header.isEncrypted = isEncrypted
    send(start)
    let answer = try waitForFrame("answer") {
      $0.header.service == .audio && [.startServiceACK, .startServiceNAK].contains($0.header.controlFrame)
    }
    return answer.header.controlFrame == .startServiceACK
  }

  /// An app whose audio service is open.
  static func speaking(port: UInt16, name: String = "Raw") throws -> RawApp {
    let app = try active(port: port, name: name)
    guard try app.startAudio() else { throw TestFailure("audio was refused") }
    return app
  }

  func endAudio() {
    send(.control(.endService, service: .audio, version: version, sessionID: sessionID))
  }

  /// A message of the audio service.
  func audio(_ bytes: [UInt8]) {
    send(bytes, .audio)
  }

  /// Messages of the audio service, all at once: a pause in between, as on a busy machine, would be a gap.
  func audio(messages: [[UInt8]]) {
    send(messages.flatMap { frames(of: $0, .audio) })
  }

  /// A message of the video service.
  func video(_ bytes: [UInt8], maximumPayload: Int = 100_000) {
    send(bytes, .video, maximumPayload: maximumPayload)
  }

  /// Messages of the video service, all at once: a pause in the midst of an access unit, as on a busy machine, would
  /// end it.
  func video(messages: [[UInt8]]) {
    send(messages.flatMap { frames(of: $0, .video) })
  }

  func wait(for level: HMILevel) throws {
    try waitForMessage("\(level)") { message in
      guard let rpc = try? RPCMessage(payload: message.payload), rpc.function == .onHMIStatus else { return false }
      return HMIStatus(json: rpc.parameters).level == level
    }
  }

  /// Closes the connection without EndService or UnregisterAppInterface.
  func close() {
    _ = shutdown(socket.descriptor, Int32(SHUT_RDWR))
  }

  /// The next OnTouchEvent.
  func waitForTouch() throws -> OnTouchEvent {
    var touch: OnTouchEvent?
    try waitForMessage("touch") { message in
      guard let rpc = try? RPCMessage(payload: message.payload), rpc.function == .onTouchEvent else { return false }
      touch = OnTouchEvent(json: rpc.parameters)
      return true
    }
    guard let touch else { throw TestFailure("no touch") }
    return touch
  }

  /// The next update of the video capability.
  func waitForVideoUpdate() throws -> VideoStreamingCapability {
    var update: VideoStreamingCapability?
    try waitForMessage("update") { message in
      guard let rpc = try? RPCMessage(payload: message.payload), rpc.function == .onSystemCapabilityUpdated else {
        return false
      }
      update = SystemCapability(json: rpc.parameters).videoStreaming
      return update != nil
    }
    guard let update else { throw TestFailure("no update") }
    return update
  }

  /// The next OnButtonEvent or OnButtonPress.
  func waitForButton() throws -> ButtonNotification {
    var notification: ButtonNotification?
    try waitForMessage("button") { message in
      notification = (try? RPCMessage(payload: message.payload)).flatMap { rpc in
        ButtonNotification(rpc.function, json: rpc.parameters)
      }
      return notification != nil
    }
    guard let notification else { throw TestFailure("no button") }
    return notification
  }

  @discardableResult
  func waitForFrame(
    _ what: String, timeout: Duration = testTimeout, _ match: (Frame) -> Bool
  ) throws -> Frame {
    let deadline = MonotonicClock.now + timeout
    while true {
      while case .frame(let frame)? = decoder.next() {
        if match(frame) { return frame }
      }
      guard MonotonicClock.now < deadline, let bytes = receive() else { throw TestFailure("no \(what) for the app") }
      decoder.append(bytes)
    }
  }

  private func waitForMessage(_ what: String, _ match: (Message) -> Bool) throws {
    try waitForFrame(what) { frame in
      guard frame.header.frameType != .control else { return false }
      return (try? assembler.accept(frame, now: .zero)).flatMap(\.self).map(match) ?? false
    }
  }

  /// Whether the head unit closes the connection in time.
  func isClosed() -> Bool {
    let deadline = MonotonicClock.now + testTimeout
    while MonotonicClock.now < deadline { if receive() == nil { return true } }
    return false
  }

  /// The next bytes, none if there are none for a while; nil at the end.
  private func receive() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var poll = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, 100) > 0 else { return [] }
    switch buffer.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
    case .bytes(let count): return Array(buffer[..<count])
    case .wouldBlock: return []
    case .endOfStream, .failed: return nil
    }
  }

  func send(_ frame: Frame) {
    send(frame.bytes)
  }

  private func send(_ message: [UInt8], _ service: ServiceType, maximumPayload: Int = 100_000) {
    send(frames(of: message, service, maximumPayload: maximumPayload))
  }

  private func frames(of message: [UInt8], _ service: ServiceType, maximumPayload: Int = 100_000) -> [UInt8] {
    let fragmentation = Fragmentation(
      service: service, version: version, sessionID: sessionID, messageID: nextMessageID, payloadSize: message.count,
      maximumPayload: maximumPayload)
    nextMessageID += 1
    return fragmentation.frames(of: message)
  }

  /// False when the head unit does not take it any more.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    let deadline = MonotonicClock.now + testTimeout
    while !rest.isEmpty, MonotonicClock.now < deadline {
      switch rest.withUnsafeBytes({ socket.send($0) }) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wouldBlock: poll(nil, 0, 1)
      case .endOfStream, .failed: return false
      }
    }
    return rest.isEmpty
  }
}

extension VideoServiceParameters {
  static let raw320x240 = VideoServiceParameters(width: 320, height: 240, videoProtocol: "RAW", videoCodec: "H264")
  static let rtp320x240 = VideoServiceParameters(width: 320, height: 240, videoProtocol: "RTP", videoCodec: "H264")
}
