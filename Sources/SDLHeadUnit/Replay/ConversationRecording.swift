import SDLMessages
import SDLWire

/// A conversation of an app and a head unit that either of them has recorded as JSON lines (`--log`,
/// `conversation-log`).
package struct ConversationRecording: Equatable, Sendable {
  /// A message, or the end of the connection.
  struct Entry: Equatable, Sendable {
    enum Content: Equatable, Sendable {
      case message(ConversationMessage)
      /// The head unit, or the road, has ended the connection.
      case cut
    }

    /// In the file, from 1 on.
    let line: Int
    /// Since the beginning of the recording.
    let time: Duration
    /// Nil where the recording does not say.
    let session: Int?
    let content: Content

    var message: ConversationMessage? { if case .message(let message) = content { message } else { nil } }
  }

  /// What can't be read, and where.
  package struct Malformed: Error, Equatable, CustomStringConvertible {
    /// "line 7: …".
    package var description: String
  }

  /// A drive of some hours.
  package static let maximumByteCount = 256 << 20

  private struct ResponseKey: Hashable, Sendable {
    let session: Int?
    let function: FunctionID
    let correlationID: Int32
  }

  /// In the order of the lines: those of the first app that was registered, without its video and sound.
  let entries: [Entry]
  /// Where the responses are, in this order.
  private var responses: [ResponseKey: [Int]] = [:]

  /// Reads a recording. Of several apps it takes the first.
  package init(parsing bytes: [UInt8]) throws(Malformed) {
    guard bytes.count <= Self.maximumByteCount else {
      throw Malformed(description: "it is longer than \(Self.maximumByteCount >> 20) MiB")
    }
    var entries: [Entry] = []
    var reader = Reader()
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where !line.isEmpty {
      let json: JSONObject
      do {
        json = try JSONObject(parsing: line)
      } catch {
        // Whoever wrote it lost its power.
        if index == lines.count - 1, index > 0 { break }
        throw Malformed(description: "line \(index + 1): this is no JSON object: \(error)")
      }
      if let entry = reader.entry(json, line: index + 1) { entries.append(entry) }
    }
    self.entries = entries.filter { $0.session == nil || reader.isOfTheApp($0.session) }
    guard self.entries.contains(where: { $0.message?.request?.function == .registerAppInterface }) else {
      throw Malformed(
        description: "it has no RegisterAppInterface: only a log of an app from its start can be replayed")
    }
    for (index, entry) in self.entries.enumerated() {
      guard case .rpc(let rpc)? = entry.message?.content, rpc.type == .response else { continue }
      let key = ResponseKey(session: entry.session, function: rpc.function, correlationID: rpc.correlationID)
      responses[key, default: []].append(index)
    }
  }

  /// What the lines before say of the ones that follow.
  private struct Reader {
    /// Whose log it is: a head unit's begins with its port.
    private var isOfHeadUnit = false
    /// The apps of the sessions, by their names.
    private var apps: [Int: String] = [:]
    private var firstApp: String?
    /// Those whose end was announced by either side.
    private var ended: Set<Int?> = []

    func isOfTheApp(_ session: Int?) -> Bool {
      guard let session, let firstApp else { return true }
      return apps[session].map { $0 == firstApp } ?? false
    }

    /// Nil for a line that is not replayed.
    mutating func entry(_ json: JSONObject, line: Int) -> Entry? {
      let session = json["session"]?.integer
      if let session, let app = json["app"]?.string {
        apps[session] = apps[session] ?? app
        firstApp = firstApp ?? app
      }
      guard let seconds = json["t"]?.number, (0...1e6).contains(seconds) else { return nil }
      func entry(_ content: Entry.Content) -> Entry {
        Entry(line: line, time: .seconds(seconds), session: session, content: content)
      }
      if let message = ConversationMessage(members: json) {
        if message.announcesEnd { ended.insert(session) }
        if message.request?.function == .registerAppInterface { ended.remove(session) }
        return entry(.message(message))
      }
      guard json["kind"]?.string == "state" else { return nil }
      switch json["type"]?.string {
      case "listening": isOfHeadUnit = true
      case "disconnected":
        // Without a cause the side that has logged it was the one that closed the connection.
        let isAppsOwn = isOfHeadUnit == (json["cause"] != nil)
        return isAppsOwn || ended.remove(session) != nil ? nil : entry(.cut)
      default: break
      }
      return nil
    }
  }
}

extension ConversationMessage {
  var request: RPCMessage? {
    if sender == .app, case .rpc(let rpc) = content, rpc.type == .request { rpc } else { nil }
  }

  var notification: RPCMessage? {
    if sender == .headUnit, case .rpc(let rpc) = content, rpc.type == .notification { rpc } else { nil }
  }

  var control: (frame: ControlFrame, service: ServiceType, parameters: JSONObject)? {
    if case .control(let frame, let service, let parameters, _) = content { (frame, service, parameters) } else { nil }
  }

  /// Whether the session ends with it.
  fileprivate var announcesEnd: Bool {
    switch content {
    case .rpc(let rpc): [.unregisterAppInterface, .onAppInterfaceUnregistered].contains(rpc.function)
    case .control(let frame, let service, _, _): frame == .endService && service == .rpc
    }
  }
}

// MARK: The head unit that was recorded

extension ConversationRecording {
  /// The parameters of a response to a request of the app; nil if there was none.
  func response(to request: RPCMessage, behind index: Int) -> (time: Duration, parameters: JSONObject)? {
    let key = ResponseKey(
      session: entries[index].session, function: request.function, correlationID: request.correlationID)
    guard let found = responses[key]?.first(where: { $0 > index }),
      case .rpc(let rpc)? = entries[found].message?.content
    else { return nil }
    return (entries[found].time, rpc.parameters)
  }

  /// The answer to the start of a service; nil if there was none.
  func answer(
    toStartOf service: ServiceType, behind index: Int
  ) -> (time: Duration, isAccepted: Bool, parameters: JSONObject)? {
    for entry in entries[index...].dropFirst() where entry.session == entries[index].session {
      guard let control = entry.message?.control, control.service == service else { continue }
      switch control.frame {
      case .startServiceACK: return (entry.time, true, control.parameters)
      case .startServiceNAK: return (entry.time, false, control.parameters)
      // The next attempt.
      case .startService: return nil
      default: break
      }
    }
    return nil
  }

  fileprivate func firstResponse(
    to function: FunctionID, where fits: (JSONObject) -> Bool = { _ in true }
  ) -> JSONObject? {
    for (index, entry) in entries.enumerated() {
      guard let request = entry.message?.request, request.function == function, fits(request.parameters) else {
        continue
      }
      if let response = response(to: request, behind: index) { return response.parameters }
    }
    return nil
  }
}

extension HeadUnitConfiguration {
  /// Takes over what the recorded head unit has told the app of itself, and what it let the app do. The driver is that
  /// of the recording as well.
  package mutating func adopt(_ recording: ConversationRecording) {
    activation = nil
    refusesUnknownSizes = false
    behaviour.dropsToNoneAfterRefusal = false
    for (index, entry) in recording.entries.enumerated() {
      guard let control = entry.message?.control, control.frame == .startService, control.service == .rpc,
        let answer = recording.answer(toStartOf: .rpc, behind: index), answer.isAccepted
      else { continue }
      adopt(acknowledgement: answer.parameters)
      break
    }
    if let response = recording.firstResponse(to: .registerAppInterface) {
      adopt(RegisterAppInterfaceResponse(json: response))
    }
    let isVideo: (JSONObject) -> Bool = { $0["systemCapabilityType"]?.string == "VIDEO_STREAMING" }
    if let response = recording.firstResponse(to: .getSystemCapability, where: isVideo) {
      let capability = response["systemCapability"]?.object?["videoStreamingCapability"]?.object
      videoCapability = capability.map(VideoStreamingCapability.init(json:))
    }
    for entry in recording.entries {
      guard let rpc = entry.message?.notification, rpc.function == .onPermissionsChange else { continue }
      policy = PolicyTable(granting: OnPermissionsChange(json: rpc.parameters), rpc.parameters)
      break
    }
  }

  private mutating func adopt(acknowledgement: JSONObject) {
    // Before protocol 5 the acknowledgement does not say it.
    maximumProtocolVersion =
      acknowledgement["protocolVersion"]?.string.flatMap(ProtocolVersion.init) ?? ProtocolVersion(4)
    adopt(&vehicle.make, acknowledgement["make"]?.string)
    adopt(&vehicle.model, acknowledgement["model"]?.string)
    adopt(&vehicle.modelYear, acknowledgement["modelYear"]?.string)
    adopt(&vehicle.trim, acknowledgement["trim"]?.string)
    adopt(&vehicle.systemSoftwareVersion, acknowledgement["systemSoftwareVersion"]?.string)
    adopt(&vehicle.systemHardwareVersion, acknowledgement["systemHardwareVersion"]?.string)
  }

  private mutating func adopt(_ response: RegisterAppInterfaceResponse) {
    if let version = response.rpcVersion { rpcVersion = version }
    if let language = response.language { self.language = language }
    if let resolution = response.screenResolution { screen = resolution }
    pcmFormat = response.pcmFormat
    adopt(&vehicle.make, response.make)
    adopt(&vehicle.model, response.model)
    adopt(&vehicle.modelYear, response.modelYear)
    adopt(&vehicle.trim, response.trim)
    adopt(&vehicle.systemSoftwareVersion, response.systemSoftwareVersion)
  }

  private func adopt(_ place: inout String, _ text: String?) {
    if let text { place = text }
  }
}

extension PolicyTable {
  /// The permissions that a head unit has told an app of.
  fileprivate init(granting permissions: OnPermissionsChange, _ json: JSONObject) {
    var parameters: [String: Set<String>] = [:]
    for item in json["permissionItem"]?.array ?? [] {
      let allowed = item.object?["parameterPermissions"]?.object?["allowed"]?.array ?? []
      guard let name = item.object?["rpcName"]?.string, !allowed.isEmpty else { continue }
      parameters[name] = Set(allowed.compactMap(\.string))
    }
    self.init(
      granting: permissions.allowedLevels.reduce(into: [:]) { granted, entry in
        granted[entry.key] = PolicyGroup.Permission(levels: entry.value, parameters: parameters[entry.key])
      })
  }
}
