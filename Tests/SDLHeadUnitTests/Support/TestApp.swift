import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// A hand-written phone app: composes frames, decodes the answers, and has a clock of its own.
struct TestApp {
  /// What the head unit sent.
  enum Answer: Equatable {
    case control(ControlFrame, ServiceType, payload: [UInt8])
    case rpc(RPCMessage)
  }

  private let holder: Holder
  var now = Duration.seconds(100)
  /// Version of the frames that the app sends.
  var version: UInt8 = 5
  var answers: [Answer] = []
  /// Headers of all frames, including those of the fragments of ``answers``.
  var headers: [FrameHeader] = []
  var events: [HeadUnitSession.Event] = []
  var isClosed = false
  /// What the head unit sent on the secondary transport: control frames, without payload.
  var secondaryControls: [String] = []
  var secondaryFrames: [Frame] = []
  var isSecondaryClosed = false
  /// Off in fuzz tests, which would spend most of their time on JSON.
  var readsRPCs = true
  private var decoder = FrameDecoder()
  private var assembler = MessageAssembler()
  private var nextMessageID: UInt32 = 1
  private var nextCorrelationID: Int32 = 1

  /// The session is not copyable, and expectations copy the app.
  private final class Holder {
    var session: HeadUnitSession

    init(_ session: consuming HeadUnitSession) {
      self.session = session
    }
  }

  var session: HeadUnitSession {
    _read { yield holder.session }
    _modify { yield &holder.session }
  }

  var appSummary: AppSummary? { session.summary }
  var savedApp: SavedApp? { session.savedApp }
  var isStarted: Bool { session.isStarted }

  /// - Parameter videoStartTime: the configuration's own is replaced, so that most tests need not wait.
  init(
    _ configuration: HeadUnitConfiguration = HeadUnitPreset.standard.configuration, videoStartTime: Duration? = nil
  ) {
    var configuration = configuration
    configuration.videoStartTime = videoStartTime
    holder = Holder(HeadUnitSession(configuration: configuration))
    run { $0.transportConnected(now: $1) }
  }

  /// Starts a session, registers, and is activated.
  static func streaming(
    _ configuration: HeadUnitConfiguration = HeadUnitPreset.standard.configuration, start: VideoServiceParameters? = nil
  ) -> TestApp {
    var app = TestApp.active(configuration)
    app.startVideo(start ?? .standard)
    app.forget()
    return app
  }

  static func active(_ configuration: HeadUnitConfiguration = HeadUnitPreset.standard.configuration) -> TestApp {
    var app = TestApp.registered(configuration)
    app.wait(.milliseconds(100))
    app.forget()
    return app
  }

  static func registered(
    _ configuration: HeadUnitConfiguration = HeadUnitPreset.standard.configuration
  ) -> TestApp {
    var app = TestApp(configuration)
    app.startSession()
    app.register()
    app.forget()
    return app
  }

  mutating func forget() {
    answers = []
    headers = []
    events = []
    secondaryControls = []
    secondaryFrames = []
  }

  /// Gives the session an input, and the time for what it has to do then.
  mutating func run(_ body: (inout HeadUnitSession, Duration) -> [HeadUnitSession.Action]) {
    handle(body(&session, now))
    var steps = 0
    while session.busyTransport != nil, steps < 10_000 {
      handle(session.continueWork(now: now))
      steps += 1
    }
    #expect(session.busyTransport == nil, "The work ends.")
  }

  mutating func handle(_ actions: [HeadUnitSession.Action]) {
    for action in actions {
      switch action {
      case .send(let bytes): read(bytes)
      case .report(let event): events.append(event)
      case .sendOnSecondary(let bytes): readOnSecondary(bytes)
      case .closeSecondary: isSecondaryClosed = true
      case .close: isClosed = true
      }
    }
  }

  private mutating func read(_ bytes: [UInt8]) {
    decoder.append(bytes)
    while let item = decoder.next() {
      guard case .frame(let frame) = item else {
        Issue.record("the head unit sent garbage: \(item)")
        continue
      }
      headers.append(frame.header)
      if let control = frame.header.controlFrame {
        answers.append(.control(control, frame.header.service, payload: frame.payload))
      } else if readsRPCs, let message = try? assembler.accept(frame, now: now),
        let rpc = try? RPCMessage(payload: message.payload)
      {
        answers.append(.rpc(rpc))
      }
    }
  }

  private mutating func readOnSecondary(_ bytes: [UInt8]) {
    var decoder = FrameDecoder()
    decoder.append(bytes)
    while let item = decoder.next() {
      guard case .frame(let frame) = item, let control = frame.header.controlFrame else {
        Issue.record("no control frame on the secondary transport: \(item)")
        continue
      }
      secondaryFrames.append(frame)
      secondaryControls.append("\(frame.header.service) \(control)")
    }
  }

  /// Advances the clock, stopping at every deadline.
  mutating func wait(_ time: Duration) {
    let end = now + time
    while let deadline = session.nextDeadline, deadline <= end {
      now = max(now, deadline)
      run { $0.advance(to: $1) }
    }
    now = end
    run { $0.advance(to: $1) }
  }

  mutating func send(_ frame: Frame, on transport: TransportRole = .primary) {
    run { $0.receive(.frame(frame), on: transport, now: $1) }
  }

  mutating func send(
    _ control: ControlFrame, _ service: ServiceType, on transport: TransportRole = .primary,
    payload: [UInt8] = [], version: UInt8? = nil, sessionID: UInt8 = 1, messageID: UInt32 = 0
  ) {
    send(
      .control(
        control, service: service, version: version ?? self.version, sessionID: sessionID, messageID: messageID,
        payload: payload), on: transport)
  }

  /// Sends whole bytes through a decoder, as a transport would.
  mutating func send(bytes: [UInt8], on transport: TransportRole = .primary) {
    var decoder = FrameDecoder(limits: session.configuration.frameLimits)
    decoder.append(bytes)
    while let item = decoder.next() { run { $0.receive(item, on: transport, now: $1) } }
  }

  mutating func send(
    data: [UInt8], _ service: ServiceType, on transport: TransportRole = .primary,
    maximumPayload: Int = 131_060
  ) {
    let message = Fragmentation(
      service: service, version: version, sessionID: 1, messageID: nextMessageID, payloadSize: data.count,
      maximumPayload: version < 3 ? 1488 : maximumPayload)
    nextMessageID += 1
    send(bytes: message.frames(of: data), on: transport)
  }

  mutating func video(_ data: [UInt8], on transport: TransportRole = .primary) {
    send(data: data, .video, on: transport)
  }

  /// Returns the correlation id.
  @discardableResult
  mutating func request(_ function: FunctionID, _ parameters: JSONObject = [:]) -> Int32 {
    defer { nextCorrelationID += 1 }
    send(RPCMessage(type: .request, function: function, correlationID: nextCorrelationID, parameters: parameters))
    return nextCorrelationID
  }

  mutating func notify(_ function: FunctionID, _ parameters: JSONObject) {
    send(RPCMessage(type: .notification, function: function, correlationID: 0, parameters: parameters))
  }

  mutating func send(_ rpc: RPCMessage) {
    send(data: rpc.payload, rpc.service)
  }

  mutating func startSession(_ protocolVersion: ProtocolVersion? = ProtocolVersion(5, 4, 1)) {
    send(
      .startService, .rpc, payload: RPCServiceRequest(protocolVersion: protocolVersion).bytes, version: 1,
      sessionID: 0)
  }

  @discardableResult
  mutating func register(_ change: (inout JSONObject) -> Void = { _ in }) -> Int32 {
    var parameters = RegisterAppInterface.test.json
    change(&parameters)
    return request(.registerAppInterface, parameters)
  }

  mutating func startVideo(
    _ parameters: VideoServiceParameters, on transport: TransportRole = .primary
  ) {
    send(.startService, .video, on: transport, payload: parameters.bytes(version: version))
  }

  mutating func set(_ level: HMILevel, _ state: VideoStreamingState) {
    let status = HMIStatus(level: level, audioStreamingState: .notAudible, videoStreamingState: state)
    run { $0.setHMIStatus(status, now: $1) }
  }
}

extension TestApp {
  /// The answers that are not RPCs, without payload.
  var controls: [String] {
    answers.compactMap { if case .control(let frame, let service, _) = $0 { "\(service) \(frame)" } else { nil } }
  }

  var rpcs: [RPCMessage] {
    answers.compactMap { if case .rpc(let message) = $0 { message } else { nil } }
  }

  /// The HMI levels that were sent.
  var levels: [HMILevel?] {
    rpcs.filter { $0.function == .onHMIStatus }.map { HMIStatus(json: $0.parameters).level }
  }

  var violations: [Violation] {
    events.compactMap { if case .violation(let violation) = $0 { violation } else { nil } }
  }

  /// The payload of the last control frame of this kind.
  func payload(_ control: ControlFrame, _ service: ServiceType) -> [UInt8]? {
    answers.reversed().lazy.compactMap {
      if case .control(control, service, let payload) = $0 { payload } else { nil }
    }.first
  }

  /// The result of the response to a request.
  func result(_ correlationID: Int32) -> RPCResult? {
    rpcs.last { $0.type == .response && $0.correlationID == correlationID }.map { RPCResult(json: $0.parameters) }
  }

  var rejection: ServiceRejection? {
    payload(.startServiceNAK, .video).map(ServiceRejection.init(payload:))
  }
}

extension VideoServiceParameters {
  static let standard = VideoServiceParameters(width: 800, height: 480, videoProtocol: "RAW", videoCodec: "H264")
}

extension RegisterAppInterface {
  static let test = RegisterAppInterface(
    rpcVersion: RPCVersion(8), appName: "Map", appID: "1234", language: "EN-US", isMediaApplication: false,
    appTypes: [.navigation])
}

/// Real output of x264 (baseline, `repeat-headers`), and slices that are long enough to look at.
enum Stream {
  static let startCode: [UInt8] = [0, 0, 0, 1]
  static let sps800x480: [UInt8] = [
    0x67, 0x42, 0xC0, 0x1F, 0xDA, 0x03, 0x20, 0xF6, 0xC0, 0x44, 0x00, 0x00, 0x03, 0x00, 0x04, 0x00, 0x00, 0x03, 0x00,
    0xF2, 0x3C, 0x60, 0xCA, 0x80,
  ]
  static let sps480x320: [UInt8] = [
    0x67, 0x42, 0xC0, 0x15, 0xDA, 0x07, 0x82, 0x9B, 0x01, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00, 0x00, 0x03, 0x03,
    0xC8, 0xF1, 0x62, 0xEA,
  ]
  static let pps: [UInt8] = [0x68, 0xCE, 0x0F, 0xC8]
  static let idr: [UInt8] = [0x65, 0x88, 0x84, 0x3A, 0x26, 0x28, 0x00, 0x09, 0x02, 0xC9, 0xC9]
  /// The second slice of a picture: it starts at macroblock 299.
  static let secondIDRSlice: [UInt8] = [0x65, 0x00, 0x96, 0x88, 0x84, 0x3A, 0x26]
  static let p: [UInt8] = [0x41, 0x9A, 0x20, 0x26, 0x80, 0x25, 0xB0]
  static let delimiter: [UInt8] = [0x09, 0xF0]

  static func units(_ units: [UInt8]...) -> [UInt8] {
    units.flatMap { startCode + $0 }
  }

  static let keyFrame = units(sps800x480, pps, idr, secondIDRSlice)
  static let picture = units(p)
}
