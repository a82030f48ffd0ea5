import SDLWire

/// A log of one direction of a session: a line for each control frame and each RPC. Video and audio data have none.
package struct ConversationText: Sendable {
  /// The most Unicode scalars of JSON, or of a control frame's texts, in a line.
  private static let longestParameters = 2000

  private var assembler = MessageAssembler(maximumMessageSize: 1 << 20, maximumPartialMessages: 2)

  package init() {}

  /// The line for the next frame; nil for audio and video, and until a message is complete. `now` is the time of a
  /// clock that never goes back.
  package mutating func line(for frame: Frame, now: Duration) -> String? {
    if let control = frame.header.controlFrame { return Self.text(control, frame) }
    guard [.rpc, .hybrid].contains(frame.header.service) else { return nil }
    do {
      guard let message = try assembler.accept(frame, now: now) else { return nil }
      guard !frame.header.isEncrypted else { return "encrypted RPC, \(message.payload.count) bytes" }
      return Self.text(try RPCMessage(payload: message.payload))
    } catch {
      return "unreadable RPC (\(error))"
    }
  }

  private static func text(_ message: RPCMessage) -> String {
    let kind =
      switch message.type {
      case .request: " request \(message.correlationID)"
      case .response: " response \(message.correlationID)"
      case .notification: ""
      }
    let json = String(decoding: message.parameters.serialized, as: UTF8.self)
    return "\(message.function)\(kind) \(json.printable(limit: longestParameters))"
      + (message.bulk.isEmpty ? "" : " and \(message.bulk.count) bytes")
  }

  private static func text(_ control: ControlFrame, _ frame: Frame) -> String {
    let details = details(of: control, frame)
    return control.name
      + (frame.header.service == .control ? "" : " \(frame.header.service)")
      + (frame.header.isEncrypted ? " encrypted" : "")
      + (details.isEmpty ? "" : ": \(details.printable(limit: longestParameters))")
  }

  /// What the payload of a control frame says, for people; may be empty.
  package static func details(of control: ControlFrame, _ frame: Frame) -> String {
    let version = frame.header.version
    switch (control, frame.header.service) {
    case (.startService, .rpc):
      return RPCServiceRequest(payload: frame.payload).protocolVersion.map { "protocol \($0)" } ?? ""
    case (.startServiceACK, .rpc):
      let answer = RPCServiceAcknowledgement(payload: frame.payload, version: version)
      let vehicle = [answer.make, answer.model].compactMap(\.self).joined(separator: " ")
      return ["protocol \(answer.protocolVersion.map { "\($0)" } ?? "\(version)")", vehicle]
        .filter { !$0.isEmpty }.joined(separator: ", ")
    case (.startService, .video), (.startServiceACK, .video):
      let parameters = VideoServiceParameters(payload: frame.payload)
      let size = parameters.width.flatMap { width in parameters.height.map { "\(width)×\($0)" } }
      return [size, parameters.videoCodec, parameters.videoProtocol.map { "over \($0)" }]
        .compactMap(\.self).joined(separator: " ")
    case (.startServiceNAK, _), (.endServiceNAK, _):
      let rejection = ServiceRejection(payload: frame.payload)
      let parameters = rejection.rejectedParameters.joined(separator: ", ")
      return [parameters, rejection.reason ?? ""].filter { !$0.isEmpty }.joined(separator: "; ")
    case (.endService, .rpc):
      return EndServiceRequest(payload: frame.payload, version: version).hashID.map { "hash \($0)" } ?? ""
    default: return ""
    }
  }

  /// What the payload of a control frame says, for programs: the members of its BSON, or the hash that has its place
  /// before protocol 5; empty for any other payload.
  package static func parameters(of control: ControlFrame, _ frame: Frame) -> JSONObject {
    guard !frame.payload.isEmpty else { return [:] }
    if let document = try? BSONDocument(decoding: frame.payload) { return document.json }
    let version = frame.header.version
    let hash: Int32? =
      switch (control, frame.header.service) {
      case (.startServiceACK, .rpc): RPCServiceAcknowledgement(payload: frame.payload, version: version).hashID
      case (.endService, .rpc): EndServiceRequest(payload: frame.payload, version: version).hashID
      default: nil
      }
    return JSONObject(present: ["hashId": hash.map { .integer(Int($0)) }])
  }
}

extension BSONDocument {
  /// The same members as JSON; of equal keys the first counts, as for ``subscript(key:)``.
  fileprivate var json: JSONObject {
    JSONObject(elements.map { ($0.key, $0.value.json) }, uniquingKeysWith: { first, _ in first })
  }
}

extension BSONValue {
  fileprivate var json: JSONValue {
    switch self {
    case .double(let value): .number(value)
    case .string(let value): .string(value)
    case .document(let document): .object(document.json)
    case .array(let values): .array(values.map(\.json))
    case .bool(let value): .bool(value)
    case .int32(let value): .integer(Int(value))
    case .int64(let value): .integer(Int(value))
    }
  }
}
