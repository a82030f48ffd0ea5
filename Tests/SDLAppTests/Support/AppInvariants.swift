import SDLApp
import Testing

/// What must hold at every moment, whatever the head unit and the app do. Keeps its own, simpler state.
struct AppInvariants {
  private var isRegistered = false
  private var statusAllows = false
  private var request: VideoStartRequest?
  private var isInForeground = true
  /// Neither side has a video service.
  private var isServiceEnded = true
  private var isStartAcknowledged = false
  /// The transport of the last StartService.
  private var role = TransportRole.primary
  /// The secondary transport is being opened, or there.
  private var isSecondaryOpen = false
  private var isSecondaryConnected = false
  private var isSecondaryRegistered = false
  /// The app has registered as a media app.
  var isMedia = false
  private var audio = AudioInvariants()
  private var unacknowledgedEnds: [ServiceType] = []
  private var isClosed = false
  private var failureCount = 0
  private var fingersDown: Set<Int> = []
  private var keysDown: Set<ButtonName> = []
  /// SubscribeButton and UnsubscribeButton that are not answered.
  private var buttonRequests: Set<Int32> = []
  /// Correlation id of the SendHapticData that is not answered.
  private var hapticRequest: Int32?
  /// From the acknowledgement that began the session; nil before.
  private var header: (version: UInt8, sessionID: UInt8)?

  mutating func requested(_ request: VideoStartRequest?) {
    self.request = request
  }

  mutating func requested(_ request: AudioStartRequest?) {
    audio.isRequested = request != nil
  }

  mutating func entered(_ appState: AppState) {
    isInForeground = appState == .foreground || appState == .regaining
  }

  mutating func finishing() {
    isRegistered = false
  }

  /// The head unit sent something in this session, without encryption.
  mutating func received(_ item: WireReader.Item, on role: TransportRole = .primary) {
    guard !isClosed, role == .primary || isSecondaryConnected else { return }
    let frame = item.frame
    switch item {
    case .data: break
    case .rpc(let message, _): if header != nil { received(message) }
    case .control:
      switch (frame.header.controlFrame, frame.header.service) {
      case (.startServiceACK, .rpc) where header == nil: header = (frame.header.version, frame.header.sessionID)
      case (.registerSecondaryTransportACK, _) where role == .secondary: isSecondaryRegistered = true
      case (_, .rpc) where role == .secondary: break
      case (_, .video) where role != self.role && frame.header.controlFrame != .endService: break
      case (_, .audio) where role != audio.role && frame.header.controlFrame != .endService: break
      case (.startServiceACK, .video): isStartAcknowledged = true
      case (.startServiceNAK, .video):
        // Once acknowledged, only an EndService ends it: the NAK answers something older.
        if !isStartAcknowledged { isServiceEnded = true }
      case (.startServiceACK, .audio): audio.isStartAcknowledged = true
      case (.startServiceNAK, .audio): if !audio.isStartAcknowledged { audio.isServiceEnded = true }
      case (.endService, let service) where header != nil:
        unacknowledgedEnds.append(service)
        if service == .video { isServiceEnded = true }
        if service == .audio { audio.isServiceEnded = true }
        if service == .rpc { isRegistered = false }
      default: break
      }
    }
  }

  private mutating func received(_ message: RPCMessage) {
    if message.type == .response {
      if message.correlationID == hapticRequest { hapticRequest = nil }
      buttonRequests.remove(message.correlationID)
    }
    switch (message.type, message.function) {
    case (.response, .registerAppInterface):
      if RPCResult(json: message.parameters).success { isRegistered = true }
    case (.notification, .onHMIStatus):
      let json = message.parameters
      guard json["windowID"]?.integer ?? 0 == 0, let level = json["hmiLevel"]?.string,
        ["FULL", "LIMITED", "BACKGROUND", "NONE"].contains(level)
      else { return }
      audio.isAllowed = ["FULL", "LIMITED"].contains(level) || (isMedia && level == "BACKGROUND")
      audio.isAudible = ["AUDIBLE", "ATTENUATED"].contains(json["audioStreamingState"]?.string ?? "")
      statusAllows =
        ["FULL", "LIMITED"].contains(level) && json["videoStreamingState"]?.string != "NOT_STREAMABLE"
    default: break
    }
  }

  /// The session sent a frame.
  mutating func sent(_ item: WireReader.Item, on role: TransportRole = .primary) {
    #expect(!isClosed, "a frame after the end: \(item.text)")
    let frame = item.frame
    if let header {
      #expect(frame.header.version <= header.version)
      #expect(frame.header.sessionID == header.sessionID)
    } else {
      #expect(frame.header.version == 1 && frame.header.sessionID == 0)
    }
    #expect(!frame.header.isEncrypted || [.video, .audio, .rpc].contains(frame.header.service))
    if frame.header.frameType != .control { #expect(frame.header.messageID != 0) }
    if case .rpc(let message, _) = item, message.function == .sendHapticData {
      #expect(hapticRequest == nil, "a second SendHapticData before the answer to the first")
      hapticRequest = message.correlationID
    }
    if case .rpc(let message, _) = item, [.subscribeButton, .unsubscribeButton].contains(message.function) {
      #expect(buttonRequests.isEmpty, "a second request about a button before the answer to the first")
      buttonRequests.insert(message.correlationID)
    }
    guard case .control = item else { return }
    switch (frame.header.controlFrame, frame.header.service) {
    case (.startService, .video):
      #expect(isServiceEnded, "a second StartService without an end between them")
      #expect(isInForeground, "StartService for an app that is not in the foreground")
      #expect(isRegistered && statusAllows && request != nil, "StartService without a request or a permission")
      #expect(role == .primary || isSecondaryRegistered, "StartService on a transport that is not registered")
      isServiceEnded = false
      isStartAcknowledged = false
      self.role = role
    case (.endService, .video): if role == self.role { isServiceEnded = true }
    case (.startService, .audio):
      #expect(role == .primary || isSecondaryRegistered, "StartService on a transport that is not registered")
      audio.startSent(isRegistered: isRegistered, on: role)
    case (.endService, .audio): if role == audio.role { audio.isServiceEnded = true }
    case (.registerSecondaryTransport, _):
      #expect(role == .secondary && isSecondaryOpen && !isSecondaryConnected)
      isSecondaryConnected = true
    case (.endServiceACK, let service):
      if let index = unacknowledgedEnds.firstIndex(of: service) {
        unacknowledgedEnds.remove(at: index)
      } else {
        Issue.record("an acknowledgement of nothing on \(service)")
      }
    default: break
    }
  }

  mutating func reported(_ event: AppSession.Event) {
    switch event {
    case .applicationRPC(let message) where message.type == .response: break
    default: #expect(!isClosed, "an event after the end: \(WireText.text(event))")
    }
    switch event {
    case .failed:
      failureCount += 1
      #expect(failureCount == 1)
    case .touch(let actions): for action in actions { touched(action) }
    case .keys(let actions): for action in actions { moved(action) }
    case .diagnostic("SendHapticData was not answered"): hapticRequest = nil
    case .diagnostic(let text) where text.contains("Button") && text.hasSuffix("was not answered"): buttonRequests = []
    case .touchInterrupted:
      #expect(!fingersDown.isEmpty)
      fingersDown = []
    case .videoStopped: #expect(fingersDown.isEmpty)
    default: break
    }
  }

  private mutating func touched(_ action: TouchAction) {
    switch action {
    case .down(let touch): #expect(fingersDown.insert(touch.id).inserted)
    case .motion(let touch): #expect(fingersDown.contains(touch.id))
    case .up(let touch): #expect(fingersDown.remove(touch.id) != nil)
    case .cancel: fingersDown = []
    case .frame: break
    }
  }

  private mutating func moved(_ key: KeyAction) {
    switch key {
    case .press(let button): keysDown.insert(button)
    case .release(let button): #expect(keysDown.remove(button) != nil)
    }
  }

  mutating func opened() {
    #expect(!isSecondaryOpen, "a second secondary transport")
    isSecondaryOpen = true
  }

  /// By either side: the services are gone.
  mutating func closedSecondary() {
    isSecondaryOpen = false
    isSecondaryConnected = false
    isSecondaryRegistered = false
    if role == .secondary { isServiceEnded = true }
    if audio.role == .secondary { audio.isServiceEnded = true }
  }

  mutating func closed() {
    #expect(!isSecondaryOpen, "the session has ended before its secondary transport")
    #expect(!isClosed, "closed twice")
    isClosed = true
  }

  /// Called after every input, when all actions were checked.
  func check(_ session: borrowing AppSession, now: Duration) {
    #expect(isClosed || unacknowledgedEnds.isEmpty, "EndService was not acknowledged at once")
    if session.status.video.grant != nil {
      #expect(isRegistered && statusAllows && request != nil)
      #expect(isStartAcknowledged && !isServiceEnded)
      #expect(!isClosed)
      #expect((session.status.video.state == .suspended) == !isInForeground)
      #expect(isInForeground || fingersDown.isEmpty)
    }
    audio.check(session, isRegistered: isRegistered && !isClosed)
    if isClosed { #expect(session.nextDeadline == nil && keysDown.isEmpty) }
  }
}
